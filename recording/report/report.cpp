// Facts, methods and files of a report; page.cpp draws it.
#include "recording/report/report.hpp"

#include "analysis/region.hpp"
#include "base/error.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "files/whole_file.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/free_name.hpp"
#include "recording/record_file.hpp"
#include "recording/table.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <regex>

namespace specklescope {

// Facts: the same in PDF and CSV.

Mapping with_fixed_range(Mapping mapping, ConstHostView pixels) {
    if (mapping.automatic) {
        const ValueRange range = percentile_range(pixels, mapping.low_percentile, mapping.high_percentile);
        mapping.low = range.low;
        mapping.high = range.high;
        mapping.automatic = false;
    }
    return mapping;
}

namespace {

/// Seven significant digits; empty for NaN.
std::string digits(double value) {
    char text[40] = "";
    if (!std::isnan(value))
        std::snprintf(text, sizeof text, "%.7g", value);
    return text;
}

std::string seconds(std::int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) * 1e-9);
    return text;
}

std::string colours_text(const Report& report) {
    const Mapping& given = report.mapping;
    const Mapping seen = with_fixed_range(given, report.result.image.host());
    std::string text = to_string(mapping_table().at("colormap").get(std::any(given))) + ", " +
                       digits(seen.low) + " to " + digits(seen.high);
    if (given.automatic)
        text += " (percentiles " + digits(given.low_percentile) + " to " + digits(given.high_percentile) +
                " of the picture)";
    return text + (given.exposure_stops != 0 ? ", " + digits(given.exposure_stops) + " stops" : "");
}

std::string frame_text(const FrameInfo& info) {
    return "number " + std::to_string(info.sequence) +
           (info.has_time() ? ", at " + seconds(info.capture_ns) + " of the source's clock"
                            : "; the source states no time") +
           (info.position ? ", position " + std::to_string(*info.position) + " in its file" : "");
}

/// Baseline F₀ of the region of this name.
std::optional<double> baseline_of(const Report& report, const std::string& name) {
    if (report.traces)
        for (std::size_t i = 0; i < report.traces->overview.regions.size(); ++i)
            if (report.traces->overview.regions[i].name == name)
                return report.traces->baseline[i];
    return std::nullopt;
}

} // namespace

RegionTable region_table(const Report& report) {
    RegionTable table;
    const RegionValues* values = report.result.regions.get();
    const double um = um_per_px(report.stream, report.result.chain.get());
    table.area = um > 0;
    for (std::size_t i = 0; values && i < values->statistics.size(); ++i) {
        const RegionStatistics& s = values->statistics[i];
        const PlacedRegion& region = values->placed->regions[i];
        const std::optional<double> f0 = baseline_of(report, region.name);
        table.baseline = table.baseline || f0;
        table.rows.push_back({one_line(region.name), region.shape, std::to_string(s.pixels),
                              um > 0 ? digits(static_cast<double>(s.pixels) * um * um) : "",
                              std::to_string(s.valid), std::to_string(s.infinite),
                              std::to_string(s.undefined), s.saturated < 0 ? "" : std::to_string(s.saturated),
                              digits(s.mean), digits(s.std), digits(s.mean_of_map), digits(s.min),
                              digits(s.max), f0 ? digits(*f0) : "",
                              f0 ? digits(relative_change(s.mean, *f0)) : ""});
    }
    return table;
}

ReportRows settings_rows(const Report& report) {
    const Result& result = report.result;
    const StreamInfo& stream = report.stream;
    const std::optional<std::string>& started = stream.source.started;
    const Quantity& map = result.quantity;
    const ReportTraces* traces = report.traces ? &*report.traces : nullptr;
    ReportRows rows = {{"Subject", report.subject},
                       {"Note", report.note},
                       {"Source", stream.source_text},
                       {"Name", stream.source.name == stream.source_text ? "" : stream.source.name},
                       {"Recorded", !started           ? ""
                                    : started->empty() ? "unknown"
                                                       : *started},
                       {"Written", report.written},
                       {"Program", "Specklescope " SPECKLESCOPE_VERSION},
                       {"Ran on", stream.backend},
                       {"Frames", report.frames},
                       {"Picture", frame_text(result.info)},
                       {"Warm-up", !result.warming_up()   ? ""
                                   : result.warmup.done() ? "not complete: the frame was recorded during it"
                                                          : to_string(result.warmup) + ": not complete"},
                       {"Map", map.name + " " + map.symbol + (map.unit == "1" ? "" : " in " + map.unit) +
                                   ", " + to_string(result.shape())},
                       {"Chain", result.chain ? text_in_effect(*result.chain) : ""},
                       {"Exposure", to_string(result.exposure)},
                       {"Assumed", to_string(result.info.assumed)},
                       {"Channel", grey_channel_of(result)},
                       {"Scale", scale_text(stream, result.chain.get())},
                       {"Baseline", traces && traces->taken ? traces->taken->from_picture : ""},
                       {"No baseline", traces ? traces->no_baseline : ""},
                       {"Colours", result.shape().channels == 1 ? colours_text(report) : ""}};
    std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
    for (auto& [name, value] : rows)
        value = one_line(value);
    return rows;
}

