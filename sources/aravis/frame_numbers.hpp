// Lost frames from the camera's own count of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace specklescope {

/// How many frames a camera may have made between two: no gap in its count is longer. Twice as many as its
/// rate and time tell, and some. One thread only.
class FramePace {
public:
    /// `rate`: frames/s as the camera says; 0: it does not.
    void restart(double rate) {
        *this = FramePace{};
        rate_ = rate;
    }
    /// Between the frame before and this one. `stamp`: by the camera, ns; nothing: it put none on it. `here`:
    /// when it was taken, ns.
    std::uint64_t most_between(std::optional<std::int64_t> stamp, std::int64_t here) {
        double passed = static_cast<double>(std::max<std::int64_t>(here - here_, 0));
        const bool stamped = stamp && stamp_;
        step_ = stamped ? static_cast<double>(*stamp) - static_cast<double>(*stamp_) : 0;
        passed = stamped ? std::max(passed, step_) : passed + kHeldUp;
        stamp_ = stamp;
        here_ = here;
        const double rate = std::max(rate_, fastest_);
        return static_cast<std::uint64_t>(
            std::min(2e-9 * passed * (rate > 0 ? rate : kFastest) + kSome, 1e15));
    }
    /// So many were made since: a camera may be faster than it says.
    void made(std::uint64_t frames) {
        if (step_ > 0)
            fastest_ = std::max(fastest_, 1e9 / step_ * static_cast<double>(frames));
    }

private:
    static constexpr double kHeldUp = 10e9; ///< ns that a frame may have waited here, where no stamp tells
    static constexpr double kFastest = 1e5; ///< frames/s
    static constexpr double kSome = 16;
    double rate_ = 0, fastest_ = 0;
    double step_ = 0; ///< ns by its stamps, between the last two
    std::optional<std::int64_t> stamp_;
    std::int64_t here_ = 0;
};

/// A GigE camera counts to 65535 and goes on at 1 (GVSP 1.x, where 0 is no number), or in 64 bits (2.x, and
/// USB3); the protocol's version is not asked for: no number above 65535 is of 16 bits. One thread only.
class FrameNumbers {
public:
    /// `wide`: 64 bits for certain.
    void restart(bool wide) {
        *this = FrameNumbers{};
        wide_ = wide;
    }

    /// Frames missing between the one before and this one; 0 where the count began anew, went back or was
    /// damaged, which loses nothing that anyone could know. `most`: so many there may be.
    std::uint64_t missing_before(std::uint64_t number, std::uint64_t most) {
        if (!last_) {
            last_ = number;
            return 0;
        }
        std::optional<std::uint64_t> missing = gap(*last_, number, most);
        if (doubtful_)
            if (const auto other = gap(*doubtful_, number, most); other && (!missing || *other < *missing))
                missing = other;
        if (missing) {
            wide_ = wide_ || number > kLargest;
            doubtful_.reset();
        } else { // the next one tells whether the count goes on from here, or from where it was
            doubtful_ = doubtful_.value_or(*last_) + 1;
        }
        last_ = number;
        return missing.value_or(0);
    }

private:
    /// Nothing where this number cannot follow that one.
    std::optional<std::uint64_t> gap(std::uint64_t before, std::uint64_t number, std::uint64_t most) const {
        std::uint64_t missing = 0;
        if (number > before) {
            missing = number - before - 1;
        } else {
            if (wide_ || before > kLargest)
                return std::nullopt;
            const std::uint64_t step = number + kLargest - before; // 0 stands where 65535 would be
            if (step > kLargest / 2)
                return std::nullopt;
            missing = step > 0 ? step - 1 : 0;
        }
        return missing <= most ? std::optional(missing) : std::nullopt;
    }

    static constexpr std::uint64_t kLargest = 65535;
    std::optional<std::uint64_t> last_;
    std::optional<std::uint64_t> doubtful_; ///< what the frame before would have been, had the count gone on
    bool wide_ = false;
};

/// Tells a growing total in parts.
class Parts {
public:
    /// Of what has not been told yet, `most` or less.
    std::uint64_t take(std::uint64_t total, std::uint64_t most) {
        const std::uint64_t part = std::min(most, total - std::min(total, told_));
        told_ += part;
        return part;
    }

private:
    std::uint64_t told_ = 0;
};

} // namespace specklescope
