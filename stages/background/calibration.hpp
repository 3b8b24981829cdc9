// What stage background knows of the camera: dark frame, flat field, and the captures they come from. The
// same for host and device, which only add up frames and apply the two planes.
#pragma once

#include "base/host_device.hpp"
#include "stages/background/background.hpp"
#include "stages/background/calibration_file.hpp"

#include <vector>

namespace specklescope {

/// (I − dark)·gain; at `threshold` and above, `mark`. NaN stays NaN.
SPECKLESCOPE_BOTH inline float corrected(float sample, float dark, float gain, float threshold, float mark) {
    const float value = (sample - dark) * gain;
    return sample >= threshold && value == value ? mark : value;
}

/// Planes of `stride` samples a row (pixels × channels, then padding).
class Calibration {
public:
    struct Saturation {
        float threshold, mark; ///< both +∞ where nothing saturates
    };

    explicit Calibration(const BackgroundParams& params);

    /// Reads the files, read_calibration(). Throws UsageError if one is not named, cannot be read or is not
    /// of the input's size and channels.
    void prepare(const Shape& input, std::size_t stride);
    /// Takes over the captures of the calibration that this one replaces, if its input was the same; one that
    /// is not complete starts afresh. `old` is of no use afterwards.
    void inherit(Calibration& old);
    /// New values of black, frames and the buttons.
    void set_params(const BackgroundParams& params);
    /// A capture that is not complete starts afresh.
    void reset() {
        taken_ = 0;
        ends_capture_ = false;
    }

    /// Whether this frame goes into the sums of a capture; `first`: as their beginning.
    struct Take {
        bool take = false, first = false, last = false;
    };
    /// Asked once a run.
    Take next(bool again);
    /// After the last frame of a capture: the sums of its frames, in planes as here.
    void finish(const double* sums);
    /// Done with the first frame behind a capture: its last one is still of it.
    Warmup warmup() const;

    /// Empty where there is nothing to correct.
    const std::vector<float>& dark() const { return dark_; }
    const std::vector<float>& gain() const { return gain_; }
    /// Changes with the planes.
    unsigned version() const { return version_; }
    Saturation saturation(const FrameInfo& info) const;
    std::string note() const;

private:
    CalibrationFile read(const char* part, const std::string& name) const;
    /// What is in use: the file's image or the capture; empty where there is none.
    const std::vector<float>& measured_dark() const;
    const std::vector<float>& measured_flat() const;
    void make_planes();
    bool make_gain_of_channel(int channel);
    template <class F> void for_channel(int channel, F&& f) const;

    BackgroundParams params_;
    Shape input_;
    std::size_t stride_ = 0;
    CalibrationFile file_dark_, file_flat_;
    std::vector<float> captured_dark_, captured_flat_; ///< empty until there is one
    std::vector<float> dark_, gain_;
    double largest_gain_ = 1, smallest_offset_ = 0; ///< offset: dark·gain
    std::uint64_t without_light_ = 0;
    unsigned version_ = 0;
    bool wants_dark_ = false, wants_flat_ = false;
    int taken_ = 0;             ///< frames of the present capture
    int wanted_ = 1;            ///< frames it takes
    bool ends_capture_ = false; ///< the frame of the last run was the last of one
};

} // namespace specklescope
