// Signals. The first Ctrl-C, SIGTERM or similar signal ends the program in order, so that recordings are
// finished. The second ends it at once, unless the same signal repeats within 0.3 s. A closed terminal
// (SIGHUP) always ends it in order. A closed output pipe (SIGPIPE) is only recorded. SIGUSR1 begins and ends
// recordings.
#pragma once

#include <array>
#include <csignal>

namespace specklescope {

/// Catches kSignals while it lives. One at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    static bool interrupted(); ///< whether one has come since the guard was made
    /// True if printed text has found no reader since then.
    static bool reader_gone();

private:
    /// Signals that end a process by default and that are sent by users, timers or resource limits.
    static constexpr std::array kSignals = {SIGINT,  SIGTERM, SIGUSR1, SIGUSR2,
                                            SIGALRM, SIGXCPU, SIGHUP,  SIGPIPE};
    std::array<struct sigaction, kSignals.size()> old_{};
};

/// Catches SIGUSR1 during its lifetime, also between two sources: uncaught, it would end the program.
class TriggerSignal {
public:
    TriggerSignal();
    ~TriggerSignal();
    TriggerSignal(const TriggerSignal&) = delete;
    TriggerSignal& operator=(const TriggerSignal&) = delete;

    static int take(); ///< number of signals since the last call

private:
    struct sigaction old_ {};
};

} // namespace specklescope
