#include "recording/traces_text.hpp"

#include "analysis/baseline_image.hpp"
#include "analysis/pulse_table.hpp"
#include "base/text.hpp"
#include "recording/record_file.hpp"
#include "recording/table.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

/// As the window has it: F₀ is finite and not 0.
void add_change(std::string& text, double mean, const std::vector<double>& f0, std::size_t region) {
    const bool known = region < f0.size() && std::isfinite(f0[region]) && f0[region] != 0;
    text += ',';
    if (known)
        add_number(text, f0[region]);
    text += ',';
    if (known && !std::isnan(mean))
        add_number(text, relative_change(mean, f0[region]));
}

std::string outline_text(std::uint64_t outline) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(outline));
    return text.data();
}

std::string in_brackets(const Quantity& quantity) {
    return one_line(quantity.name) + " " + quantity.symbol + " (" + quantity.unit + ")";
}

} // namespace

std::string traces_begin(const StreamInfo& stream, bool baseline) {
    std::string text = kTracesMark;
    const auto say = [&](const char* what, const std::string& value) {
        text += std::string("# ") + what + ": " + one_line(value) + "\n";
    };
    say("program", "Specklescope " SPECKLESCOPE_VERSION);
    say("source", stream.source_text);
    say("backend", stream.backend);
    std::string now = utc_now() + " with arrival_s at ";
    add_seconds(now, ns_of(SteadyClock::now()));
    const std::optional<std::string>& started = stream.source.started;
    say("started", !started ? now : started->empty() ? "unknown" : *started);
    if (started)
        say("processed", now);
    say("sequence", "number of the frame; one that is missing was dropped");
    say("capture_s, arrival_s",
        "s, on the source's clock and on this machine's steady one; capture_s empty where nobody "
        "states a time: give the source's rate with --rate");
    say("mean, std, min, max, mean_of_map, median", "in the unit of the map; std with n - 1; all but mean "
                                                    "over the valid pixels alone; median empty where "
                                                    "it was not asked for");
    say("valid, infinite", "finite and infinite pixels; the others of pixels are undefined");
    say("saturated", "pixels with a sample of the raw frame at full scale; of the result where a stage has "
                     "moved pixels; empty where neither can be told");
    say("version", "counts the edits that made the result");
    say("pixels", "area of the region on the picture");
    say("outline", "another number when the region holds other pixels");
    say("area_um2", "that area in µm²; empty where nobody said how large a pixel is");
    say("position", "of the frame in its file, from 0; empty of no file");
    say("warming_up",
        "1: made while a stage filled its history or took a capture, now or when it was recorded");
    if (baseline)
        say("baseline, change_percent",
            "F0 of the region in the unit of the map, and 100·(mean/F0 − 1) %; empty "
            "where there is none");
    say("event",
        "number,sequence,capture_s,label: was marked at that frame; the last line of a number counts, "
        "and one without a label takes the event back");
    return text;
}

std::string event_line(const EventMark& event) {
    std::string text = "# event: ";
    add_whole(text, event.number);
    text += ',';
    add_whole(text, event.sequence);
    text += ',';
    if (event.timed)
        add_seconds(text, event.capture_ns);
    return text + "," + (event.removed ? "" : csv_text(one_line(event.label))) + "\n";
}

std::string traces_columns(bool baseline) {
    return std::string(
               "sequence,capture_s,arrival_s,region,mean,std,min,max,valid,infinite,saturated,version,"
               "mean_of_map,median,pixels,position,area_um2,warming_up") +
           (baseline ? ",baseline,change_percent\n" : "\n");
}

std::string traces_settings(const Result& result, const TraceExtras& extras) {
    std::string text;
    const auto say = [&](const char* what, const std::string& value) {
        text += setting_line(result.info.version, what, value);
    };
    if (result.chain)
        say("chain", to_string(*result.chain));
    if (const std::string channel = grey_channel_of(result); !channel.empty())
        say("channel", channel);
    if (result.info.full_scale > 0) {
        std::string full_scale;
        add_number(full_scale, result.info.full_scale);
        say("full scale", full_scale);
    }
    if (result.info.assumed.any())
        say("assumed", to_string(result.info.assumed));
    const PlacedRegions& placed = *result.regions->placed;
    say("map", in_brackets(result.quantity) + " of " + std::to_string(placed.width) + "×" +
                   std::to_string(placed.height) + " pixels");
    if (!extras.scale.empty())
        say("scale", extras.scale);
    if (extras.baseline)
        say("baseline", extras.baseline_text);
    say("mean", std::string(mean_text(result.regions->mean)));
    if (result.exposure.known())
        text += exposure_line(result.info.version, result.exposure);
    for (const PlacedRegion& region : placed.regions)
        say("region", region.name + ": " + region.shape + ", " + std::to_string(region.pixels) + " pixels" +
                          (region.fit == RegionFit::whole     ? ""
                           : region.fit == RegionFit::clipped ? ", clipped at the picture's edge"
                                                              : ", none of it on the picture") +
                          ", outline " + outline_text(outline_of(placed, region)));
    return text;
}

void add_rows(const Result& result, const TraceExtras& extras, std::string& text) {
    std::string times;
    add_whole(times, result.info.sequence);
    times += ',';
    add_capture(times, result.info);
    times += ',';
    add_seconds(times, ns_of(result.info.arrival));
    times += ',';
    const RegionValues& values = *result.regions;
    for (std::size_t i = 0; i < values.statistics.size(); ++i) {
        const RegionStatistics& region = values.statistics[i];
        text += times;
        text += csv_text(values.placed->regions[i].name);
        for (const double value : {region.mean, region.std, region.min, region.max}) {
            text += ',';
            add_number(text, value);
        }
        text += ',';
        add_whole(text, region.valid);
        text += ',';
        add_whole(text, region.infinite);
        text += ',';
        if (region.saturated >= 0)
            add_whole(text, region.saturated);
        text += ',';
        add_whole(text, result.info.version);
        text += ',';
        add_number(text, region.mean_of_map);
        text += ',';
        if (values.placed->medians)
            add_number(text, region.median);
        text += ',';
        add_whole(text, region.pixels);
        text += ',';
        if (result.info.position)
            add_whole(text, *result.info.position);
        text += ',';
        if (extras.um > 0)
            add_number(text, static_cast<double>(region.pixels) * extras.um * extras.um);
        text += result.warming_up() ? ",1" : ",0";
        if (extras.baseline)
            add_change(text, region.mean, extras.f0, i);
        text += '\n';
    }
}

} // namespace specklescope
