#include "recording/report/content.hpp"

#include "analysis/region.hpp"
#include "base/one_line.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/record_file.hpp"
#include "recording/table.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace specklescope {

std::string report_number(double value) {
    if (std::isnan(value))
        return "";
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.7g", value);
    return text.data();
}

namespace {

/// F₀ by name: a region of the result is the history's of that name.
std::optional<double> baseline_of(const Report& report, const std::string& name) {
    if (!report.traces)
        return std::nullopt;
    const std::vector<TraceRegion>& regions = report.traces->overview.regions;
    for (std::size_t i = 0; i < regions.size(); ++i)
        if (regions[i].name == name)
            return report.traces->baseline[i];
    return std::nullopt;
}

std::string seconds(double s) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.3f s", s);
    return text.data();
}

std::string range_text(const Report& report) {
    const Mapping& m = report.mapping;
    std::string text = to_string(mapping_table().at("colormap").get(std::any(m)));
    ValueRange range{m.low, m.high};
    if (m.automatic)
        range = percentile_range(report.result.image.host(), m.low_percentile, m.high_percentile);
    text += ", " + report_number(range.low) + " to " + report_number(range.high);
    if (m.automatic)
        text += " (percentiles " + report_number(m.low_percentile) + " to " +
                report_number(m.high_percentile) + " of the picture)";
    return text + (m.exposure_stops != 0 ? ", " + report_number(m.exposure_stops) + " stops" : "");
}

} // namespace

RegionTable region_table(const Report& report) {
    RegionTable table;
    const RegionValues* values = report.result.regions.get();
    if (!values)
        return table;
    const double um = um_per_px(report.stream, report.result.chain.get());
    table.area = um > 0;
    for (std::size_t i = 0; i < values->statistics.size(); ++i) {
        const RegionStatistics& s = values->statistics[i];
        const PlacedRegion& region = values->placed->regions[i];
        const std::optional<double> f0 = baseline_of(report, region.name);
        table.baseline = table.baseline || f0;
        table.rows.push_back({one_line(region.name), region.shape, std::to_string(s.pixels),
                              um > 0 ? report_number(static_cast<double>(s.pixels) * um * um) : "",
                              std::to_string(s.valid), std::to_string(s.infinite),
                              std::to_string(s.undefined), s.saturated < 0 ? "" : std::to_string(s.saturated),
                              report_number(s.mean), report_number(s.std), report_number(s.mean_of_map),
                              report_number(s.min), report_number(s.max), f0 ? report_number(*f0) : "",
                              f0 ? report_number(relative_change(s.mean, *f0)) : ""});
    }
    return table;
}

ReportRows settings_rows(const Report& report) {
    const Result& result = report.result;
    ReportRows rows;
    const auto say = [&](const char* what, const std::string& value) {
        if (!value.empty())
            rows.emplace_back(what, one_line(value));
    };
    say("Subject", report.subject);
    say("Note", report.note);
    say("Source", report.stream.source_text);
    if (report.stream.source.name != report.stream.source_text)
        say("Name", report.stream.source.name);
    if (const std::optional<std::string>& started = report.stream.source.started)
        say("Recorded", started->empty() ? "unknown" : *started);
    say("Written", report.written);
    say("Program", "Specklescope " SPECKLESCOPE_VERSION);
    say("Ran on", report.stream.backend);
    say("Frames", report.frames);
    std::string frame = "number " + std::to_string(result.info.sequence);
    if (result.info.has_time())
        frame +=
            ", at " + seconds(static_cast<double>(result.info.capture_ns) * 1e-9) + " of the source's clock";
    else
        frame += "; nobody states a time";
    if (result.info.position)
        frame += ", position " + std::to_string(*result.info.position) + " in its file";
    say("Picture", frame);
    if (result.warming_up())
        say("Warm-up", result.warmup.done() ? "the frame was recorded in it: not complete"
                                            : to_string(result.warmup) + ": not complete");
    say("Map", result.quantity.name + " " + result.quantity.symbol +
                   (result.quantity.unit == "1" ? "" : " in " + result.quantity.unit) + ", " +
                   to_string(result.shape()));
    say("Chain", result.chain ? text_in_effect(*result.chain) : "");
    say("Exposure", to_string(result.exposure));
    if (const std::string channel = grey_channel_of(result); !channel.empty())
        say("Channel", channel);
    say("Scale", scale_text(report.stream, result.chain.get()));
    if (report.traces && report.traces->taken)
        say("Baseline", report.traces->taken->from_picture);
    if (report.traces)
        say("No baseline", report.traces->no_baseline);
    if (result.shape().channels == 1)
        say("Colours", range_text(report));
    return rows;
}

std::vector<std::array<std::string, 4>> event_rows(const Report& report) {
    std::vector<std::array<std::string, 4>> rows;
    for (const TimedEvent& event : report.events)
        if (!event.mark.removed)
            rows.push_back(
                {std::to_string(event.mark.number),
                 event.mark.timed ? seconds(static_cast<double>(event.mark.capture_ns) * 1e-9) : "",
                 std::to_string(event.mark.sequence), one_line(event.mark.label)});
    return rows;
}

std::string report_csv(const Report& report) {
    std::string text = "# Specklescope report\n";
    for (const auto& [what, value] : settings_rows(report))
        text += "# " + what + ": " + value + "\n";
    for (const auto& row : event_rows(report))
        text += "# Event " + row[0] + ": " + row[1] + ", frame " + row[2] + ", " + row[3] + "\n";
    const RegionTable table = region_table(report);
    const auto add = [&](const auto& cells) {
        for (const auto& cell : cells)
            text += (&cell == &cells.front() ? "" : ",") + csv_text(std::string(cell));
        text += '\n';
    };
    add(RegionTable::kColumns);
    for (const auto& row : table.rows)
        add(row);
    return text;
}

} // namespace specklescope
