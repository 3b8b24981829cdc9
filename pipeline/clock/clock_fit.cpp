#include "pipeline/clock/clock_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {
constexpr double kNs = 1e9;
constexpr double kResolution = 1000; ///< ns: resolution of time stamps, which limits the fit over its span

double ppm_fast(double slope) { // from ns of delay per second of the source's clock
    const double lag = slope / kNs;
    return -lag / (1 + lag) * 1e6;
}
} // namespace

void ClockFit::add(std::int64_t capture_ns, std::int64_t arrival_ns) {
    if (frames_ == 0) {
        first_capture_ns_ = capture_ns;
        first_arrival_ns_ = arrival_ns;
    }
    last_capture_ns_ = capture_ns;
    ++frames_;
    const std::int64_t since = capture_ns - first_capture_ns_;
    const Point point{static_cast<double>(since) / kNs,
                      static_cast<double>(arrival_ns - first_arrival_ns_ - since)};
    while (point.t >= block_s_ * static_cast<double>(kBlocks))
        halve();
    blocks_.resize(std::max(blocks_.size(), static_cast<std::size_t>(std::max(point.t, 0.0) / block_s_) + 1));
    Block& block = blocks_.back();
    ++block.frames;
    block.sum_t += point.t;
    block.sum_d += point.d;
    extend(block.hull, point);
}

/// Extends the lower hull; points arrive in the order of t.
void ClockFit::extend(std::vector<Point>& hull, const Point& point) {
    while (hull.size() >= 2) {
        const Point& a = hull[hull.size() - 2];
        const Point& b = hull.back();
        if ((b.t - a.t) * (point.d - a.d) - (point.t - a.t) * (b.d - a.d) > 0)
            break;
        hull.pop_back();
    }
    hull.push_back(point);
    if (hull.size() <= kMostOnHull) // with a steadily falling skew every frame lies on the hull
        return;
    std::size_t kept = 1;
    for (std::size_t i = 2; i + 1 < hull.size(); i += 2)
        hull[kept++] = hull[i];
    hull[kept++] = hull.back();
    hull.resize(kept);
}

void ClockFit::halve() {
    for (std::size_t i = 0; 2 * i < blocks_.size(); ++i) {
        Block both = std::move(blocks_[2 * i]);
        if (2 * i + 1 < blocks_.size()) {
            const Block& later = blocks_[2 * i + 1];
            both.frames += later.frames;
            both.sum_t += later.sum_t;
            both.sum_d += later.sum_d;
            for (const Point& point : later.hull)
                extend(both.hull, point);
        }
        blocks_[i] = std::move(both);
    }
    blocks_.resize((blocks_.size() + 1) / 2);
    block_s_ *= 2;
}

/// Among all lines with no point below them, the one with the smallest sum of distances: the edge of the hull
/// at the mean of t (Moon, Skelly, Towsley 1999).
std::optional<ClockFit::Line> ClockFit::fit(std::size_t first, std::size_t last, std::size_t omitted) const {
    std::vector<Point> hull;
    std::uint64_t frames = 0;
    double sum_t = 0;
    for (std::size_t i = first; i < last; ++i) {
        if (i == omitted)
            continue;
        for (const Point& point : blocks_[i].hull)
            extend(hull, point);
        frames += blocks_[i].frames;
        sum_t += blocks_[i].sum_t;
    }
    if (hull.size() < 2 || frames < 2)
        return std::nullopt;
    const double mean = sum_t / static_cast<double>(frames);
    std::size_t edge = 1;
    while (edge + 1 < hull.size() && hull[edge].t < mean)
        ++edge;
    const Point& a = hull[edge - 1];
    const Point& b = hull[edge];
    if (b.t <= a.t)
        return std::nullopt;
    const double slope = (b.d - a.d) / (b.t - a.t);
    return Line{slope, a.d - slope * a.t};
}

double ClockFit::span_s() const { return static_cast<double>(last_capture_ns_ - first_capture_ns_) / kNs; }

