// Dark frame and flat field: parameters and declaration, shared by host and device.
#pragma once

#include "pipeline/stage.hpp"

#include <string>

namespace specklescope {

/// (I − dark)/(flat − dark)·⟨flat − dark⟩ of each sample, f32, 1 or 3 channels, with one mean per channel. A
/// file contains one image of the input's size and channels in the camera's numbers, or several, which are
/// averaged (calibration_file.hpp).
///
/// A capture uses the first `frames` frames, dark before flat, and starts again when its button is pressed;
/// until it is complete, the previous one stays in use. Repeated frames (RunContext::again) are not captured.
/// A complete capture belongs to the camera: it survives reset(), edits of this stage and being unused.
///
/// Samples where flat − dark is below 1 % of its mean are NaN. Samples at full scale become the full scale
/// set by describe(), which no other sample reaches, so that later stages still count them as saturated.
/// Without anything to subtract or divide by, the stage passes: pixels keep their type and nothing is
/// counted.
struct BackgroundParams {
    enum class From : std::uint8_t { none, file, capture };

    From dark = From::none;
    std::string dark_file;
    double black = 0; ///< DN, used without a dark frame
    From flat = From::none;
    std::string flat_file;
    int frames = 16;
    int capture_dark = 0, capture_flat = 0; ///< number of button presses

    bool passes() const { return dark == From::none && flat == From::none && black == 0; }
};

StageType background_stage();
std::unique_ptr<DeviceStage> make_background_device(const Params& params);

} // namespace specklescope
