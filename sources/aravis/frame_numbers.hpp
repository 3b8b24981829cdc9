// Lost frames according to the camera's frame numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace specklescope {

/// Upper limit for the frames between two received ones, and so for gaps in the numbers: about twice the
/// number given by rate and time. One thread only.
class FramePace {
public:
    /// `rate`: frames/s according to the camera; 0: unknown.
    void restart(double rate) {
        *this = FramePace{};
        rate_ = rate;
    }
    /// Limit between the previous frame and this one. `stamp`: from the camera, ns; nothing: none. `here`:
    /// arrival time, ns.
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
    /// Call with the number of frames since then: a camera may be faster than stated.
    void made(std::uint64_t frames) {
        if (step_ > 0)
            fastest_ = std::max(fastest_, 1e9 / step_ * static_cast<double>(frames));
    }

private:
    static constexpr double kHeldUp = 10e9; ///< ns; maximum delay of a frame in the host, without stamps
    static constexpr double kFastest = 1e5; ///< frames/s
    static constexpr double kSome = 16;
    double rate_ = 0, fastest_ = 0;
    double step_ = 0; ///< ns between the last two stamps
    std::optional<std::int64_t> stamp_;
    std::int64_t here_ = 0;
};

/// A GigE camera counts to 65535 and continues at 1 (GVSP 1.x, where 0 is invalid), or with 64 bits (2.x, and
/// USB3). The version is not queried: a number above 65535 means 64 bits. One thread only.
class FrameNumbers {
public:
    /// `wide`: certainly 64 bits.
    void restart(bool wide) {
        *this = FrameNumbers{};
        wide_ = wide;
    }

    /// Frames missing between the previous one and this one; 0 if the count restarted, went back or was
    /// damaged. `most`: upper limit.
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
        } else { // the next frame decides whether the count continues from here or from before
            doubtful_ = doubtful_.value_or(*last_) + 1;
        }
        last_ = number;
        return missing.value_or(0);
    }

private:
    /// Nothing if this number cannot follow `before`.
    std::optional<std::uint64_t> gap(std::uint64_t before, std::uint64_t number, std::uint64_t most) const {
        std::uint64_t missing = 0;
        if (number > before) {
            missing = number - before - 1;
        } else {
            if (wide_ || before > kLargest)
                return std::nullopt;
            const std::uint64_t step = number + kLargest - before; // 0 would be 65535
            if (step > kLargest / 2)
                return std::nullopt;
            missing = step > 0 ? step - 1 : 0;
        }
        return missing <= most ? std::optional(missing) : std::nullopt;
    }

    static constexpr std::uint64_t kLargest = 65535;
    std::optional<std::uint64_t> last_;
    std::optional<std::uint64_t> doubtful_; ///< number of the previous frame if the count had continued
    bool wide_ = false;
};

/// Reports a growing total in parts.
class Parts {
public:
    /// The part not yet reported, at most `most`.
    std::uint64_t take(std::uint64_t total, std::uint64_t most) {
        const std::uint64_t part = std::min(most, total - std::min(total, told_));
        told_ += part;
        return part;
    }

private:
    std::uint64_t told_ = 0;
};

} // namespace specklescope
