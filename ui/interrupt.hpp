// Ctrl-C and SIGTERM: the first ends in order, so that recordings are finished; the second at once.
#pragma once

#include <csignal>

namespace specklescope {

/// Catches SIGINT and SIGTERM while it lives. One at a time.
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
};

} // namespace specklescope
