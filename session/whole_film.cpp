#include "session/whole_film.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "config/numbers.hpp"
#include "session/second_pipeline.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

/// True for a simulated scene without an end: its length is unknown, and it has an option for it.
bool is_endless(const Pipeline& pipeline) {
    const Params params = pipeline.source_params();
    return pipeline.status().source.length == 0 && params.has_table() && params.table().find("frames") &&
           params.get("frames") == ParamValue(std::int64_t{0});
}

bool same_frames(const Params& a, const Params& b) {
    if (!a.has_table() || !b.has_table())
        return a.has_table() == b.has_table();
    const std::vector<ParamDecl>& decls = a.table().decls();
    return &a.table() == &b.table() && std::all_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
        return sets_pace(decl.name) || a.get(decl.name) == b.get(decl.name);
    });
}

} // namespace

struct WholeFilm::Run {
    std::unique_ptr<Pipeline> pipeline;
    std::shared_ptr<Pipeline> of; ///< the session's
    std::shared_ptr<const Chain> chain;
    std::shared_ptr<const RegionOutlines> regions;
    Params options;
    std::vector<std::shared_ptr<Sink>> sinks;

    std::atomic<std::uint64_t> frames{0}, total{0};
    std::atomic<bool> cancelled{false}, complete{false};
    std::mutex mutex;
    std::condition_variable wake;

    /// Opens, runs and closes, in its own thread. Returns the error; empty: none.
    std::string process() {
        const WatchWork watch([this](std::string_view, double) { return !cancelled; });
        try {
            pipeline->start();
            while (!cancelled && !pipeline->finished() && sink_error().empty()) {
                count();
                std::unique_lock lock(mutex);
                wake.wait_for(lock, 20ms, [this] { return cancelled.load(); });
            }
            complete = pipeline->finished();
            pipeline->stop();
            count();
            return error();
        } catch (const std::exception& thrown) {
            pipeline->stop();
            return sentence_of(thrown);
        }
    }

private:
    void count() {
        frames = pipeline->stats().frames.processed;
        total = pipeline->status().source.length;
    }
    std::string sink_error() const {
        for (const std::shared_ptr<Sink>& sink : sinks)
            if (std::string failure = sink->status().error; !failure.empty())
                return failure;
        return "";
    }
    std::string error() const {
        const PipelineStatus status = pipeline->status();
        if (status.state == RunState::failed)
            return status.message;
        if (std::string failure = sink_error(); !failure.empty())
            return failure;
        const std::uint64_t failed = pipeline->stats().drops.failed;
        return failed == 0 ? "" : count_text(failed) + " frames could not be processed.";
    }
};

std::string WholeFilm::why_not() const {
    if (running())
        return "The whole film is being processed already.";
    if (std::string why = why_no_second(state_); !why.empty())
        return why;
    return is_endless(*state_.pipeline) ? "The source is no film with a beginning and an end." : "";
}

void WholeFilm::start(Job job) {
    if (const std::string why = why_not(); !why.empty())
        throw UsageError(why);
    auto run = std::make_shared<Run>();
    run->of = state_.pipeline;
    run->chain = state_.pipeline->chain();
    run->regions = state_.pipeline->regions();
    run->options = state_.pipeline->source_params();
    run->total = state_.pipeline->status().source.length;
    run->pipeline = second_pipeline(state_);
    run->pipeline->viewer_wants_host(false);
    run->pipeline->add_sink(make_background_feed(traces_));
    run->sinks = job.sinks;
    for (const std::shared_ptr<Sink>& sink : run->sinks)
        run->pipeline->add_sink(sink);
    job_ = std::move(job);
    cancelled_.clear();
    run_ = std::move(run);
    work_ = std::async(std::launch::async, [run = run_, wake = state_.notices.wake_call()] {
        std::string error = run->process();
        wake();
        return error;
    });
}

void WholeFilm::cancel(std::string why) {
    if (!running() || run_->cancelled)
        return;
    cancelled_ = why.empty() ? "Processing of the whole film was cancelled." : std::move(why);
    {
        const std::scoped_lock lock(run_->mutex);
        run_->cancelled = true;
    }
    run_->wake.notify_all();
}

bool WholeFilm::edited() const {
    const std::shared_ptr<Pipeline>& now = state_.pipeline;
    return now != run_->of || now->chain() != run_->chain || now->regions() != run_->regions ||
           !same_frames(now->source_params(), run_->options);
}

void WholeFilm::poll() {
    if (!running())
        return;
    if (!run_->cancelled && edited())
        cancel(
            state_.pipeline == run_->of
                ? "Processing of the whole film was cancelled, because settings or regions changed. Start it "
                  "again."
                : "Processing of the whole film was cancelled, because another source was opened.");
    if (work_.wait_for(0s) == std::future_status::ready)
        conclude();
}

/// Waits for the work.
void WholeFilm::conclude() {
    const std::string error = work_.get();
    if (!run_->complete && !cancelled_.empty())
        report(Outcome::cancelled, cancelled_);
    else if (!error.empty())
        report(Outcome::failed, "The whole film was not processed: " + error);
    else
        report(Outcome::done, "Processed the whole film: " + count_text(progress().frames) +
                                  (progress().frames == 1 ? " frame." : " frames."));
    run_->pipeline.reset(); // its frames
    run_->of.reset();
    run_->sinks.clear();
}

void WholeFilm::report(Outcome outcome, const std::string& text) {
    const Job job = std::exchange(job_, {});
    if (job.over)
        return job.over(outcome, text);
    state_.notices.say(outcome == Outcome::done        ? Message::Level::info
                       : outcome == Outcome::cancelled ? Message::Level::warning
                                                       : Message::Level::error,
                       text);
}

void WholeFilm::stop() noexcept {
    try {
        cancel();
        if (work_.valid())
            conclude();
    } catch (const std::exception& error) {
        run_log().debug("{}", sentence_of(error)); // its end is not waited for
    }
    run_.reset();
    job_ = {};
}

WholeFilm::Progress WholeFilm::progress() const {
    return run_ ? Progress{run_->frames, run_->total} : Progress{};
}

} // namespace specklescope
