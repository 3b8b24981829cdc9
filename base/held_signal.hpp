// Signals that a write raises in its own thread (SIGPIPE, SIGXFSZ), where the error that it returns is
// enough.
#pragma once

#include <csignal>

namespace specklescope {

/// Blocks the signal in this thread while it lives, and discards the one that was raised meanwhile. Threads
/// that this thread starts inherit the block.
class HeldSignal {
public:
    explicit HeldSignal(int signal);
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;
    ~HeldSignal();

    /// For a thread that only writes, as long as it lives.
    static void hold_here(int signal) noexcept;

private:
    sigset_t held_{}, before_{};
    bool foreign_ = false; ///< pending before
};

} // namespace specklescope
