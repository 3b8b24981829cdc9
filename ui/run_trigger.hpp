// The button of a run without a window: the signal USR1 begins recordings of raw frames, with those that came
// before it, and ends them again.
#pragma once

#include "config/settings.hpp"
#include "recording/pretrigger/pre_trigger.hpp"

#include <csignal>
#include <future>
#include <memory>
#include <vector>

namespace specklescope {

/// Catches SIGUSR1 while it lives: also between two sources, where nothing else waits for it and it would end
/// the program.
class TriggerSignal {
public:
    TriggerSignal();
    ~TriggerSignal();
    TriggerSignal(const TriggerSignal&) = delete;
    TriggerSignal& operator=(const TriggerSignal&) = delete;

private:
    struct sigaction old_ {};
};

/// Of one source, while a TriggerSignal lives. One at a time, on one thread.
class RunTrigger {
public:
    static bool wanted(const Settings& settings); ///< --pre-trigger

    /// Keeps frames of this pipeline, which has not been started. Throws RunError.
    RunTrigger(const Settings& settings, Pipeline& pipeline);

    /// Does what the signals since the last call ask for, and those that came before there was a pipeline;
    /// the recordings that it has begun.
    std::vector<Recording> poll();
    /// Behind the end of the pipeline.
    void finish();

private:
    std::vector<Recording> begin();
    void end();

    Settings settings_; ///< only the recordings of raw frames
    Pipeline& pipeline_;
    std::shared_ptr<PreTrigger> before_;
    std::vector<Recording> running_;
    std::vector<std::future<void>> ending_;
    bool begun_ = false;
};

} // namespace specklescope
