// One page or more about a run: the map in the colours and range that it is shown in (never a change, a
// divided or a blended picture), the raw frame, the numbers of the regions, traces, events, settings, and how
// the numbers were made. PDF, and beside it the picture as PNG and the table as CSV.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "analysis/trace_history.hpp"
#include "pipeline/mapping.hpp"
#include "recording/record_file.hpp"
#include "recording/recorder.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// What a report draws of a history: a copy, so that it can be drawn on another thread.
struct ReportTraces {
    TraceOverview overview;
    std::int64_t from_ns = 0, to_ns = 0; ///< the whole run
    std::vector<std::vector<TraceColumn>> curves;
    std::vector<std::optional<TraceExtremes>> extremes; ///< of each curve, without what was made in a warm-up
    std::vector<std::optional<TraceExtremes>> compared; ///< the same of what may be compared with F₀
    std::vector<std::optional<double>> baseline;        ///< F₀ of each region, for the newest values
    std::optional<TraceMeans> taken;                    ///< over which frames; none: there is no baseline
    std::string no_baseline; ///< why one that was taken is not used; empty: it is, or none was taken
    /// The column was made with the settings that F₀ was taken with.
    bool comparable(const TraceColumn& column) const;
};
/// None where there is nothing to draw: no regions, or no two frames.
/// `with`: of the result that the report is about.
std::optional<ReportTraces> traces_for_report(TraceHistory& history, const Baseline& baseline,
                                              const MadeWith& with);

struct Report {
    Result result; ///< with the picture on the host
    Mapping mapping{};
    StreamInfo stream;
    std::string subject, note;
    std::string written = utc_now(); ///< the same in all its files
    std::optional<ReportTraces> traces{};
    std::vector<TimedEvent> events{};
    std::string frames{}; ///< what came of the run: "200 frames, none dropped"
};

struct RegionTable {
    static constexpr std::array<std::string_view, 15> kColumns = {
        "region", "shape", "pixels",      "area_um2", "valid", "infinite", "undefined",     "saturated",
        "mean",   "std",   "mean_of_map", "min",      "max",   "baseline", "change_percent"};
    /// A row for each region of the result. Numbers have seven significant digits; unknown ones are empty.
    std::vector<std::array<std::string, kColumns.size()>> rows;
    bool baseline = false; ///< the last two columns are known
    bool area = false;     ///< area_um2 is known
};
RegionTable region_table(const Report& report);
/// "Source", "vessels.tiff", …
using ReportRows = std::vector<std::pair<std::string, std::string>>;
ReportRows settings_rows(const Report& report);
/// Number, time, frame and label of each event that was not removed.
std::vector<std::array<std::string, 4>> event_rows(const Report& report);
/// How the numbers were made: for each stage its declaration, definition and source; for regions and baseline
/// how their means are taken. Quotes docs/science.md.
std::vector<std::string> methods(const Report& report);
std::string_view science_text(); ///< docs/science.md, compiled in
std::string report_csv(const Report& report);
/// Percentiles of the pixels replaced by the range that they give.
Mapping with_fixed_range(Mapping mapping, ConstHostView pixels);
bool can_draw_pdf(); ///< this build has Cairo and Pango
/// A PDF file, A4. Markup in texts is not interpreted. Throws RunError.
std::string draw_pdf(const Report& report);

/// Where a report was written.
struct ReportFiles {
    std::string pdf, png, csv;
};

/// The name ends in .pdf.
bool is_report(const std::string& path);
/// Throws UsageError unless the name ends in .pdf and this build can write one.
void check_report(const std::string& path);
/// All three under one name: where one is taken, all get a number. None appears before all are whole. Throws
/// RunError.
ReportFiles write_report(const std::string& path, const Report& report);

// As a format of recordings: of the last result, with the traces of all that were recorded.
std::unique_ptr<FileWriter> make_report_writer(const RecordedFrame& first, const RecordOptions& options,
                                               const StreamInfo& stream);
std::string write_report_picture(const RecordedFrame& frame, const FileTotals& totals,
                                 const RecordOptions& options, const StreamInfo& stream);
void check_report_of(RecordWhat what);

} // namespace specklescope
