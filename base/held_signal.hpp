// Signals that a write raises in its own thread (SIGPIPE, SIGXFSZ), where the returned error is enough.
#pragma once

#include <csignal>

namespace specklescope {

/// Blocks the signal in this thread for its lifetime and discards a signal raised during that time. Threads
/// started by this thread inherit the block.
class HeldSignal {
public:
    explicit HeldSignal(int signal);
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;
    ~HeldSignal();

    /// Blocks the signal for the rest of the thread; for threads that only write.
    static void hold_here(int signal) noexcept;

private:
    sigset_t held_{}, before_{};
    bool foreign_ = false; ///< pending before
};

} // namespace specklescope
