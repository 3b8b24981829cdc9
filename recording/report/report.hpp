// One page or more about a run: the map in the colours and range that it is shown in (never a change, a
// divided or a blended image), the raw frame, the numbers of the regions, traces, events, settings, and how
// the numbers were made. A PDF, the image as PNG and the table as CSV.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "analysis/trace_history.hpp"
#include "recording/record_file.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// A copy of what a report draws of a history, so that it can be drawn on another thread.
struct ReportTraces {
    TraceOverview overview;
    std::int64_t from_ns = 0, to_ns = 0; ///< the whole run
    std::vector<std::vector<TraceColumn>> curves;
    std::vector<std::optional<TraceExtremes>> extremes; ///< of each curve, without what was made in a warm-up
    std::vector<std::optional<TraceExtremes>> compared; ///< the same of what may be compared with F₀
    std::vector<std::optional<double>> baseline;        ///< F₀ of each region, for the newest values
    std::optional<TraceMeans> taken;                    ///< over which frames; none: there is no baseline
    std::string no_baseline; ///< why the baseline is not used; empty: it is used, or there is none
    /// The column was made with the settings that F₀ was taken with.
    bool comparable(const TraceColumn& column) const {
        return taken && overview.comparable(column, taken->with);
    }
};
/// `with`: settings of the result that the report is about. None if there are no regions, or no two frames.
std::optional<ReportTraces> traces_for_report(TraceHistory& history, const Baseline& baseline,
                                              const MadeWith& with);

struct Report {
    Result result; ///< with the image on the host
    Mapping mapping{};
    StreamInfo stream;
    std::string subject, note;
    std::string written = utc_now(); ///< the same in all its files
    std::optional<ReportTraces> traces{};
    std::vector<TimedEvent> events{};
    std::string frames{}; ///< "200 frames, none dropped"
};

/// A row for each region of the result. Numbers have seven significant digits; unknown ones are empty.
struct RegionTable {
    std::vector<std::array<std::string, 15>> rows;
    bool baseline = false; ///< the last two columns are known
    bool area = false;     ///< area_um2 is known
};
RegionTable region_table(const Report& report);
/// "Source", "vessels.tiff", …
std::vector<std::pair<std::string, std::string>> settings_rows(const Report& report);
/// For each stage its declaration, definition and source; for regions and baseline how their means are taken.
/// Quotes docs/science.md, which is compiled in.
std::vector<std::string> methods(const Report& report);
std::string_view science_text();
/// A PDF file, A4. Markup in texts is not interpreted. Throws RunError.
std::string draw_pdf(const Report& report);

struct ReportFiles {
    std::string pdf, png, csv;
};
/// The name ends in .pdf.
bool is_report(const std::string& path);
/// Throws UsageError unless the name ends in .pdf and this build can write one.
void check_report(const std::string& path);
/// All three under one name: if one is taken, all get a number. None appears before all are complete. Throws
/// RunError.
ReportFiles write_report(const std::string& path, const Report& report);

// As a format of recordings: the last result, with the traces of all that were recorded.
MakeWriter make_report_writer;
WritePicture write_report_picture;
void check_report_of(RecordWhat what);

} // namespace specklescope
