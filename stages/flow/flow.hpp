// Conversion from speckle contrast to flow as a separate stage: K² can be averaged first and converted
// afterwards. Parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope {

/// Each sample K or K², f32, one channel, becomes index = 1/(2·T·K²) in 1/s, tau = 2·T·K² in s (Yang 2011,
/// eqs. 3 and 2) or bfi = 1/K². K = 0 gives an infinite index; NaN and negative samples, which are no
/// contrast, give NaN. speckle:output=contrast2 | flow equals speckle:output=sfi up to the rounding of K².
struct FlowParams {
    enum class Input : std::uint8_t {
        automatic, ///< from the chain before the stage; settled before a stage is made
        contrast,
        contrast2
    };
    enum class Output : std::uint8_t { index, tau, bfi };

    Input input = Input::automatic;
    Output output = Output::index;
    double exposure_ms = 10;
};

/// The input's shape. Throws UsageError if input = auto is not settled.
Shape flow_shape(const FlowParams& params, const Shape& input);

/// K² is the sample or its square; the result is c/K² or c·K².
struct FlowScale {
    bool squares = false;
    bool divides = true;
    float c = 1;
};
/// `params` after settling.
FlowScale flow_scale(const FlowParams& params, const FrameInfo& info);

/// Every operation is rounded once: the same bits on host and device.
SPECKLESCOPE_BOTH inline float flow_value(float sample, const FlowScale& scale) {
    const float contrast2 = scale.squares ? sample * sample : std::fabs(sample); // removes −0
    const float value = scale.divides ? scale.c / contrast2 : scale.c * contrast2;
    return sample >= 0 ? value : NAN;
}

StageType flow_stage();
std::unique_ptr<DeviceStage> make_flow_device(const Params& params);

/// flow_value() of every sample; adds undefined and infinite results to `counts`.
void run_flow_row(const float* input, int width, const FlowScale& scale, float* output, PixelCounts& counts);

} // namespace specklescope
