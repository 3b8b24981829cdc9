#include "recording/record_file.hpp"

#include "analysis/baseline_image.hpp"
#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/table.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <ctime>
#include <deque>
#include <filesystem>

namespace specklescope {

namespace fs = std::filesystem;

namespace {
std::string write_reason(int error) { return std::generic_category().message(error); }
} // namespace

void gather_rows(ConstHostView pixels, std::vector<iovec>& parts) {
    const auto add = [&](const std::byte* data, std::size_t bytes) {
        parts.push_back({const_cast<std::byte*>(data), bytes}); // NOLINT: iovec serves reading and writing
    };
    const Shape& shape = pixels.shape;
    if (pixels.pitch == shape.row_bytes())
        return add(pixels.data, shape.bytes());
    for (int y = 0; y < shape.height; ++y)
        add(pixels.row(y), shape.row_bytes());
}

void check_folder(const std::string& path) {
    const std::string folder = folder_of(path);
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw RunError("There is no folder " + folder + " to record " + fs::path(path).filename().string() +
                       " into. Create it first.");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw RunError("Cannot write into the folder " + folder + ": " + write_reason(errno) +
                       ". Choose a writable folder.");
}

void write_whole(const UnnamedFile& file, const std::string& path, std::string_view text,
                 const std::string& what) {
    int error = file.file().write_at(0, text.data(), text.size());
    if (File last = file.again(); error == 0 && !last.close()) // before another of the files has its name
        error = errno;
    if (error != 0)
        throw RunError(
            "The " + what + " " + path + " cannot be written: " + std::generic_category().message(error) +
            (error == ENOSPC || error == EDQUOT || error == EFBIG ? ". Free some space and write it again."
                                                                  : "."));
}

std::vector<std::string> write_together(const std::string& path, const std::vector<std::string>& endings,
                                        const std::vector<std::string>& contents, const std::string& what) {
    check_folder(path);
    std::vector<std::string> names(endings.size());
    const auto taken = [](const std::string& name) {
        std::error_code ignored;
        return fs::exists(fs::symlink_status(name, ignored));
    };
    for (int number = 0; number == 0 || std::any_of(names.begin(), names.end(), taken); ++number) {
        if (number == kMaxNumber)
            throw RunError("All names from " + path + " on are taken. Choose another name.");
        for (std::size_t i = 0; i < names.size(); ++i)
            names[i] = fs::path(numbered(path, number)).replace_extension(endings[i]).string();
    }
    std::deque<UnnamedFile> files;
    for (std::size_t i = 0; i < names.size(); ++i) {
        check_made(files.emplace_back(names[i]), names[i]);
        write_whole(files.back(), names[i], contents[i], what);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = files[i].publish();
    return names;
}

std::string advice_for_full(int error) {
    const std::string kept = "; the written part stays readable; ";
    if (error == EFBIG) // a limit of the file system (FAT: 4 GiB) or of the process
        return kept + "record in parts (--split-mib) or onto another disk";
    return error == ENOSPC || error == EDQUOT ? kept + "free some space and record again" : "";
}

std::string removed_text(const std::string& path) {
    return "Recording into " + path +
           " stopped: the file, or its folder, was removed. Record into another folder.";
}

std::string write_error(const std::string& path, int error) {
    std::string text = "Recording into " + path + " stopped: " + write_reason(error);
    text += advice_for_full(error);
    return text + ".";
}

std::string totals_text(const FileTotals& totals) {
    char text[kTotalsChars + 1];
    std::snprintf(text, sizeof text,
                  "\"finished\": %s, \"written\": %llu, \"dropped\": %llu, \"lost_before_recorder\": %llu, "
                  "\"made_in_warmup\": %llu",
                  totals.finished ? "true" : "false", static_cast<unsigned long long>(totals.written),
                  static_cast<unsigned long long>(totals.dropped),
                  static_cast<unsigned long long>(totals.lost_before),
                  static_cast<unsigned long long>(totals.in_warmup));
    std::string padded(text);
    if (totals.clock)
        padded += ", \"clock\": " + to_json(*totals.clock);
    padded.resize(kTotalsChars, ' ');
    return padded;
}

const char* to_string(RecordWhat what) {
    switch (what) {
    case RecordWhat::raw:
        return "raw";
    case RecordWhat::mask:
        return "mask";
    case RecordWhat::screen:
        return "screen";
    case RecordWhat::processed:
        break;
    }
    return "processed";
}

MadeWith made_with(const RecordedFrame& result) {
    return {result.chain, result.channel, result.exposure, result.info.full_scale};
}

RecordedFrame recorded_frame(const Result& result, RecordWhat what) {
    RecordedFrame frame;
    frame.info = result.info;
    frame.counts = result.counts;
    if (what == RecordWhat::raw || what == RecordWhat::mask) {
        frame.pixels = result.raw;
        if (result.chain && what == RecordWhat::raw)
            frame.quantity = result.chain->input();
        frame.exposure = {result.info.exposure_ms, result.info.exposure_origin};
        frame.in_warmup = result.info.recorded_in_warmup;
        if (what == RecordWhat::raw) {
            frame.beside = result.chain;
            frame.channel = grey_channel_of(result);
            if (result.regions)
                frame.regions = result.regions->placed->outlines;
        }
        return frame;
    }
    frame.info.exposure_ms *= frame.info.summed;
    frame.pixels = result.image;
    frame.chain = result.chain;
    frame.quantity = result.quantity;
    frame.exposure = result.exposure;
    frame.warmup = result.warmup;
    frame.in_warmup = result.warming_up();
    frame.channel = grey_channel_of(result);
    if (result.regions)
        frame.regions = result.regions->placed->outlines;
    frame.values = result.regions;
    return frame;
}

namespace {

using Date = std::chrono::sys_time<std::chrono::milliseconds>;

/// "2026-11-22T23:04:05Z"; with milliseconds if there are any.
std::string utc_text(Date when) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(when);
    const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[48], part[8] = "";
    if (when != whole)
        std::snprintf(part, sizeof part, ".%03d", static_cast<int>((when - whole).count()));
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return text + std::string(part) + "Z";
}

/// A date in ISO 8601 with its time zone.
std::optional<Date> parse_date(const std::string& text) {
    std::tm local{}, zone{};
    const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &local);
    double part = 0;
    if (rest && *rest == '.')
        rest = std::from_chars(rest, text.c_str() + text.size(), part).ptr;
    rest = rest ? ::strptime(rest, "%z", &zone) : nullptr;
    if (!rest || *rest != '\0')
        return std::nullopt;
    return std::chrono::floor<std::chrono::seconds>(
               std::chrono::system_clock::from_time_t(::timegm(&local) - zone.tm_gmtoff)) +
           std::chrono::milliseconds(std::lround(part * 1000));
}

} // namespace

