#include "ui/run_trigger.hpp"

#include "base/error.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <unistd.h>

namespace specklescope {

namespace {

std::atomic<int> signals{0};                          ///< that nobody has answered
static_assert(std::atomic<int>::is_always_lock_free); // so that a signal handler may touch it

extern "C" void on_trigger(int) { ++signals; }

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

} // namespace

TriggerSignal::TriggerSignal() {
    signals = 0;
    struct sigaction action {};
    action.sa_handler = on_trigger;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &old_);
}

TriggerSignal::~TriggerSignal() { sigaction(SIGUSR1, &old_, nullptr); }

bool RunTrigger::wanted(const Settings& settings) {
    return settings.program.as<ProgramSettings>().recording.pre_trigger_s > 0;
}

RunTrigger::RunTrigger(const Settings& settings, Pipeline& pipeline)
    : settings_(settings), pipeline_(pipeline) {
    std::erase_if(settings_.outputs,
                  [](const Output& output) { return output.kind->frames != RecordWhat::raw; });
    const RecordLimits& limits = settings.program.as<ProgramSettings>().recording;
    before_ = std::make_shared<PreTrigger>(limits.pre_trigger_s,
                                           static_cast<std::uint64_t>(limits.pre_trigger_mib) * kMib);
    pipeline_.add_sink(before_);
    spdlog::info("Keeping the last {} s of raw frames, up to {} MiB; kill -USR1 {} begins the recording, and "
                 "ends it again.",
                 to_string(limits.pre_trigger_s), limits.pre_trigger_mib, ::getpid());
}

std::vector<Recording> RunTrigger::begin() {
    const PreTrigger::Fill kept = before_->fill();
    running_ = add_outputs(pipeline_, {.settings = settings_, .before = before_});
    begun_ = true;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f", kept.seconds);
    spdlog::info("Recording begins, with the {} frames of the last {} s{}.", kept.frames, seconds,
                 kept.limited ? ", which is all that --pre-trigger-mib holds" : "");
    return running_;
}

/// Beside this thread: what came before may take its time on a slow disk.
void RunTrigger::end() {
    for (const Recording& recording : std::exchange(running_, {}))
        ending_.push_back(std::async(std::launch::async, [&pipeline = pipeline_, sink = recording.sink] {
            pipeline.remove_sink(sink);
        }));
}

std::vector<Recording> RunTrigger::poll() {
    std::vector<Recording> begun;
    const auto over = [](const Recording& recording) {
        const SinkStatus status = recording.sink->status();
        return !status.complete.empty() || !status.error.empty();
    };
    if (!running_.empty() && std::all_of(running_.begin(), running_.end(), over))
        end();
    for (int asked = signals.exchange(0); asked > 0; --asked) {
        if (!running_.empty()) {
            end();
            continue;
        }
        try {
            for (auto& recording : begin())
                begun.push_back(std::move(recording));
        } catch (const std::exception& error) {
            spdlog::error("{}", sentence_of(error));
        }
    }
    return begun;
}

void RunTrigger::finish() {
    end();
    ending_.clear(); // waits for them
    if (!begun_)
        spdlog::warn("No raw frames were recorded: the signal USR1 did not come.");
}

} // namespace specklescope
