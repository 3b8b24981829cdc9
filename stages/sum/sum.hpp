// Sums of consecutive frames as longer exposures: parameters, schedule and arithmetic, shared by host and
// device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// Adds consecutive frames of a camera without dead time: n frames of exposure T are one of n·T. Sums do not
/// overlap, so that their noise is independent. Until the next sum is complete, the image is the last one
/// (FrameInfo::unfinished).
struct SumParams {
    static constexpr int kMostFrames = 4096; ///< exact for 12 bits
    static constexpr int kMostSums = 16;     ///< of a cycle, as many as stage mesi takes

    std::string frames = "1"; ///< per sum, one after another: "1+2+4+8"; "1": the frames as they are
};

/// Frames per sum. Throws UsageError.
std::vector<int> frames_per_sum(const SumParams& params);

/// Use of one frame.
struct SumStep {
    bool take = false;  ///< adds the frame
    bool first = false; ///< to an empty sum
    bool ends = false;  ///< the sum is complete
    bool shows = false; ///< a complete sum exists, this one or an earlier one
    bool marks =
        false; ///< of integers: sums with a sample from `threshold` on are stored as negative numbers
    float threshold = 0; ///< saturated samples
};

/// The sum with one more sample. Its value stays the sum of the samples, so that one at full scale among many
/// frames changes K² little; the sign is for counting.
SPECKLESCOPE_BOTH inline float sum_with(float before, float sample, const SumStep& step) {
    const float start = step.first ? 0.0F : before;
    if (!step.marks)
        return sum(start, sample);
    const float total = sum(fabsf(start), sample);
    return start < 0 || sample >= step.threshold ? -total : total;
}
SPECKLESCOPE_BOTH inline float sum_value(float stored, const SumStep& step) {
    return step.marks ? fabsf(stored) : stored;
}
SPECKLESCOPE_BOTH inline bool is_saturated(float stored, const SumStep& step) {
    return step.marks && stored < 0;
}

/// Assigns frames to sums by their numbers, so that a seek gives the sums of a run. A sum is complete if all
/// of its frames follow each other and their exposures fill the time between them.
class SumSchedule {
public:
    explicit SumSchedule(const SumParams& params);

    /// True if each sum is one frame.
    bool passes() const { return cycle_ == sums_.size(); }
    void reset();
    SumStep next(const FrameInfo& info, bool again, PixelType type);
    void describe(FrameInfo& info) const;
    Warmup warmup() const;
    std::string note() const;

private:
    struct Seen {
        std::uint64_t number = 0, sequence = 0;
        std::int64_t capture_ns = 0;
    };
    bool follows(const FrameInfo& info, std::uint64_t number);
    /// Share of the time between frames that is not exposed; 0: unknown.
    double dead_time() const {
        return interval_ns_ > 0 && exposed_ns_ > 0 ? 1 - exposed_ns_ / interval_ns_ : 0;
    }
    bool is_exposure() const;
    void complete(PixelType type, int frames, SumStep& step);

    std::vector<int> sums_;
    std::size_t cycle_ = 1; ///< frames of all sums
    std::optional<Seen> last_;
    int held_ = 0;                            ///< frames in the present sum
    int wanted_ = 1;                          ///< of the present sum
    double interval_ns_ = 0, exposed_ns_ = 0; ///< mean of the last intervals; 0: unknown
    int intervals_ = 0;
    int shown_ = 0; ///< frames of the last complete sum; 0: none
    bool integers_ = false, unfinished_ = false, timed_ = false, warned_ = false;
};

/// Symbol of summed light, whose black level and dark frame are those of several frames.
inline constexpr const char* kSumSymbol = "ΣI";

StageType sum_stage();
std::unique_ptr<DeviceStage> make_sum_device(const Params& params);

} // namespace specklescope
