// Skew and offset of a source's clock, from capture times on that clock and arrival times here. Frames arrive
// late by a varying time and never early, so the fit follows the smallest delays, not the mean:
// docs/science.md.
#pragma once

#include "pipeline/clock/clock_report.hpp"
#include "pipeline/clock/clock_steps.hpp"
#include "pipeline/frame.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace specklescope {

/// Keeps only the lower convex hull, so that memory does not grow with the run. One thread only.
class ClockFit {
public:
    /// Times in ns; captures in order.
    void add(std::int64_t capture_ns, std::int64_t arrival_ns);
    /// Nothing before kLeastFrames and kLeastSpan.
    std::optional<ClockReport> report() const;
    double span_s() const;

    static constexpr std::uint64_t kLeastFrames = 50;
    static constexpr double kLeastSpan = 5; ///< s

private:
    struct Point {
        double t = 0; ///< s on the source's clock since the first frame
        double d = 0; ///< ns by which arrival lags behind capture since the first frame
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
    /// Fits the blocks [first, last) without block `left_out`.
    std::optional<Line> fit(std::size_t first, std::size_t last, std::size_t left_out) const;

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

} // namespace specklescope
