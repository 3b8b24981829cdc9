// Dark frame and flat field: parameters and declaration, shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/image.hpp"
#include "pipeline/stage.hpp"

#include <cstddef>
#include <string>
#include <vector>

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

    bool captures() const { return dark == From::capture || flat == From::capture; }
    bool passes() const { return dark == From::none && flat == From::none && black == 0; }
};

StageType background_stage();
std::unique_ptr<DeviceStage> make_background_device(const Params& params);

/// Mean of the pages of a file: rows of `stride` samples.
struct CalibrationFile {
    std::vector<float> plane; ///< empty if no file was read
    int pages = 0;            ///< number of averaged pages
    Quantity quantity{};      ///< as recorded by this program; nothing if not stated
};
/// Pages that count of a file with several, if its name selects none.
enum class PagesUsed : std::uint8_t { mean, last };

/// Reads `name`: a PNG, JPEG, TIFF or EXR file, or an NPY file with one image or a stack; with "?page=N" only
/// page N, counted from 1. Throws a UsageError that starts with `what` ("stage background: dark_file") if the
/// file is not readable, has no such page, or a page does not have the input's size and channels.
CalibrationFile read_calibration(const std::string& what, const std::string& name, const Shape& input,
                                 std::size_t stride, PagesUsed used = PagesUsed::mean);

// Calibration of the camera for stage background: dark frame, flat field and their captures. Shared by host
// and device, which only add frames and apply the two planes.

/// (I − dark)·gain; `mark` at `threshold` and above. NaN stays NaN.
SPECKLESCOPE_BOTH inline float corrected(float sample, float dark, float gain, float threshold, float mark) {
    const float value = (sample - dark) * gain;
    return sample >= threshold && value == value ? mark : value;
}

/// Planes have rows of `stride` samples (pixels × channels, then padding).
class Calibration {
public:
    struct Saturation {
        float threshold, mark; ///< both +∞ without a full scale
    };

    explicit Calibration(const BackgroundParams& params);

    /// Reads the files (read_calibration()). Throws UsageError if a file is not set, is not readable or does
    /// not have the input's size and channels.
    void prepare(const Shape& input, std::size_t stride);
    /// Takes over the captures of the calibration that this one replaces, if its input was the same; an
    /// incomplete capture starts again. Do not use `old` afterwards.
    void inherit(Calibration& old);
    /// Sets new values of black, frames and the buttons.
    void set_params(const BackgroundParams& params);
    /// Restarts an incomplete capture.
    void reset() {
        taken_ = 0;
        ends_capture_ = false;
    }

    /// Whether this frame is added to the sums of a capture; `first`: it starts them.
    struct Take {
        bool take = false, first = false, last = false;
    };
    /// Call once per run.
    Take next(bool again);
    /// Call after the last frame of a capture, with the sums of its frames in planes of the same layout.
    void finish(const double* sums);
    /// Complete with the first frame after a capture: the last captured frame still belongs to it.
    Warmup warmup() const;

    /// One number if `dark` is `none`, otherwise a plane.
    const std::vector<float>& dark() const { return dark_; }
    /// One number if `flat` is `none`, otherwise a plane.
    const std::vector<float>& gain() const { return gain_; }
    /// Changes with dark() and gain().
    unsigned version() const { return version_; }
    Saturation saturation(const FrameInfo& info) const;
    std::string note() const;

private:
    CalibrationFile read(const char* part, const std::string& name) const;
    /// Data in use: the file's image or the capture; empty without either.
    const std::vector<float>& measured_dark() const;
    const std::vector<float>& measured_flat() const;
    void make_planes();
    bool make_gain_of_channel(int channel);
    template <class F> void for_channel(int channel, F&& f) const;

    BackgroundParams params_;
    Shape input_;
    std::size_t stride_ = 0;
    CalibrationFile file_dark_, file_flat_;
    std::vector<float> captured_dark_, captured_flat_; ///< empty until captured
    std::vector<float> dark_, gain_;
    double largest_gain_ = 1, smallest_offset_ = 0; ///< offset: dark·gain
    std::uint64_t without_light_ = 0;
    unsigned version_ = 0;
    bool wants_dark_ = false, wants_flat_ = false;
    int taken_ = 0;             ///< frames of the current capture
    int wanted_ = 1;            ///< frames it needs
    bool ends_capture_ = false; ///< the last run completed a capture
};

} // namespace specklescope
