// Waits for other threads: polls with a deadline far longer than any machine needs.
#pragma once

#include <chrono>
#include <thread>

namespace specklescope::test {

/// True as soon as `done()` is; false at the deadline.
template <class F> bool eventually(F&& done, std::chrono::seconds deadline = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (!done()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace specklescope::test
