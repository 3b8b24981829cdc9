// Power law: parameters, level table and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"

#include <cmath>
#include <vector>

namespace specklescope {

/// v → F·(v/F)^gamma with full scale F, so that black and full scale are unchanged: below 1 brightens, above
/// 1 darkens (skimage.exposure.adjust_gamma). Keeps shape and type; integers are rounded to nearest, ties to
/// even, then clamped.
struct GammaParams {
    static constexpr double kMin = 0.1, kMax = 10;
    double gamma = 0.5;
};

/// F: the camera's full scale if known, otherwise the type's, 1 for f32.
double gamma_full_scale(PixelType type, const FrameInfo& info);

/// Output of each level, 0…255 or 0…65535, of an integer image.
std::vector<std::uint16_t> gamma_levels(const GammaParams& params, PixelType type, double full_scale);

/// For f32. Odd function: negative samples stay negative; NaN stays NaN.
struct GammaCurve {
    float full, inverse, gamma;
    SPECKLESCOPE_BOTH float operator()(float v) const {
        return copysignf(full * powf(fabsf(v) * inverse, gamma), v);
    }
};
GammaCurve gamma_curve(const GammaParams& params, const FrameInfo& info);

StageType gamma_stage();
std::unique_ptr<DeviceStage> make_gamma_device(const Params& params);

} // namespace specklescope
