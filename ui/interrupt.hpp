// Ctrl-C and SIGTERM: the first ends in order, so that recordings are finished; the second at once, unless
// the same comes twice at one moment. A closed terminal (SIGHUP) and a closed output pipe (SIGPIPE) end in
// order however often they are told.
#pragma once

#include <csignal>

namespace specklescope {

/// Catches SIGINT, SIGTERM, SIGHUP and SIGPIPE while it lives. One at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    static bool interrupted(); ///< whether one has come since the guard was made

private:
    struct sigaction old_int_ {};
    struct sigaction old_term_ {};
    struct sigaction old_hup_ {};
    struct sigaction old_pipe_ {};
};

} // namespace specklescope
