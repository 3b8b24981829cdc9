// Temporal speckle contrast and flow: parameters and declaration, shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"
#include "stages/history.hpp"

namespace specklescope {

/// Maximum number of samples in a pixel's running sums.
inline constexpr int kMaxTemporalFrames = 500;

/// K = s/⟨I⟩ of each pixel over its last `frames` samples, sample standard deviation (Duncan and Kirkpatrick
/// 2008). Uses fewer frames while it fills; one frame gives NaN.
struct TemporalParams {
    static constexpr int kMaxFrames = kMaxTemporalFrames;

    int frames = 25;
    double exposure_ms = 10;
    ContrastOutput output = ContrastOutput::sfi;
    ContrastExtras extras{}; ///< without speckle_size
};

StageType temporal_stage();
std::unique_ptr<DeviceStage> make_temporal_device(const Params& params);

// Common base of the stages for contrast over the last frames, on host and device.

/// Stage: HostStage or DeviceStage. Values: its parameters; `exposure_ms`, `output` and `extras` are free or
/// the same in all, `frames` is the length of the window.
template <class Stage, class Values> class ContrastOverTime : public Stage {
public:
    explicit ContrastOverTime(const Params& params)
        : params_(params.as<Values>()), history_(params_.frames), counted_frames_(params_.frames) {}

    void set_params(const Params& params) final {
        const auto& values = params.as<Values>();
        params_.exposure_ms = values.exposure_ms;
        params_.output = values.output;
        params_.extras = values.extras;
    }
    void reset() override { history_.reset(); }
    void count_over(int frames) final { counted_frames_ = history_.frames() + frames - 1; }
    Warmup warmup() const final { return history_.warmup(); }
    Counted counted() const final { return {.undefined = true, .saturated = true}; }
    void describe(FrameInfo& info) const final { info.full_scale = 0; }

protected:
    Values params_;
    History history_;
    int counted_frames_; ///< frames for which a sample at full scale counts
};

} // namespace specklescope
