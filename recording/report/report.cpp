#include "recording/report/report.hpp"

#include "base/error.hpp"
#include "base/lower_ending.hpp"
#include "files/whole_file.hpp"
#include "recording/free_name.hpp"
#include "recording/record_file.hpp"
#include "recording/report/content.hpp"
#include "recording/report/pdf.hpp"

#include <cerrno>

namespace specklescope {

namespace {

constexpr int kColumns = 900; ///< of a plot: more than a printer's dots tell apart

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
    traces.curves = history.curves(traces.from_ns, traces.to_ns, kColumns);
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

} // namespace specklescope