std::vector<std::array<std::string, 4>> event_rows(const Report& report) {
    std::vector<std::array<std::string, 4>> rows;
    for (const TimedEvent& event : report.events)
        if (!event.mark.removed)
            rows.push_back({std::to_string(event.mark.number),
                            event.mark.timed ? seconds(event.mark.capture_ns) : "",
                            std::to_string(event.mark.sequence), one_line(event.mark.label)});
    return rows;
}

std::string report_csv(const Report& report) {
    std::string text = "# Specklescope report\n";
    for (const auto& [name, value] : settings_rows(report))
        text += "# " + name + ": " + value + "\n";
    for (const auto& row : event_rows(report))
        text += "# Event " + row[0] + ": " + row[1] + ", frame " + row[2] + ", " + row[3] + "\n";
    const auto add = [&](const auto& cells) {
        for (const auto& cell : cells)
            text += (&cell == &cells.front() ? "" : ",") + csv_text(std::string(cell));
        text += '\n';
    };
    add(RegionTable::kColumns);
    for (const auto& row : region_table(report).rows)
        add(row);
    return text;
}

// Methods: definitions and sources are quoted from docs/science.md.

namespace {

/// Without the marks of Markdown: "[Regions](#regions)" becomes "Regions".
std::string plain(std::string_view text) {
    static const std::regex marks(R"(\]\([^)]*\)|[`*\[\]])"), spaces("\\s+"), ends("^ | $");
    return std::regex_replace(
        std::regex_replace(std::regex_replace(std::string(text), marks, ""), spaces, " "), ends, "");
}

std::string_view section(std::string_view heading) {
    const std::string_view all = science_text();
    const std::string line = "\n## " + std::string(heading) + "\n\n";
    const std::size_t at = all.find(line);
    return at == std::string_view::npos || heading.empty()
               ? std::string_view()
               : all.substr(at + line.size(), all.find("\n## ", at + 1) - at - line.size());
}

/// Text from `begin` to the end of its sentence, after a space; empty if `begin` is missing.
std::string sentence(std::string_view in, std::string_view begin = "") {
    if (in.empty() || in.find(begin) == std::string_view::npos)
        return "";
    in = in.substr(in.find(begin));
    std::size_t end = in.find('.'); // a point within a number or a name does not end it
    while (end < in.size() - 1 && std::isspace(static_cast<unsigned char>(in[end + 1])) == 0)
        end = std::min(in.find('.', end + 1), in.size() - 1);
    return " " + plain(in.substr(0, std::min(end, in.find("\n\n")) + 1));
}

/// The row of the section's table with this word in its first cell; empty if there is none.
std::vector<std::string> row_of(std::string_view in, const std::string& word) {
    const std::regex wanted("\\b" + word + "\\b");
    for (std::size_t at = in.find("\n|"); at != std::string_view::npos; at = in.find("\n|", at + 1)) {
        std::vector<std::string> cells;
        std::string_view line = in.substr(at + 2, in.find('\n', at + 1) - at - 2);
        for (std::size_t bar; (bar = line.find('|')) != std::string_view::npos; line.remove_prefix(bar + 1))
            cells.push_back(plain(line.substr(0, bar)));
        if (cells.size() > 2 && std::regex_search(cells[0], wanted))
            return cells;
    }
    return {};
}

std::string stage_method(const ChainStage& stage) {
    const std::string name(stage.type->name);
    Chain alone;
    alone.add(stage);
    std::string text = name + ": " + std::string(stage.type->doc) + " (" + text_in_effect(alone) + ").";
    if (const auto cells = row_of(section("Contrast"), name); !cells.empty())
        text += sentence(section("Contrast")) + " N samples: " + cells[1] + " (" + cells[2] + ").";
    if (stage.params.table().find("output")) {
        const std::string output = to_string(stage.params.get("output"));
        if (const auto cells = row_of(section("Flow"), output); cells.size() == 4)
            text += " " + output + " = " + cells[1] + (cells[2] == "1" ? "" : ", in " + cells[2]) + " (" +
                    cells[3] + ").";
    }
    return text + sentence(section(stage.type->science));
}

} // namespace

