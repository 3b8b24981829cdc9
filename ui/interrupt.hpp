// Ctrl-C, SIGTERM and the other signals by which a process is asked to end: the first ends in order, so that
// recordings are finished; the second at once, unless the same comes twice at one moment. A closed terminal
// (SIGHUP) ends in order however often it is told. A closed output pipe (SIGPIPE) is only noted.
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

} // namespace specklescope
