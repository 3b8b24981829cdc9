#include "config/reports/trials_report.hpp"

#include "analysis/pulse_table.hpp"
#include "analysis/trials.hpp"
#include "base/one_line.hpp"
#include "config/atomic_file.hpp"
#include "config/reports/table_row.hpp"
#include "config/text.hpp"
#include "recording/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace specklescope {

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
        (labels.empty() ? "the table holds no event: mark some in the window (E) while it is written."
                        : "allowed: " + join(labels) + "."));
}

/// Those that are numbers.
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
                             "' goes back, so that a time is in two places; cut the table where it does.");
}

/// Events on the clock of a trace.
struct EventTimes {
    std::vector<double> times;
    std::size_t unheld = 0;  ///< more of them, at frames that the table does not hold
    std::size_t untimed = 0; ///< and at frames that have no time there
};

/// By the frame that they were marked at, on the clock of the trace; where the table does not hold it, by
/// the capture's.
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
    for (const auto& [count, why] : {std::pair{trials.cut_off.size(), " whose window reaches over an end"},
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
                                                             : std::string(", no F₀: nothing lies in front"));
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
        std::string(mean_text(mean)) + (table.mean ? "" : " (taken for that: the table does not say it)");
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
        "percent: 100·(mean/F₀ − 1), F₀ the mean in front of the event\n"
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
