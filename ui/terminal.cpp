// The face without a window: a progress bar or plain lines, statistics at the end.
#include "analysis/baseline_image.hpp"
#include "base/long_work.hpp"
#include "base/sentence.hpp"
#include "config/atomic_file.hpp"
#include "config/baseline.hpp"
#include "config/in_turn.hpp"
#include "config/text.hpp"
#include "net/outlet.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/recorder.hpp"
#include "ui/control/run_control.hpp"
#include "ui/interrupt.hpp"
#include "ui/own_end.hpp"
#include "ui/progress.hpp"
#include "ui/run_report.hpp"
#include "ui/run_trigger.hpp"
#include "ui/ui.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <thread>
#include <unistd.h>

namespace specklescope {

namespace {

class HeadlessRun {
public:
    explicit HeadlessRun(Settings settings)
        : settings_(std::move(settings)), pipeline_(make_pipeline(settings_)) {}

    /// While an InterruptGuard lives.
    int run() {
        for (const std::string& remark : settings_.remarks)
            spdlog::info("{}", remark);
        check_output_files(settings_);
        watched([&] { take_baseline(settings_); });
        pipeline_->viewer_wants_host(!output_of(settings_, "snapshot").empty());
        const auto look = std::make_shared<LiveLook>(look_of(settings_));
        doors_ = open_doors(settings_, look);
        if (RunControl::wanted(settings_))
            control_.emplace(settings_, *pipeline_, doors_, look);
        Settings at_once = settings_;
        if (RunTrigger::wanted(settings_)) {
            trigger_.emplace(settings_, *pipeline_);
            std::erase_if(at_once.outputs,
                          [](const Output& output) { return output.kind->frames == RecordWhat::raw; });
        }
        watched([&] { // from the first frame
            recordings_ = add_outputs(*pipeline_, {.settings = at_once, .look = look});
        });
        of_frames_ = of_frames(recordings_);
        doors_.join(*pipeline_);
        if (control_)
            control_->adopt(recordings_);
        watched([this] { pipeline_->start(); });
        wait();
        pipeline_->stop();
        if (control_) {
            control_->finish();
            settings_.view = control_->view(); // for the snapshot
        }
        if (trigger_)
            trigger_->finish();
        return report();
    }

    /// Why it ended with 1, in a sentence.
    std::string reason() const {
        const std::string message = pipeline_->status().message;
        return message.empty() ? "see what was said above" : one_line(message);
    }

private:
    /// What may take long, or wait for another program, before there is a frame.
    template <class F> void watched(F&& work) {
        Progress progress(0, quiet());
        const WatchWork watch([&](std::string_view what, double part) {
            progress.preparing(what, part);
            return !InterruptGuard::interrupted();
        });
        try {
            work();
        } catch (...) {
            progress.clear();
            throw;
        }
        progress.clear();
    }

    void wait() {
        Progress progress(total_frames(), quiet());
        if (progress.on_terminal())
            set_up_log(settings_, "\r\033[K");
        const WatchWork watch([](std::string_view, double) { return !InterruptGuard::interrupted(); });
        while (!InterruptGuard::interrupted() && !(InterruptGuard::reader_gone() && !ends_itself()) &&
               !(control_ && control_->quits()) &&
               !((pipeline_->finished() || all_recorded(of_frames_) || in_vain()) && drained())) {
            constexpr std::chrono::milliseconds kRound(20);
            if (control_)
                control_->wait(kRound);
            else
                std::this_thread::sleep_for(kRound);
            Result result;
            if (pipeline_->mailbox().take(result))
                last_ = std::move(result);
            check_baseline();
            if (trigger_)
                for (auto& begun : trigger_->poll())
                    recordings_.push_back(std::move(begun));
            if (control_)
                for (auto& begun : control_->poll(last_))
                    recordings_.push_back(std::move(begun));
            const StatsSnapshot stats = pipeline_->stats();
            if (doors_.metrics)
                doors_.metrics->tell(stats, totals(doors()));
            progress.update(stats.processed, stats.processing_rate, to_string(stats.warmup));
        }
        progress.clear();
        set_up_log(settings_);
        if (InterruptGuard::interrupted())
            spdlog::info("Interrupted: finishing the files.");
    }

    /// That it is of what the run makes, which the first result tells.
    void check_baseline() {
        if (!settings_.baseline || compared_ || !(last_.image || last_.device_image))
            return;
        compared_ = true;
        if (const std::string misfit = settings_.baseline->misfit(last_); !misfit.empty())
            throw UsageError(settings_.baseline->refusal(misfit));
    }

    /// Recordings were all that was wanted, and none of them goes on. Whoever started it is to know: nobody
    /// looks at it.
    bool in_vain() const { return !doors_.send_results() && !trigger_ && !control_ && all_over(recordings_); }

    /// A closed output ends a run that only the user can end; others only lose their words.
    bool ends_itself() const {
        const auto& program = settings_.program.as<ProgramSettings>();
        const SourceInfo source = pipeline_->status().source;
        const bool limited =
            program.recording.frames > 0 || program.recording.seconds > 0 || program.recording.mib > 0;
        const std::string& text = settings_.source.revealed();
        const bool endless = source.live || program.loop || text.empty() || text.starts_with("synthetic");
        return total_frames() > 0 || limited || !endless;
    }

