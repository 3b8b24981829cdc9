// Skew and offset of a source's clock, from capture times on that clock and arrival times here. Frames arrive
// late by a varying time and never early, so the fit follows the smallest delays, not the mean:
// docs/science.md.
#pragma once

#include "pipeline/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

class ClockWatch;

struct ClockReport {
    std::uint64_t frames = 0;
    double span_s = 0; ///< from the first frame to the last
    /// Skew of the source's clock in parts per million of ours, positive if it runs fast; with one standard
    /// error.
    double skew_ppm = 0, skew_error_ppm = 0;
    /// The same over each half; their difference is drift.
    double first_half_ppm = 0, second_half_ppm = 0;
    std::int64_t at_capture_ns = 0; ///< on the source's clock, of the last frame
    /// Lead of our steady clock at that capture, if the frame had arrived without extra delay. Includes the
    /// constant part: exposure, readout, transfer.
    std::int64_t offset_ns = 0;
    double offset_error_ns = 0; ///< one standard error, without the constant part
    double delay_ms = 0;        ///< mean delay compared to the fastest frame
};

/// One JSON object on one line.
std::string to_json(const ClockReport& report);
/// "fast by 50 ± 0.03 ppm relative to this computer over 60 s (first half +50, second +50); frames came …".
std::string to_string(const ClockReport& report);

// Detects that a camera's clock was set between two frames, from their arrival times.

/// Frames arrive late but never early: a frame that seems earlier than the fastest one before was stamped by
/// a clock that was set ahead. Repeated stamps of a clock coarser than the frame interval are accepted. One
/// thread only.
class ClockSteps {
public:
    /// Times in ns.
    bool was_set(std::int64_t capture_ns, std::int64_t arrival_ns) {
        const std::int64_t step = capture_ns - std::exchange(capture_, capture_ns);
        const std::int64_t passed = arrival_ns - std::exchange(arrival_, arrival_ns);
        if (!std::exchange(any_, true))
            return false;
        const std::int64_t late = late_ + passed - step, pace = std::max<std::int64_t>(passed, 0) / 1000;
        const bool set = step < 0 || late < -kEarly - pace || late > kLate + pace;
        // Forget lateness slowly, but faster than two clocks drift apart: a slow clock is not a late frame.
        late_ = set ? 0 : std::max<std::int64_t>(late - pace / 4, 0);
        return set;
    }

private:
    static constexpr std::int64_t kEarly = 100'000'000;  ///< ns
    static constexpr std::int64_t kLate = 5'000'000'000; ///< ns; no frame is delayed longer by the host
    std::int64_t capture_ = 0, arrival_ = 0;             ///< of the previous frame
    std::int64_t late_ = 0;                              ///< delay compared to the fastest frame
    bool any_ = false;
};

/// Keeps only the lower convex hull, so that memory does not grow with the run. One thread only.
class ClockFit {
public:
    /// Times in ns; captures in order.
    void add(std::int64_t capture_ns, std::int64_t arrival_ns);
    /// Returns nothing before kLeastFrames and kLeastSpan.
    std::optional<ClockReport> report() const;
    double span_s() const;

    static constexpr std::uint64_t kLeastFrames = 50;
    static constexpr double kLeastSpan = 5; ///< s

private:
    struct Point {
        double t = 0; ///< s on the source's clock since the first frame
        double d = 0; ///< delay of the arrival after the capture since the first frame, ns
    };
    struct Line {
        double slope = 0; ///< ns/s
        double level = 0; ///< ns, at t = 0
        double at(double t) const { return level + slope * t; }
    };
    /// A time block: its hull and sums.
    struct Block {
        std::vector<Point> hull;
        std::uint64_t frames = 0;
        double sum_t = 0, sum_d = 0;
    };
    static void extend(std::vector<Point>& hull, const Point& point);
    void halve();
    /// Fits the blocks [first, last) without block `omitted`.
    std::optional<Line> fit(std::size_t first, std::size_t last, std::size_t omitted) const;

    static constexpr std::size_t kBlocks = 32;
    static constexpr std::size_t kNone = kBlocks;
    static constexpr std::size_t kMostOnHull = 512;
    std::vector<Block> blocks_;
    double block_s_ = 0.25;
    std::int64_t first_capture_ns_ = 0, first_arrival_ns_ = 0, last_capture_ns_ = 0;
    std::uint64_t frames_ = 0;
};

/// Starts a new fit when the clock was set or the source was reopened; reports the longest span.
class ClockWatch {
public:
    void add(const FrameInfo& info);
    std::optional<ClockReport> report() const;

private:
    ClockFit fit_;
    std::optional<ClockReport> longest_;
    ClockSteps steps_;
};

/// Time axis for measurements. After a clock was set back it continues with the interval of the two frames
/// before. One thread only.
class GrowingTime {
public:
    /// `follows`: the source reports no gap between this frame and the previous one.
    std::int64_t at(std::int64_t capture_ns, bool follows) {
        std::int64_t time = capture_ns + shift_;
        if (any_ && time < last_) {
            time = last_ + step_;
            shift_ = time - capture_ns;
        } else if (any_ && follows) {
            step_ = time - last_;
        }
        any_ = true;
        return last_ = time;
    }

private:
    std::int64_t last_ = 0, shift_ = 0, step_ = 0;
    bool any_ = false;
};

} // namespace specklescope