std::string utc_now() {
    return utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
}

std::string date_of(const FrameInfo& frame, const StreamInfo& stream) {
    using namespace std::chrono;
    if (const std::optional<std::string>& started = stream.source.started) {
        const std::optional<Date> first = parse_date(*started);
        const bool known = frame.position == 0U || (frame.film_ns && frame.has_time());
        const nanoseconds since(frame.position == 0U ? 0 : frame.film_ns.value_or(0));
        return first && known ? utc_text(*first + round<milliseconds>(since)) : "";
    }
    const bool computed = frame.arrival == SteadyClock::time_point{};
    const auto age = computed ? SteadyClock::duration{} : SteadyClock::now() - frame.arrival;
    return utc_text(floor<seconds>(system_clock::now() - duration_cast<system_clock::duration>(age)));
}

void describe_dates(nlohmann::ordered_json& json, const FrameInfo& first, const StreamInfo& stream) {
    const std::string date = date_of(first, stream);
    json["started"] = date.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(date);
    const auto now = SteadyClock::now();
    if (stream.source.started) {
        json["processed"] = utc_now();
        json["processed_arrival_ns"] = ns_of(now);
    } else {
        json["started_arrival_ns"] = ns_of(first.arrival == SteadyClock::time_point{} ? now : first.arrival);
    }
}