std::optional<ClockReport> ClockFit::report() const {
    const double span = span_s();
    if (frames_ < kLeastFrames || span < kLeastSpan)
        return std::nullopt;
    const std::optional<Line> line = fit(0, blocks_.size(), kNone);
    if (!line)
        return std::nullopt;
    // Jackknife over blocks of time, so that correlated delays count once.
    double slopes = 0, levels = 0, used = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (blocks_[i].frames == 0)
            continue;
        ++used;
        if (const std::optional<Line> without = fit(0, blocks_.size(), i)) {
            slopes += std::pow(without->slope - line->slope, 2);
            levels += std::pow(without->at(span) - line->at(span), 2);
        }
    }
    const double factor = used > 1 ? (used - 1) / used : 1;
    const std::size_t middle = (blocks_.size() + 1) / 2;
    const std::optional<Line> early = fit(0, middle, kNone);
    const std::optional<Line> late = fit(middle, blocks_.size(), kNone);
    double sum_t = 0, sum_d = 0;
    for (const Block& block : blocks_) {
        sum_t += block.sum_t;
        sum_d += block.sum_d;
    }
    const auto frames = static_cast<double>(frames_);
    return ClockReport{.frames = frames_,
                       .span_s = span,
                       .skew_ppm = ppm_fast(line->slope),
                       .skew_error_ppm =
                           std::hypot(std::sqrt(factor * slopes), kResolution / span) / kNs * 1e6,
                       .first_half_ppm = ppm_fast(early.value_or(*line).slope),
                       .second_half_ppm = ppm_fast(late.value_or(*line).slope),
                       .at_capture_ns = last_capture_ns_,
                       .offset_ns = first_arrival_ns_ - first_capture_ns_ + std::llround(line->at(span)),
                       .offset_error_ns = std::hypot(std::sqrt(factor * levels), kResolution),
                       .delay_ms = (sum_d / frames - line->at(sum_t / frames)) * 1e-6};
}

void ClockWatch::add(const FrameInfo& info) {
    const std::int64_t arrival =
        std::chrono::duration_cast<std::chrono::nanoseconds>(info.arrival.time_since_epoch()).count();
    if (info.discontinuity)
        steps_ = {};
    if (steps_.was_set(info.capture_ns, arrival) || info.discontinuity) {
        longest_ = report();
        fit_ = {};
    }
    fit_.add(info.capture_ns, arrival);
}

std::optional<ClockReport> ClockWatch::report() const {
    const std::optional<ClockReport> now = fit_.report();
    return longest_ && (!now || longest_->span_s > now->span_s) ? longest_ : now;
}

std::string to_json(const ClockReport& report) {
    char text[512];
    std::snprintf(text, sizeof text,
                  "{\"skew_ppm\": %.6g, \"skew_error_ppm\": %.3g, \"first_half_ppm\": %.6g, "
                  "\"second_half_ppm\": %.6g, \"at_capture_ns\": %lld, \"offset_ns\": %lld, "
                  "\"offset_error_ns\": %.0f, \"delay_ms\": %.4g, \"span_s\": %.6g, \"frames\": %llu}",
                  report.skew_ppm, report.skew_error_ppm, report.first_half_ppm, report.second_half_ppm,
                  static_cast<long long>(report.at_capture_ns), static_cast<long long>(report.offset_ns),
                  report.offset_error_ns, report.delay_ms, report.span_s,
                  static_cast<unsigned long long>(report.frames));
    return text;
}

std::string to_string(const ClockReport& report) {
    // Show as many decimals as the error justifies.
    const int decimals =
        std::clamp(1 - static_cast<int>(std::floor(std::log10(std::max(report.skew_error_ppm, 1e-9)))), 0, 4);
    constexpr double kTellsDrift = 60; // s: halves of shorter spans are too uncertain
    char halves[96] = "";
    if (report.span_s >= kTellsDrift)
        std::snprintf(halves, sizeof halves, " (first half %+.*f, second %+.*f)", decimals,
                      report.first_half_ppm, decimals, report.second_half_ppm);
    char text[256];
    std::snprintf(
        text, sizeof text,
        "%s by %.*f ± %.*f ppm relative to this computer over %.0f s%s; frames came %.3g ms later than the "
        "quickest",
        report.skew_ppm < 0 ? "slow" : "fast", decimals, std::abs(report.skew_ppm), decimals,
        report.skew_error_ppm, report.span_s, halves, report.delay_ms);
    return text;
}

} // namespace specklescope
