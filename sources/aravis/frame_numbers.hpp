// Lost frames from the camera's own count of them.
#pragma once

#include <cstdint>

namespace specklescope {

/// A GigE camera counts to 65535 and goes on at 1 (GVSP 1.x, where 0 is no number), or in 64 bits (2.x, and
/// USB3); the protocol's version is not asked for: no number above 65535 is of 16 bits. One thread only.
class FrameNumbers {
public:
    /// `wide`: 64 bits for certain.
    void restart(bool wide) {
        *this = FrameNumbers{};
        wide_ = wide;
    }

    /// Frames missing between the one before and this one; 0 where the count went back, which loses nothing
    /// that anyone could know.
    std::uint64_t missing_before(std::uint64_t number) {
        const std::uint64_t last = last_;
        const bool first = !started_;
        started_ = true;
        last_ = number;
        wide_ = wide_ || number > kLargest;
        if (first)
            return 0;
        if (number > last)
            return number - last - 1;
        if (wide_)
            return 0;
        const std::uint64_t step = number + kLargest - last; // 0 stands where 65535 would be
        return step > 0 && step <= kLargest / 2 ? step - 1 : 0;
    }

private:
    static constexpr std::uint64_t kLargest = 65535;
    std::uint64_t last_ = 0;
    bool started_ = false;
    bool wide_ = false;
};

} // namespace specklescope