std::string to_ascii(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {

/// The regions in the format of a region file. Readers load a description completely each time, so a large
/// number of regions is omitted and counted.
void describe_regions(nlohmann::ordered_json& json, const RegionOutlines& outlines) {
    const std::vector<Region> regions = regions_of(outlines);
    std::size_t points = 0;
    for (const Region& region : regions)
        points += region.points.size();
    nlohmann::ordered_json list;
    std::size_t bytes = 0;
    if (points <= kMaxDescribedPoints) {
        list = nlohmann::ordered_json::parse(to_json(regions))["regions"];
        bytes = to_ascii(list).size();
    }
    if (points <= kMaxDescribedPoints && bytes <= kMaxDescribedRegions) {
        json["regions"] = std::move(list);
        return;
    }
    json["regions_left_out"] = regions.size();
    run_log().info("Recordings cannot store the regions ({} points). Keep the regions file.", points);
}

} // namespace

std::string describe_file(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream,
                          const FileTotals& totals) {
    using Json = nlohmann::ordered_json;
    const Shape& shape = first.pixels.shape();
    Json json;
    json["program"] = "Specklescope " SPECKLESCOPE_VERSION;
    json["content"] = to_string(options.what);
    json["quantity"] = first.quantity.name;
    json["symbol"] = first.quantity.symbol;
    json["unit"] = first.quantity.unit;
    json["measure"] = to_string(first.quantity.measure);
    json["parameters"] = first.chain ? to_string(*first.chain) : "none";
    if (first.beside)
        json["chain"] = to_string(*first.beside);
    json["source"] = stream.source_text;
    json["source_name"] = stream.source.name;
    json["backend"] = stream.backend;
    json["width"] = shape.width;
    json["height"] = shape.height;
    json["channels"] = shape.channels;
    json["pixel_type"] = to_string(shape.type);
    json["full_scale"] = first.info.full_scale;
    if (first.info.assumed.any())
        json["assumed"] = to_string(first.info.assumed);
    const bool screen = options.what == RecordWhat::screen, window = screen && !first.look;
    if (window)
        json["content"] = "window";
    if (const double um = um_per_px(stream, first.chain.get()); um > 0)
        json["um_per_px"] = screen ? um / options.marks.zoom : um;
    json["um_per_px_origin"] = scale_origin(stream);
    if (options.change && options.baseline)
        json["baseline"] = options.baseline->text();
    if (first.quantity.measure == Measure::intensity && options.what != RecordWhat::mask && !screen) {
        json["transfer"] = "linear"; // any coding has been decoded
        json["light"] = to_string(first.info.light);
        if (!stream.source.coding.empty())
            json["coding_of_source"] = stream.source.coding;
    }
    json["exposure_ms"] = first.info.exposure_ms; // NaN (unknown) becomes null
    json["exposure_used_ms"] = first.exposure.ms; // exposure used for the values, and its origin
    json["exposure_origin"] = to_string(first.exposure.origin);
    if (!first.channel.empty())
        json["channel"] = first.channel;
    if (first.regions && first.regions->count() > 0)
        describe_regions(json, *first.regions);
    if (first.trigger)
        json["trigger_sequence"] = *first.trigger;
    json["time_origin"] = to_string(first.info.time_origin);
    json["rate"] = options.rate > 0 ? options.rate : stream.source.rate;
    if (options.limits.every > 1)
        json["one_frame_of"] = options.limits.every;
    if (options.limits.every_s > 0)
        json["one_frame_in_s"] = options.limits.every_s;
    if (!options.limits.subject.empty())
        json["subject"] = options.limits.subject;
    if (!options.limits.note.empty())
        json["note"] = options.limits.note;
    if (!stream.source.clock.empty())
        json["capture_clock"] = stream.source.clock;
    describe_dates(json, first.info, stream);
    if (options.what != RecordWhat::mask && !window) {
        const Mapping& mapping = first.look ? first.look->mapping : options.mapping;
        json["colormap"] = to_string(mapping_table().at("colormap").get(std::any(mapping)));
        if (mapping.automatic)
            json["range_percentiles"] = {mapping.low_percentile, mapping.high_percentile};
        else
            json["range"] = {mapping.low, mapping.high};
        json["exposure_stops"] = mapping.exposure_stops;
        Mapping shown = mapping;
        if (options.what == RecordWhat::processed && record_format(options.path).colors)
            shown.curve = curve_in_effect(mapping, shape.channels, is_picture(first.info, first.quantity));
        if (first.look)
            json["layout"] = screen_layout_names()[static_cast<std::size_t>(first.look->layout)];
        if (screen)
            json["screen_zoom"] = options.marks.zoom;
        json["curve"] = to_string(mapping_table().at("curve").get(std::any(shown)));
    }
    std::string text = "{";
    text += totals_text(totals);
    text += ", ";
    text += to_ascii(json).substr(1);
    return text;
}

namespace {

/// Builds the text of a JSON object: for every frame, so without a tree of values.
class JsonText {
public:
    void add(std::string_view key, std::integral auto value) {
        std::array<char, 24> digits{};
        const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        add_text(key, {digits.data(), end});
    }
    void add(std::string_view key, bool value) { add_text(key, value ? "true" : "false"); }
    void add(std::string_view key, const nlohmann::ordered_json& value) { add_text(key, to_ascii(value)); }
    void add_text(std::string_view key, std::string_view json) {
        ((text_ += text_.empty() ? "{\"" : ",\"") += key) += "\":";
        text_ += json;
    }
    std::string end() { return std::move(text_) + "}"; }

private:
    std::string text_;
};

/// Values of the members "parameters", "quantity" and "unit", which rarely change.
struct MadeBy {
    std::shared_ptr<const Chain> chain;
    Quantity quantity;
    std::string parameters, name, unit;

    void set(const RecordedFrame& frame) {
        if (chain == frame.chain && quantity == frame.quantity)
            return;
        chain = frame.chain;
        quantity = frame.quantity;
        parameters = to_ascii(to_string(*chain));
        name = to_ascii(quantity.name);
        unit = to_ascii(quantity.unit);
    }
};

} // namespace

std::string describe_frame(const RecordedFrame& frame) {
    using Json = nlohmann::ordered_json;
    JsonText json;
    json.add("sequence", frame.info.sequence);
    if (frame.info.has_time())
        json.add("capture_ns", frame.info.capture_ns);
    else
        json.add_text("capture_ns", "null");
    if (frame.info.position)
        json.add("position", *frame.info.position);
    json.add(
        "arrival_ns",
        std::chrono::duration_cast<std::chrono::nanoseconds>(frame.info.arrival.time_since_epoch()).count());
    json.add("exposure_ms", Json(frame.info.exposure_ms)); // as the source reports it; NaN becomes null
    json.add("exposure_used_ms", Json(frame.exposure.ms));
    json.add("exposure_origin", Json(to_string(frame.exposure.origin)));
    json.add("dropped_before", frame.dropped + frame.lost);
    if (frame.left_out_between)
        json.add("left_out", *frame.left_out_between);
    json.add("raw_saturated", frame.counts.raw_saturated);
    json.add("raw_samples", frame.counts.raw_samples);
    if (frame.chain || frame.in_warmup)
        json.add("complete", !frame.in_warmup);
    if (frame.chain) {
        thread_local MadeBy made_by;
        made_by.set(frame);
        if (!frame.warmup.done())
            json.add("warmup", Json{{"stage", frame.warmup.stage},
                                    {"frames", frame.warmup.frames},
                                    {"wanted", frame.warmup.wanted}});
        json.add("version", frame.info.version);
        json.add_text("parameters", made_by.parameters);
        json.add_text("quantity", made_by.name);
        json.add_text("unit", made_by.unit);
        json.add("undefined", frame.counts.undefined);
        json.add("infinite", frame.counts.infinite);
        json.add("saturated", frame.counts.saturated);
        json.add("windows", frame.counts.windows);
    }
    Json events;
    for (const EventMark& event : frame.events) {
        events.push_back({{"number", event.number},
                          {"sequence", event.sequence},
                          {"capture_ns", event.timed ? Json(event.capture_ns) : Json()},
                          {"label", event.label}});
        if (event.removed)
            events.back()["removed"] = true;
    }
    if (!events.empty())
        json.add("events", events);
    return json.end();
}

void color_picture(const RecordedFrame& frame, const Mapping& mapping, HostView rgb) {
    const ConstHostView image = frame.pixels.host();
    const ValueRange range = mapping.automatic
                                 ? percentile_range(image, mapping.low_percentile, mapping.high_percentile)
                                 : ValueRange{mapping.low, mapping.high};
    const ToneCurve curve =
        curve_in_effect(mapping, image.shape.channels, is_picture(frame.info, frame.quantity));
    map_colors(image, mapping.colormap, exposed(range, mapping.exposure_stops), curve, rgb);
}

} // namespace specklescope
