// Report on a run: the map in its displayed colours and range (never a change, a split or a blended image),
// the raw frame, the region values, traces, events, settings, and methods. Consists of a PDF, the image as
// PNG and the table as CSV.
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

/// Fields that the operator fills in: name and value.
using ReportForm = std::vector<std::pair<std::string, std::string>>;
/// Reads "Operator=A. B.; Procedure=". Removes spaces around names and values, and fields without a name.
ReportForm parse_form(const std::string& text);
/// The text that parse_form() reads; a ";" in a value becomes ",".
std::string form_text(const ReportForm& form);

/// Copy of the parts of a history that a report draws, so that it can be drawn on another thread.
struct ReportTraces {
    TraceOverview overview;
    std::int64_t from_ns = 0, to_ns = 0; ///< the whole run
    std::vector<std::vector<TraceColumn>> curves;
    std::vector<std::optional<TraceExtremes>> extremes; ///< of each curve, without warm-up
    std::vector<std::optional<TraceExtremes>> compared; ///< the same for values comparable with F₀
    std::vector<std::optional<double>> baseline;        ///< F₀ of each region, for the newest values
    std::optional<TraceMeans> taken; ///< frames of the baseline; none: there is no baseline
    std::string no_baseline; ///< reason why the baseline is not used; empty: it is used, or there is none
    /// True if the column was made with the settings of F₀.
    bool comparable(const TraceColumn& column) const {
        return taken && overview.comparable(column, taken->with);
    }
};
/// `with`: settings of the reported result. Nullopt without regions or with fewer than two frames.
std::optional<ReportTraces> traces_for_report(TraceHistory& history, const Baseline& baseline,
                                              const MadeWith& with);

struct Report {
    Result result; ///< with the image on the host
    Mapping mapping{};
    StreamInfo stream;
    std::string subject, note;
    ReportForm form{};
    std::string written = utc_now(); ///< identical in all its files
    std::optional<ReportTraces> traces{};
    std::vector<TimedEvent> events{};
    std::string frames{}; ///< "200 frames, none dropped"
};

/// A row for each region of the result. Unknown numbers are empty.
struct RegionTable {
    std::vector<std::array<std::string, 15>> rows;
    bool baseline = false; ///< the last two columns are known
    bool area = false;     ///< area_um2 is known
};
RegionTable region_table(const Report& report, int significant_digits = 7);
/// "Source", "vessels.tiff", …
std::vector<std::pair<std::string, std::string>> settings_rows(const Report& report);
/// Returns declaration, definition and source of each stage, and the method of averaging for regions and
/// baseline. Quotes docs/science.md, which is compiled in.
std::vector<std::string> methods(const Report& report);
std::string_view science_text();
/// A PDF file, A4. Markup in texts is not interpreted. Throws RunError.
std::string draw_pdf(const Report& report);

struct ReportFiles {
    std::string pdf, png, csv;
};
/// True for a name with extension .pdf.
bool is_report(const std::string& path);
/// Throws UsageError unless the name has extension .pdf and this build can write PDF.
void check_report(const std::string& path);
/// Writes all three under one name: if one exists, all get a number. No file appears before all are
/// complete. Throws RunError.
ReportFiles write_report(const std::string& path, const Report& report);

// Makes a report as a record format: the last result, with the traces of all recorded frames.
MakeWriter make_report_writer;
WritePicture write_report_picture;
void check_report_of(RecordWhat what);

} // namespace specklescope
