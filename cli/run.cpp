// `specklescope run`: a session without a window, with a progress bar or plain lines, and a summary at the
// end.
#include "cli/run.hpp"
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/summary.hpp"
#include "config/atomic_file.hpp"
#include "config/in_turn.hpp"
#include "config/start.hpp"
#include "config/text.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "session/requests.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <thread>

namespace specklescope {

namespace {

class HeadlessRun final : private RequestFront {
public:
    explicit HeadlessRun(const Settings& settings) : settings_(settings), session_(settings, false) {}

    /// Requires an InterruptGuard, and with --pre-trigger a TriggerSignal.
    int run() {
        for (const std::string& remark : settings_.remarks)
            spdlog::info("{}", remark);
        check_output_files(settings_);
        if (RequestServer::wanted(settings_))
            requests_.emplace(session_, static_cast<RequestFront&>(*this), nullptr);
        start();
        wait();
        session_.stop();
        if (requests_)
            requests_->close();
        if (session_.recordings.waits_for_trigger() && !session_.recordings.triggered())
            spdlog::warn("No raw frames were recorded: the signal USR1 did not come.");
        settings_.view = session_.settings().view; // of the snapshot
        return report();
    }

    /// Reason for exit status 1, as one sentence.
    std::string reason() const {
        const Pipeline* pipeline = session_.pipeline();
        const std::string message = pipeline ? pipeline->status().message : "";
        return message.empty() ? "see the messages above" : one_line(message);
    }

private:
    std::optional<Result> newest(bool pixels) override {
        if (!last_.raw)
            return std::nullopt;
        if (pixels && !last_.image) {
            session_.pipeline()->viewer_wants_host(true); // later results bring them
            return std::nullopt;
        }
        return last_;
    }
    void act(Action, const std::string&) override {
        throw UsageError("'act' needs the window, and this is a run without one; start the program without "
                         "run.");
    }
    void quit() override { quits_ = true; }

    void start() {
        Progress progress(0, quiet());
        const WatchWork watch([&](std::string_view what, double part) {
            progress.preparing(what, part);
            return !InterruptGuard::interrupted();
        });
        try {
            session_.start(nullptr, !output_of(settings_, "snapshot").empty());
        } catch (...) {
            progress.clear();
            throw;
        }
        progress.clear();
    }

    void wait() {
        Pipeline& pipeline = *session_.pipeline();
        Progress progress(total_frames(), quiet());
        if (progress.on_terminal())
            set_up_log(settings_, "\r\033[K");
        const WatchWork watch([](std::string_view, double) { return !InterruptGuard::interrupted(); });
        while (!InterruptGuard::interrupted() && !(InterruptGuard::reader_gone() && !ends_itself()) &&
               !quits_ && !(session_.over(requests_.has_value()) && session_.recordings.drained())) {
            constexpr std::chrono::milliseconds kRound(20);
            if (requests_)
                requests_->wait(kRound);
            else
                std::this_thread::sleep_for(kRound);
            Result result;
            if (pipeline.mailbox().take(result))
                last_ = std::move(result);
            session_.picture_baseline.check(last_);
            session_.poll();
            for (int signals = TriggerSignal::take(); signals > 0; --signals)
                session_.recordings.trigger();
            if (requests_)
                requests_->poll();
            const StatsSnapshot stats = pipeline.stats();
            progress.update(stats.frames.processed, stats.rate.processing, to_string(stats.newest.warmup));
        }
        progress.clear();
        set_up_log(settings_);
        if (InterruptGuard::interrupted())
            spdlog::info("Interrupted: finishing the files.");
    }

    /// If not, only the user can end it, and a closed standard output does. Other runs only lose their text.
    bool ends_itself() const {
        const auto& program = settings_.program.as<ProgramSettings>();
        const SourceInfo source = session_.pipeline()->status().source;
        const bool limited =
            program.recording.frames > 0 || program.recording.seconds > 0 || program.recording.mib > 0;
        const std::string& text = settings_.source.revealed();
        const bool endless = source.live || program.loop || text.empty() || text.starts_with("synthetic");
        return total_frames() > 0 || limited || !endless;
    }

    bool quiet() const { return settings_.program.as<ProgramSettings>().log == ProgramSettings::Log::quiet; }

    std::uint64_t total_frames() const {
        const auto& program = settings_.program.as<ProgramSettings>();
        const auto limit = static_cast<std::uint64_t>(program.frames);
        const auto from = static_cast<std::uint64_t>(program.from);
        const std::uint64_t all = session_.pipeline()->status().source.frames;
        // The frame at a time is known only when it was read.
        const std::uint64_t known = program.loop || program.from_s > 0 ? 0 : all - std::min(all, from);
        return limit == 0 ? known : known == 0 ? limit : std::min(limit, known);
    }

    int report() {
        Pipeline& pipeline = *session_.pipeline();
        const StatsSnapshot stats = pipeline.stats();
        bool failed = session_.failed();
        std::string text = stats.frames.acquired > 0
                               ? statistics_rows(stats, pipeline.status().source, *pipeline.chain(), scale())
                               : "";
        const auto check = [&](const SinkStatus& status) { failed = failed || !status.error.empty(); };
        for (const Recording& recording : session_.recordings.all()) {
            const SinkStatus s = recording.sink->status();
            check(s);
            if (!s.path.empty() || !s.error.empty())
                text += recorder_rows(s);
        }
        const Doors& doors = session_.doors;
        if (doors.publisher) {
            const SinkStatus s = doors.publisher->drained();
            check(s);
            text += sent_row("published", s, doors.publisher->address());
        }
        for (const auto& outlet : doors.outlets) {
            const SinkStatus s = outlet->status();
            check(s);
            text += sent_row("showed", s, outlet->name());
        }
        if (requests_)
            text += answered_row(requests_->counts(), requests_->address());
        try {
            text += snapshot();
        } catch (const Error& error) { // the summary is still printed
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
        const Chain chain = *session_.pipeline()->chain();
        return scale_text(session_.pipeline()->stream(), &chain);
    }

    std::string snapshot() {
        if (output_of(settings_, "snapshot").empty())
            return "";
        Result newest;
        if (session_.pipeline()->mailbox().take(newest))
            last_ = std::move(newest);
        if (!last_.image)
            return "";
        return row("wrote", write_last_snapshot(settings_, last_, session_.pipeline()->stream()),
                   kReportLeft);
    }

    Settings settings_; ///< as given; requests change the settings of the session
    Session session_;
    std::optional<RequestServer> requests_; ///< of --control
    Result last_;
    bool quits_ = false;
};

/// Runs one source. Returns why it failed; empty: all went well.
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

/// A failed source does not end the others.
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
    if (std::any_of(each.begin(), each.end(), [](const Settings& one) {
            return one.program.as<ProgramSettings>().recording.pre_trigger_s > 0;
        }))
        trigger.emplace();
    return each.size() == 1 ? HeadlessRun(each.front()).run() : run_in_turn(each);
}

} // namespace specklescope
