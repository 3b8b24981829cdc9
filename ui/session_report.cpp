// A report of what the window shows: gathered on the main thread, drawn and written beside it.
#include "base/error.hpp"
#include "recording/report/report.hpp"
#include "ui/session.hpp"

namespace specklescope {

void Session::report(Result result) {
    if (!pipeline_)
        return;
    const RecordLimits& limits = settings_.program.as<ProgramSettings>().recording;
    Report report;
    report.stream = pipeline_->stream();
    report.mapping = view().mapping;
    report.mapping.automatic = false; // exactly the range on the screen
    report.subject = limits.subject;
    report.note = limits.note;
    report.result = std::move(result);
    report.traces = traces_for_report(*traces_, baseline, made_with(report.result));
    report.events = events_.events();
    const StatsSnapshot stats = pipeline_->stats();
    report.frames =
        std::to_string(stats.processed) + " processed, " + std::to_string(stats.drops.total()) + " dropped";
    std::string path;
    try {
        path = new_path("report", ".pdf");
        check_report(path);
    } catch (const UsageError& error) {
        return say(Message::Level::error, sentence_of(error));
    }
    work_.push_back(std::async(std::launch::async, [path, held = std::move(report), notify = notify_] {
        Note done;
        try {
            const ReportFiles files = write_report(path, held);
            done = note(Message::Level::info,
                        "Report saved as " + files.pdf + ", with " + files.png + " and " + files.csv + ".");
        } catch (const std::exception& error) {
            done = note(Message::Level::error, sentence_of(error));
        }
        notify();
        return done;
    }));
}

} // namespace specklescope
