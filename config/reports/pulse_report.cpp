#include "config/reports/pulse_report.hpp"

#include "analysis/pulse.hpp"
#include "analysis/pulse_table.hpp"
#include "base/one_line.hpp"
#include "config/atomic_file.hpp"
#include "config/reports/table_row.hpp"
#include "config/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

using Json = nlohmann::ordered_json;

/// What was done to the trace before the spectrum.
std::string trace_text(const Pulse& pulse) {
    std::string text = count_of(pulse.samples, "value");
    if (std::isfinite(pulse.rate_hz))
        text += printed(" over %.1f s at %.4g frames/s", pulse.seconds, pulse.rate_hz);
    if (pulse.left_out > 0)
        text += ", " + std::to_string(pulse.left_out) + " without a number left out";
    if (pulse.bridged > 0)
        text += ", " + std::to_string(pulse.bridged) + " missing interpolated";
    if (pulse.runs > 1)
        text += ", in " + std::to_string(pulse.runs) + " parts between longer gaps";
    return text;
}

/// NaN becomes null.
Json to_json(const std::string& region, const Pulse& pulse) {
    Json json;
    json["region"] = region;
    json["samples"] = pulse.samples;
    json["left_out"] = pulse.left_out;
    json["interpolated"] = pulse.bridged;
    json["parts"] = pulse.runs;
    json["seconds"] = pulse.seconds;
    json["rate_hz"] = pulse.rate_hz;
    json["mean"] = pulse.mean;
    json["why_none"] = pulse.why.empty() ? Json() : Json(pulse.why);
    json["pulse_hz"] = pulse.pulse_hz;
    json["peak_over_beside"] = pulse.peak;
    json["harmonic"] = pulse.harmonic;
    json["band_hz"] = {pulse.low_hz, pulse.high_hz};
    json["beats"] = Json::array();
    for (const Beat& beat : pulse.beats)
        json["beats"].push_back(
            {{"begin_s", beat.begin_s}, {"seconds", beat.seconds}, {"pulsatility", beat.pulsatility}});
    json["pulsatility"] = pulse.pulsatility;
    json["pulsatility_std"] = pulse.pulsatility_std;
    json["beat_s"] = pulse.beat_s;
    json["beat_s_std"] = pulse.beat_s_std;
    json["segment_samples"] = pulse.spectrum.length;
    json["segments"] = pulse.spectrum.segments;
    json["step_hz"] = pulse.spectrum.step_hz;
    json["density"] = pulse.spectrum.density;
    return json;
}

/// Begins as what report_pulse() writes: its densities may be long.
bool is_pulse(std::string_view text) {
    return text.starts_with("{\n \"program\": \"Specklescope ") &&
           text.substr(0, 256).find("\n \"content\": \"pulse\",\n") != std::string_view::npos;
}

} // namespace

int report_pulse(const PulseSettings& settings) {
    if (!settings.json.empty())
        check_replaceable(settings.json, {.what = "pulse", .option = "--json", .holds = is_pulse});
    const TraceTable table = read_trace_table(settings.file);
    std::size_t left = 8;
    for (const RegionTrace& trace : table.regions)
        left = std::max(left, std::min<std::size_t>(24, columns(one_line(trace.region))));
    left += 2;
    std::string text =
        table_row(settings.file, table, left) +
        row("spectrum",
            printed("Welch: segments of %.3g s or of the longest part, half overlapping, Hann, without their "
                    "means",
                    kSegment_s),
            left);
    Json json;
    json["program"] = "Specklescope " SPECKLESCOPE_VERSION;
    json["content"] = "pulse";
    json["file"] = settings.file;
    json["clock"] = table.clock;
    json["left_out_in_warmup"] = table.in_warmup;
    json["left_out_other_settings"] = table.other_settings;
    json["window"] = "hann";
    json["overlap"] = 0.5;
    json["detrend"] = "constant";
    json["regions"] = Json::array();
    for (const RegionTrace& trace : table.regions) {
        const Pulse pulse = find_pulse(trace.times, trace.values);
        text += row(one_line(trace.region), to_string(pulse), left) + row("", trace_text(pulse), left);
        if (!settings.json.empty())
            json["regions"].push_back(to_json(trace.region, pulse));
    }
    if (table.regions.empty())
        text += row("note", "the table has no row", left);
    if (!settings.json.empty()) {
        write_atomically(settings.json, json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n");
        text += row("wrote", settings.json, left);
    }
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return 0;
}

} // namespace specklescope
