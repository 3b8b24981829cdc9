#include "net/messages.hpp"

#include "pipeline/scale/pixel_size.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>

namespace specklescope {

namespace {

using Json = nlohmann::ordered_json;

/// A message begins with its kind, by which subscribers choose.
Json message(const char* content, std::uint64_t n) { return {{"content", content}, {"n", n}}; }

/// Names of files may be any bytes.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

} // namespace

std::string stream_message(std::uint64_t n, const StreamInfo& stream) {
    Json json = message("stream", n);
    json["program"] = "Specklescope " SPECKLESCOPE_VERSION;
    json["source"] = stream.source_text;
    json["source_name"] = stream.source.name;
    json["live"] = stream.source.live;
    json["rate"] = stream.source.rate > 0 ? Json(stream.source.rate) : Json();
    json["backend"] = stream.backend;
    return text_of(json);
}

std::string settings_message(std::uint64_t n, const Result& result, const StreamInfo& stream) {
    Json json = message("settings", n);
    json["version"] = result.info.version;
    json["parameters"] = result.chain ? to_string(*result.chain) : "";
    json["quantity"] = result.quantity.name;
    json["symbol"] = result.quantity.symbol;
    json["unit"] = result.quantity.unit;
    if (const double um = um_per_px(stream, result.chain.get()); um > 0)
        json["um_per_px"] = um;
    json["exposure"] = result.exposure.known() ? to_string(result.exposure) : "unknown";
    if (result.regions) {
        json["mean"] = mean_text(result.regions->mean);
        Json regions = Json::array();
        for (const PlacedRegion& region : result.regions->placed->regions)
            regions.push_back({{"name", region.name},
                               {"shape", region.shape},
                               {"pixels", region.pixels},
                               {"fit", to_string(region.fit)}});
        json["regions"] = std::move(regions);
    }
    return text_of(json);
}

void add_result(Json& json, const Result& result) {
    const FrameInfo& info = result.info;
    json["capture_ns"] = info.has_time() ? Json(info.capture_ns) : Json();
    json["arrival_ns"] =
        std::chrono::duration_cast<std::chrono::nanoseconds>(info.arrival.time_since_epoch()).count();
    json["sequence"] = info.sequence;
    if (info.position)
        json["position"] = *info.position;
    json["version"] = info.version;
    json["exposure_ms"] = result.exposure.ms;
    json["raw_saturated"] = result.counts.raw_saturated;
    json["raw_samples"] = result.counts.raw_samples;
    json["warming_up"] = result.warming_up();
    if (result.regions) {
        Json::object_t regions; // names differ: looking for each in a long list takes longer than all else
        regions.reserve(result.regions->statistics.size());
        for (std::size_t i = 0; i < result.regions->statistics.size(); ++i) {
            const RegionStatistics& region = result.regions->statistics[i];
            Json numbers = {{"mean", region.mean},     {"std", region.std},
                            {"min", region.min},       {"max", region.max},
                            {"valid", region.valid},   {"infinite", region.infinite},
                            {"pixels", region.pixels}, {"mean_of_map", region.mean_of_map}};
            if (region.saturated >= 0)
                numbers["saturated"] = region.saturated;
            if (result.regions->placed->medians)
                numbers["median"] = region.median;
            regions.push_back({result.regions->placed->regions[i].name, std::move(numbers)});
        }
        json["regions"] = std::move(regions);
    }
}

std::string frame_message(std::uint64_t n, const Result& result) {
    Json json = message("frame", n);
    if (result.info.has_time())
        json["timestamp"] = seconds(result.info.capture_ns); // PlotJuggler's name for the time
    add_result(json, result);
    return text_of(json);
}

void add_event(Json& json, const EventMark& event) {
    json["capture_ns"] = event.timed ? Json(event.capture_ns) : Json();
    json["sequence"] = event.sequence;
    json["number"] = event.number;
    if (event.removed)
        json["removed"] = true;
    else
        json["label"] = event.label;
}

std::string event_message(std::uint64_t n, const EventMark& event) {
    Json json = message("event", n);
    json["timestamp"] = seconds(event.capture_ns);
    add_event(json, event);
    return text_of(json);
}

} // namespace specklescope
