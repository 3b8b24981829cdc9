// Spatial speckle contrast and flow: parameters, declaration and coefficients shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"

namespace specklescope {

/// K = s/⟨I⟩ over (2·radius+1)² pixels, sample standard deviation (Yang, Cuccia, Choi 2011, eq. 1). `border`:
/// one of contrast_borders(), or omit.
struct SpeckleParams {
    using Output = ContrastOutput;
    static constexpr int kMaxRadius = 15;

    int radius = 3;
    double exposure_ms = 10;
    Output output = Output::sfi;
    Border border = Border::replicate; ///< or omit: windows of the existing pixels
};

/// Shape of the result: f32, one channel; smaller by 2·radius with border = crop. Throws UsageError if the
/// radius (crop: the window) is larger than the image.
Shape speckle_shape(const SpeckleParams& params, const Shape& input);

/// contrast_scale() for the (2·radius+1)² samples of a window.
ContrastScale speckle_scale(const SpeckleParams& params, const FrameInfo& info);

StageType speckle_stage();
std::unique_ptr<DeviceStage> make_speckle_device(const Params& params);

} // namespace specklescope
