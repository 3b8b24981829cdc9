// Dark frame and flat field: parameters and declaration, shared by host and device.
#pragma once

#include "pipeline/stage.hpp"

#include <string>

namespace specklescope {

/// (I − dark)/(flat − dark)·⟨flat − dark⟩ of each sample, f32, 1 or 3 channels, the mean for each channel by
/// itself. A file holds one image of the input's size and channels, in the camera's numbers, or several,
/// whose mean it is (calibration_file.hpp). A capture takes the first `frames` frames, dark before flat, and
/// others whenever its button is pressed; until it is complete, what it replaces goes on. A frame shown again
/// (RunContext::again) goes into no capture. A complete capture outlives reset(), edits of this stage, and a
/// time in which it is not used: it belongs to the camera, not to the stream. Samples where flat − dark is
/// below 1 % of its mean are NaN. Samples at full scale become the full scale that describe() tells, which no
/// other sample reaches, so that stages behind still see them as saturated. With nothing to subtract or
/// divide by, the stage passes: pixels go on as they are, in their own type, and nothing is counted.
struct BackgroundParams {
    enum class From : std::uint8_t { none, file, capture };

    From dark = From::none;
    std::string dark_file;
    double black = 0; ///< DN, in place of a dark frame
    From flat = From::none;
    std::string flat_file;
    int frames = 16;
    int capture_dark = 0, capture_flat = 0; ///< how often the button was pressed

    bool passes() const { return dark == From::none && flat == From::none && black == 0; }
};

StageType background_stage();
std::unique_ptr<DeviceStage> make_background_device(const Params& params);

} // namespace specklescope
