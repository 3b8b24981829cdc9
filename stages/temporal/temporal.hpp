// Temporal speckle contrast and flow: parameters and declaration, shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"

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
};

StageType temporal_stage();
std::unique_ptr<DeviceStage> make_temporal_device(const Params& params);

} // namespace specklescope
