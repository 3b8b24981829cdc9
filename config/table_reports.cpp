#include "config/table_reports.hpp"

#include "analysis/pulse.hpp"
#include "analysis/pulse_table.hpp"
#include "analysis/trials.hpp"
#include "base/text.hpp"
#include "config/atomic_file.hpp"
#include "config/text.hpp"
#include "recording/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace specklescope {

namespace {

std::string table_row(const std::string& file, const TraceTable& table, std::size_t left) {
    return row("file",
               file + ": " + std::to_string(table.rows) + " rows of " +
                   count_of(table.regions.size(), "region") + ", column mean over " + table.clock +
                   (table.in_warmup > 0
                        ? "; " + std::to_string(table.in_warmup) + " made during a warm-up left out"
                        : "") +
                   (table.other_settings > 0 ? "; " + std::to_string(table.other_settings) +
                                                   " made with other settings or outlines left out"
                                             : "") +
                   (table.cut_off ? "; the incomplete last line left out" : ""),
               left);
}

using Json = nlohmann::ordered_json;

/// Preparation of the trace before the spectrum.
std::string trace_text(const Pulse& pulse) {
    std::string text = count_of(pulse.samples, "value");
    if (std::isfinite(pulse.rate_hz))
        text += printed(" over %.1f s at %.4g frames/s", pulse.seconds, pulse.rate_hz);
    if (pulse.undefined > 0)
        text += ", " + std::to_string(pulse.undefined) + " without a number left out";
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
    json["left_out"] = pulse.undefined;
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

namespace {

std::string number(double value) { return std::isnan(value) ? "" : printed("%.17g", value); }

constexpr std::string_view kMark = "# Means around events, of Specklescope ";
bool is_means(std::string_view text) { return text.starts_with(kMark); }

std::vector<TableEvent> events_of(const TraceTable& table, const TrialSettings& settings) {
    std::vector<TableEvent> events;
    std::vector<std::string> labels;
    for (const TableEvent& event : table.events) {
        if (event.label == settings.around)
            events.push_back(event);
        if (std::find(labels.begin(), labels.end(), one_line(event.label)) == labels.end())
            labels.push_back(one_line(event.label));
    }
    if (!events.empty())
        return events;
    throw UsageError(
        (settings.around.empty()
             ? std::string("trials needs the label of events, --around LABEL")
             : "No event of " + settings.file + " has the label '" + one_line(settings.around) + "'") +
        "; " +
        (labels.empty() ? "the table has no events. Mark some in the window (E) while recording traces."
                        : "allowed: " + join(labels) + "."));
}

/// True if the numeric values increase.
bool rise(const std::vector<double>& times) {
    double last = -std::numeric_limits<double>::infinity();
    return std::all_of(times.begin(), times.end(), [&](double time) {
        const bool back = time < last; // not of a NaN
        last = time > last ? time : last;
        return !back;
    });
}

void check_table(const TraceTable& table, const std::string& file) {
    for (const RegionTrace& trace : table.regions)
        if (!rise(trace.times))
            throw UsageError("In " + file + " " + table.clock + " of region '" + one_line(trace.region) +
                             "' goes back in time. Split the table there.");
}

/// Events on the clock of a trace.
struct EventTimes {
    std::vector<double> times;
    std::size_t unheld = 0;  ///< more of them, at frames that the table does not hold
    std::size_t untimed = 0; ///< and at frames that have no time there
};

/// Times on the clock of the trace: of the frame at which the event was marked, or, if the table lacks this
/// frame, the capture time.
EventTimes times_of(const std::vector<TableEvent>& events, const RegionTrace& trace,
                    const std::string& clock) {
    EventTimes found;
    for (const TableEvent& event : events) {
        const auto at = std::find(trace.sequences.begin(), trace.sequences.end(), event.sequence);
        const bool held = at != trace.sequences.end();
        const double time = held ? trace.times[static_cast<std::size_t>(at - trace.sequences.begin())]
                            : clock == "capture_s" ? event.capture_s
                                                   : std::numeric_limits<double>::quiet_NaN();
        if (std::isfinite(time))
            found.times.push_back(time);
        else
            ++(held ? found.untimed : found.unheld);
    }
    return found;
}

std::string left_out(const Trials& trials, const EventTimes& events) {
    std::string text;
    for (const auto& [count, why] : {std::pair{trials.cut_off.size(), " whose window exceeds the trace"},
                                     {trials.whole_missing.size(), " without a frame"},
                                     {events.unheld, " at frames that the table does not hold"},
                                     {events.untimed, " whose frame has no time"}})
        if (count > 0)
            text += "; " + count_of(count, "event") + why + " left out";
    return text;
}

std::string summary(const Trials& trials, const EventTimes& events) {
    const bool untold = events.times.empty() && events.unheld + events.untimed > 0;
    if (!trials.why.empty())
        return "none: " + (untold ? "no event has a time" : trials.why) + left_out(trials, events);
    const TrialPoint* most = nullptr;
    for (const TrialPoint& point : trials.points)
        if (point.offset_s >= 0 && std::isfinite(point.mean) &&
            (!most || std::abs(point.mean - trials.before) > std::abs(most->mean - trials.before)))
            most = &point;
    std::string text = count_of(trials.used, "trial") + (std::isfinite(trials.before)
                                                             ? printed(", F₀ %.4g", trials.before)
                                                             : std::string(", no F₀: no frame before it"));
    if (most && std::isfinite(trials.before))
        text += printed("; furthest from it at %.4g s: %.4g", most->offset_s, most->mean) +
                (std::isnan(most->error) ? "" : printed(" ± %.2g", most->error)) +
                printed(" (%+.2f %%)", 100 * (most->mean / trials.before - 1));
    return text + left_out(trials, events);
}

void add_rows(const std::string& region, const Trials& trials, std::string& text) {
    for (const TrialPoint& point : trials.points)
        text += csv_text(region) + "," + number(point.offset_s) + "," + number(point.mean) + "," +
                number(point.error) + "," + std::to_string(point.trials) + "," +
                number(100 * (point.mean / trials.before - 1)) + "\n";
}

} // namespace

int report_trials(const Settings& settings) {
    const TrialSettings& wanted = settings.trials;
    const auto& view = settings.view.as<ViewSettings>();
    if (!wanted.csv.empty())
        check_replaceable(wanted.csv, {.what = "means around events", .option = "--csv", .holds = is_means});
    const TraceTable table = read_trace_table(wanted.file);
    check_table(table, wanted.file);
    const std::vector<TableEvent> events = events_of(table, wanted);
    const RegionMean mean = table.mean.value_or(RegionMean::plain);
    const std::string taken =
        std::string(mean_text(mean)) + (table.mean ? "" : " (assumed: the table does not state it)");
    constexpr std::size_t kLeft = 12;
    std::string text =
        table_row(wanted.file, table, kLeft) +
        row("events",
            count_of(events.size(), "event") + " '" + one_line(wanted.around) + "', " +
                printed("%g s before to %g s after each", view.trials_before_s, view.trials_after_s),
            kLeft) +
        row("mean", taken, kLeft);
    std::string csv =
        std::string(kMark) + SPECKLESCOPE_VERSION "\n# file: " + one_line(wanted.file) +
        "\n# around: " + one_line(wanted.around) + ", " + count_of(events.size(), "event") +
        "\n# mean: " + taken + "\n# map: " + (table.map.empty() ? "unknown" : one_line(table.map)) +
        "\n# offset_s: from the event; sem: standard error over trials, empty of fewer than two; "
        "percent: 100·(mean/F₀ − 1), F₀ the mean before the event\n"
        "region,offset_s,mean,sem,trials,percent\n";
    for (const RegionTrace& trace : table.regions) {
        const EventTimes at = times_of(events, trace, table.clock);
        const Trials trials = average_trials(trace.times, trace.values, at.times,
                                             {view.trials_before_s, view.trials_after_s, 0}, mean);
        text += row(one_line(trace.region), summary(trials, at), kLeft);
        add_rows(trace.region, trials, csv);
    }
    if (!wanted.csv.empty()) {
        write_atomically(wanted.csv, csv);
        text += row("wrote", wanted.csv, kLeft);
    }
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return 0;
}

} // namespace specklescope
