// Signals. Ctrl-C, SIGTERM and the like: the first ends the program in order, so that recordings are
// finished; the second ends it at once, unless the same signal comes twice within 0.3 s. A closed terminal
// (SIGHUP) always ends it in order. A closed output pipe (SIGPIPE) is only noted. SIGUSR1 begins and ends
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
    /// Whether words found no reader since then.
    static bool reader_gone();

private:
    /// Those that end a process by default and that others send, or timers and limits of its starter.
    static constexpr std::array kSignals = {SIGINT,  SIGTERM, SIGUSR1, SIGUSR2,
                                            SIGALRM, SIGXCPU, SIGHUP,  SIGPIPE};
    std::array<struct sigaction, kSignals.size()> old_{};
};

/// Catches SIGUSR1 while it lives, also between two sources: uncaught, it would end the program.
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
