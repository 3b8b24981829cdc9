// Which frames belong to a sum, and the facts about it.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "pipeline/counts.hpp"
#include "stages/sum/sum.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

constexpr double kMostDeadTime = 0.05; ///< relative; above, n exposures are not one of n times the length
constexpr double kSameExposure = 1e-3; ///< relative; chunk data vary by steps of the camera's clock
constexpr int kIntervals = 32;         ///< of the mean

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

} // namespace

std::vector<int> frames_per_sum(const SumParams& params) {
    std::vector<int> sums;
    for (const double frames : number_list(params.frames).value_or(std::vector{0.0})) {
        if (!(frames >= 1 && frames <= SumParams::kMostFrames && frames == std::floor(frames)))
            throw UsageError("stage sum: frames = " + params.frames +
                             " is not a list of numbers of frames. Give whole numbers from 1 to " +
                             std::to_string(SumParams::kMostFrames) + " joined by +, such as 1+2+4+8.");
        sums.push_back(static_cast<int>(frames));
    }
    if (sums.size() > SumParams::kMostSums)
        throw UsageError("stage sum: frames has " + std::to_string(sums.size()) + " numbers. Give at most " +
                         std::to_string(SumParams::kMostSums) + ".");
    return sums;
}

SumSchedule::SumSchedule(const SumParams& params)
    : sums_(frames_per_sum(params)),
      cycle_(static_cast<std::size_t>(std::accumulate(sums_.begin(), sums_.end(), 0))), wanted_(sums_[0]) {}

void SumSchedule::reset() {
    last_.reset();
    held_ = shown_ = intervals_ = 0;
    wanted_ = sums_[0];
    interval_ns_ = exposed_ns_ = 0;
}

/// Frames before a seek target have the number of the target in the sequence. A chain with stage mesi
/// continues when the camera changes its exposure; a sum does not.
bool SumSchedule::follows(const FrameInfo& info, std::uint64_t number) {
    const double exposed_ns = info.exposure_ms > 0 ? 1e6 * info.exposure_ms : 0;
    const bool same = std::abs(exposed_ns - exposed_ns_) <= kSameExposure * exposed_ns_;
    const bool next = last_ && same && number == last_->number + 1 && info.sequence <= last_->sequence + 1;
    if (!same)
        interval_ns_ = intervals_ = shown_ = 0;
    const auto interval =
        next && info.has_time() ? static_cast<double>(info.capture_ns - last_->capture_ns) : 0;
    if (interval > 0) {
        intervals_ = std::min(intervals_ + 1, kIntervals);
        interval_ns_ += (interval - interval_ns_) / intervals_;
    }
    timed_ = info.has_time();
    exposed_ns_ = exposed_ns;
    last_ = {number, info.sequence, info.capture_ns};
    return next;
}

/// Also false for exposures longer than the interval: one of the two is wrong.
bool SumSchedule::is_exposure() const { return std::abs(dead_time()) <= kMostDeadTime; }

SumStep SumSchedule::next(const FrameInfo& info, bool again, PixelType type) {
    const auto threshold = type == PixelType::f32 ? std::nullopt : saturation_threshold(type, info);
    SumStep step{.marks = threshold.has_value(), .threshold = static_cast<float>(threshold.value_or(0))};
    unfinished_ = true;
    if (!again || !last_ || info.left_out()) {
        const std::uint64_t number = info.position.value_or(info.sequence);
        if (!follows(info, number))
            held_ = 0;
        auto place = static_cast<int>(number % cycle_);
        std::size_t i = 0;
        for (; place >= sums_[i]; ++i)
            place -= sums_[i];
        wanted_ = sums_[i];
        step.first = place == 0;
        step.take = (step.first || place == held_) && !info.left_out();
        held_ = step.take ? place + 1 : 0;
        if (held_ == wanted_)
            complete(type, wanted_, step);
    }
    step.shows = shown_ > 0;
    return step;
}

void SumSchedule::complete(PixelType type, int frames, SumStep& step) {
    held_ = 0;
    if (frames > 1 && !is_exposure()) {
        if (!std::exchange(warned_, true))
            run_log().warn("Stage sum: {}.", note());
        return;
    }
    step.ends = true;
    unfinished_ = false;
    shown_ = frames;
    integers_ = type != PixelType::f32;
}

void SumSchedule::describe(FrameInfo& info) const {
    info.unfinished = unfinished_;
    info.full_scale = 0; // f32; saturated samples are counted by this stage
    info.summed = std::max(shown_, 1);
    info.summed_integers = integers_;
}

Warmup SumSchedule::warmup() const {
    return passes() ? Warmup{} : shown_ > 0 ? Warmup{{}, 1, 1} : Warmup{{}, held_, wanted_};
}

std::string SumSchedule::note() const {
    if (passes() || !last_)
        return {};
    if (!(exposed_ns_ > 0))
        return "the frames state no exposure, so dead time is not checked";
    if (!(interval_ns_ > 0))
        return timed_ ? "" : "the frames have no times, so dead time is not checked";
    const double dead = dead_time();
    if (is_exposure())
        return percent(std::max(dead, 0.0)) + " dead time";
    return dead > 0
               ? percent(dead) + " of the time between frames is not exposed, so that sums are no longer "
                                 "exposures. Raise the exposure or the frame rate"
               : "the exposure is longer than the time between frames, so that one of the two is wrong";
}

} // namespace specklescope