std::vector<std::string> methods(const Report& report) {
    std::vector<std::string> lines;
    if (report.result.chain)
        for (const Chain computed = active(*report.result.chain); const ChainStage& stage : computed.stages())
            lines.push_back(stage_method(stage));
    const std::string_view regions = section("Regions"), traces = section("Traces and their baseline");
    if (report.result.regions) {
        const RegionMean mean = report.result.regions->mean;
        const auto cells = row_of(regions, mean == RegionMean::of_squares    ? "K"
                                           : mean == RegionMean::of_inverses ? "index"
                                                                             : "intensity");
        lines.push_back(
            "Regions:" + sentence(regions) +
            (cells.empty() ? "" : " For " + cells[0] + ": mean = " + cells[1] + ", over " + cells[2] + ".") +
            sentence(regions, "`std` is") + sentence(regions, "`valid` = n"));
    }
    if (report.traces && report.traces->taken)
        lines.push_back("Baseline:" + sentence(traces, "The baseline F₀") + sentence(traces, "ΔF/F₀ ="));
    return lines;
}

// Files.

namespace {

constexpr int kPlotColumns = 900; ///< of a plot: finer than a printer resolves

[[noreturn]] void not_written(const std::string& path, int error) {
    throw RunError(
        "The report " + path + " cannot be written: " + std::generic_category().message(error) +
        (error == ENOSPC || error == EDQUOT || error == EFBIG ? "; make room and write it again." : "."));
}

void write_whole(const UnnamedFile& file, const std::string& path, std::string_view text) {
    if (const int error = file.file().write_at(0, text.data(), text.size()); error != 0)
        not_written(path, error);
    if (File last = file.again(); !last.close()) // before another of the files has its name
        not_written(path, errno);
}

} // namespace

std::optional<ReportTraces> traces_for_report(TraceHistory& history, const Baseline& baseline,
                                              const MadeWith& with) {
    ReportTraces traces;
    traces.overview = history.overview();
    traces.overview.with = with;
    if (traces.overview.regions.empty() || traces.overview.last_ns <= traces.overview.first_ns)
        return std::nullopt;
    traces.from_ns = traces.overview.first_ns;
    traces.to_ns = traces.overview.last_ns;
    traces.curves = history.curves(traces.from_ns, traces.to_ns, kPlotColumns);
    traces.extremes = history.extremes(traces.from_ns, traces.to_ns);
    traces.curves.resize(traces.overview.regions.size()); // one may have come in between
    traces.extremes.resize(traces.curves.size());
    bool any = false;
    for (const TraceRegion& region : traces.overview.regions) {
        traces.baseline.push_back(baseline.of(region, traces.overview));
        any = any || traces.baseline.back();
    }
    if (any) {
        traces.taken = baseline.taken();
        traces.compared = history.extremes(traces.from_ns, traces.to_ns, traces.taken->with);
        traces.compared.resize(traces.curves.size());
    }
    traces.no_baseline = baseline.changed(traces.overview);
    return traces;
}

bool ReportTraces::comparable(const TraceColumn& column) const {
    return taken && overview.comparable(column, taken->with);
}

bool is_report(const std::string& path) { return lower_ending(path) == ".pdf"; }

void check_report(const std::string& path) {
    if (!is_report(path))
        throw UsageError("'" + path + "' is no name for a report; it must end in .pdf.");
    if (!can_draw_pdf())
        throw UsageError("This build writes no reports: it was made without Pango and Cairo; install "
                         "libpango1.0-dev and build it again.");
}

ReportFiles write_report(const std::string& path, const Report& report) {
    check_report(path);
    if (!report.result.image)
        throw RunError("There is no picture yet for the report " + path + "; wait for the first frame.");
    check_folder(path);
    const std::string pdf = draw_pdf(report);
    const std::string csv = report_csv(report);
    const std::vector<std::string> names = files_of_recording(free_recording_name(path, {}));
    ReportFiles files{names[0], names[1], names[2]};
    UnnamedFile pdf_file(files.pdf), csv_file(files.csv);
    check_made(pdf_file, files.pdf);
    check_made(csv_file, files.csv);
    write_whole(pdf_file, files.pdf, pdf);
    write_whole(csv_file, files.csv, csv);
    RecordOptions options;
    options.path = files.png;
    options.mapping = report.mapping;
    options.limits.subject = report.subject;
    options.limits.note = report.note;
    files.png =
        write_snapshot(report.result, options, report.stream); // the last that can fail for want of room
    files.csv = csv_file.publish();
    files.pdf = pdf_file.publish();
    return files;
}