    /// A reader may be slow: it is waited for here, where Ctrl-C ends it.
    bool drained() const {
        return std::ranges::all_of(
            of_frames_, [](const Recording& recording) { return recording.sink->status().queued == 0; });
    }

    Doors doors() { return control_ ? control_->doors() : doors_; }

    bool quiet() const { return settings_.program.as<ProgramSettings>().log == ProgramSettings::Log::quiet; }

    std::uint64_t total_frames() const {
        const auto& program = settings_.program.as<ProgramSettings>();
        const auto limit = static_cast<std::uint64_t>(program.frames);
        const auto from = static_cast<std::uint64_t>(program.from);
        const std::uint64_t all = pipeline_->status().source.frames;
        // Where a time lies in the file its frames tell.
        const std::uint64_t known = program.loop || program.from_s > 0 ? 0 : all - std::min(all, from);
        return limit == 0 ? known : known == 0 ? limit : std::min(limit, known);
    }

    int report() {
        const StatsSnapshot stats = pipeline_->stats();
        const PipelineStatus status = pipeline_->status();
        bool failed = status.state == RunState::failed || stats.drops.failed > 0;
        std::string text =
            stats.acquired > 0 ? statistics_rows(stats, status.source, *pipeline_->chain(), scale()) : "";
        for (const Recording& recording : recordings_) {
            const SinkStatus s = recording.sink->status();
            failed = failed || !s.error.empty();
            if (s.path.empty() && s.error.empty())
                continue;
            text += recorder_rows(s);
        }
        if (doors_.publisher) {
            const SinkStatus s = doors_.publisher->drained();
            failed = failed || !s.error.empty();
            text += sent_row("published", s, doors_.publisher->address());
        }
        for (const auto& outlet : doors_.outlets) {
            const SinkStatus s = outlet->status();
            failed = failed || !s.error.empty();
            text += sent_row("showed", s, outlet->name());
        }
        if (control_)
            text += answered_row(*control_->doors().control, control_->address());
        try {
            text += snapshot();
        } catch (const Error& error) { // the report is not lost with it
            spdlog::error("{}", error.what());
            failed = true;
        }
        if (const std::string path = output_of(settings_, "stats"); !keep_statistics(path, to_json(stats)))
            failed = true;
        else if (!path.empty())
            text += row("wrote", path, kReportLeft);
        if (!quiet())
            std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
        return failed ? 1 : 0;
    }

    std::string scale() const {
        const Chain chain = *pipeline_->chain();
        return scale_text(pipeline_->stream(), &chain);
    }

    std::string snapshot() {
        if (output_of(settings_, "snapshot").empty())
            return "";
        Result newest;
        if (pipeline_->mailbox().take(newest))
            last_ = std::move(newest);
        if (!last_.image)
            return "";
        return row("wrote", write_last_snapshot(settings_, last_, pipeline_->stream()), kReportLeft);
    }

    Settings settings_;
    std::unique_ptr<Pipeline> pipeline_;
    std::vector<Recording> recordings_; ///< also those that requests or the trigger begin later
    std::vector<Recording> of_frames_;  ///< from the first frame on; tables follow the run
    bool compared_ = false;             ///< the baseline with the results
    std::optional<RunTrigger> trigger_;
    Doors doors_;
    std::optional<RunControl> control_;
    Result last_;
};

/// What became of one source: empty when all went well.
std::string run_one(const Settings& settings) {
    try {
        HeadlessRun run(settings);
        return run.run() == 0 ? "" : run.reason();
    } catch (const std::exception& error) {
        std::string sentence = one_line(sentence_of(error));
        spdlog::error("{}", sentence);
        return sentence;
    }
}

/// One bad source does not end the others.
int run_in_turn(const std::vector<Settings>& each) {
    std::string failed;
    std::size_t done = 0, tried = 0;
    for (const Settings& one : each) {
        if (InterruptGuard::interrupted())
            break;
        ++tried;
        spdlog::info("Source {} of {}: {}", tried, each.size(), one.source.shown());
        const std::string reason = run_one(one);
        done += reason.empty() ? 1 : 0;
        if (!reason.empty())
            failed += row("failed", one.source.shown() + ": " + reason, kReportLeft);
    }
    std::string text =
        row("sources",
            std::to_string(each.size()) + ": " + std::to_string(done) + " done, " +
                std::to_string(tried - done) + " failed" +
                (tried < each.size() ? ", " + std::to_string(each.size() - tried) + " not begun: interrupted"
                                     : ""),
            kReportLeft) +
        failed;
    if (each.front().program.as<ProgramSettings>().log != ProgramSettings::Log::quiet)
        std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return done == tried ? 0 : 1;
}

} // namespace

int run_headless(const Settings& settings) {
    set_up_log(settings);
    const std::vector<Settings> each = each_in_turn(settings);
    prepare_streams(settings);
    for (const Settings& one : each)
        ask_for_secrets(one.source);
    const InterruptGuard guard;
    std::optional<TriggerSignal> trigger;
    if (std::any_of(each.begin(), each.end(), &RunTrigger::wanted))
        trigger.emplace();
    return each.size() == 1 ? HeadlessRun(each.front()).run() : run_in_turn(each);
}

} // namespace specklescope