// As a format of recordings: follows the run and is written when the recording ends.

namespace {

/// A result without its pixels.
Result bare_result(const RecordedFrame& frame) {
    Result result;
    result.info = frame.info;
    result.chain = frame.chain;
    result.quantity = frame.quantity;
    result.exposure = frame.exposure;
    result.counts = frame.counts;
    result.regions = frame.values;
    result.warmup = frame.warmup;
    result.to_grey = !frame.channel.empty();
    return result;
}

Report report_of(const RecordedFrame& frame, const RecordOptions& options, const StreamInfo& stream) {
    Report report{.result = bare_result(frame), .stream = stream, .subject = {}, .note = {}};
    report.result.image = frame.pixels;
    report.result.raw = frame.raw;
    report.mapping = options.mapping;
    report.subject = options.limits.subject;
    report.note = options.limits.note;
    return report;
}

Frame copied(const Frame& frame) {
    if (!frame)
        return {};
    FrameRing room(frame.shape(), 1, host_memory());
    Frame copy = room.try_acquire();
    copy.info() = frame.info();
    copy_pixels(frame.host(), copy.host());
    return copy;
}

void renew(Frame& own, const Frame& frame) {
    if (own && frame && own.shape() == frame.shape())
        copy_pixels(frame.host(), own.host());
    else
        own = copied(frame);
}

class ReportWriter final : public FileWriter {
public:
    ReportWriter(RecordOptions options, const StreamInfo& stream)
        : options_(std::move(options)), stream_(stream), path_(options_.path) {
        check_report(options_.path);
        history_.open(stream);
    }
    void write(const RecordedFrame& frame) override {
        Frame pixels = std::move(last_.pixels), raw = std::move(last_.raw); // the recorder's frames go home
        renew(pixels, frame.pixels);
        renew(raw, frame.raw);
        last_ = frame;
        last_.pixels = std::move(pixels);
        last_.raw = std::move(raw);
        history_.push(bare_result(frame));
        ++frames_;
        for (const EventMark& event : frame.events)
            take(event);
    }
    void update(const FileTotals&) override {}
    void finish(const FileTotals& totals) override {
        if (frames_ == 0)
            return;
        Report report = report_of(last_, options_, stream_);
        Baseline baseline;
        if (options_.baseline && last_.values)
            baseline.take(history_, *options_.baseline, last_.values->placed);
        const MadeWith with = made_with(last_);
        report.traces = traces_for_report(history_, baseline, with);
        if (options_.baseline && report.traces)
            report.traces->no_baseline =
                options_.baseline->misfit(last_.pixels.shape(), last_.quantity, &with);
        report.events = events_;
        report.frames = std::to_string(frames_) + " followed, " + std::to_string(totals.dropped) +
                        " dropped, " + std::to_string(totals.lost_before) + " lost before";
        path_ = write_report(options_.path, report).pdf;
        std::error_code ignored;
        bytes_ = std::filesystem::file_size(path_, ignored);
    }
    std::uint64_t written() const override { return bytes_ > 0 ? 1 : 0; }
    std::uint64_t bytes() const override { return bytes_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return true; } // there is none before the end
    bool named() const override { return written() > 0; }

private:
    void take(const EventMark& event) {
        std::erase_if(events_, [&](const TimedEvent& known) { return known.mark.number == event.number; });
        const std::optional<TraceMoment> newest = history_.overview().newest;
        const std::int64_t shift = newest ? newest->time_ns - newest->capture_ns : 0;
        if (!event.removed)
            events_.push_back({event, event.capture_ns + shift});
    }
    RecordOptions options_;
    StreamInfo stream_;
    std::string path_;
    TraceHistory history_;
    std::vector<TimedEvent> events_;
    RecordedFrame last_;
    std::uint64_t frames_ = 0, bytes_ = 0;
};

} // namespace

std::unique_ptr<FileWriter> make_report_writer(const RecordedFrame&, const RecordOptions& options,
                                               const StreamInfo& stream) {
    return std::make_unique<ReportWriter>(options, stream);
}

std::string write_report_picture(const RecordedFrame& frame, const FileTotals&, const RecordOptions& options,
                                 const StreamInfo& stream) {
    return write_report(options.path, report_of(frame, options, stream)).pdf;
}

void check_report_of(RecordWhat what) {
    if (what != RecordWhat::processed)
        throw UsageError("A report is of results, not of raw frames: name it with --report or --record.");
    check_report("report.pdf");
}

} // namespace specklescope
