// Calibration of a camera from recordings: gain, read noise and offset by photon transfer, β and speckle size
// from a static scatterer, maps of the dark signal, the response and bad pixels.
#pragma once

#include "pipeline/image.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// Sums over the frames of one recording. Frames are grey, of one size and of one exposure.
///
/// Noise is taken from differences of consecutive frames, so that a fixed pattern, uneven light and static
/// speckle do not count as noise (Janesick 2007, Photon Transfer; EMVA 1288).
class CalibrationRecording {
public:
    static constexpr int kMostFrames = 256;

    explicit CalibrationRecording(std::string name) : name_(std::move(name)) {}
    /// Throws UsageError for colour and for another size than the first frame.
    void add(ConstHostView frame, double full_scale);

    const std::string& name() const { return name_; }
    int frames() const { return frames_; }
    const Shape& shape() const { return shape_; }
    double full_scale() const { return full_scale_; } ///< 0: none
    bool whole_numbers() const { return shape_.type != PixelType::f32; }
    /// Per pixel, over time.
    std::vector<float> mean() const;
    /// Half the mean square of the differences of frame pairs, each pair scaled to its common mean.
    std::vector<float> variance() const;
    /// Largest relative difference of the means of two frames of a pair.
    double flicker() const { return flicker_; }
    /// Correlation of horizontal neighbours in the differences: 0 for noise of independent pixels.
    double neighbours() const;
    double saturated_share() const; ///< of all samples
    const std::vector<float>& first() const { return first_; }
    const std::vector<float>& second() const { return second_; }
    const std::vector<float>& last() const { return previous_; }
    /// Mean of the even and of the odd frames, whose noise is independent.
    std::vector<float> half_mean(bool odd) const;

private:
    std::string name_;
    Shape shape_;
    int frames_ = 0, pairs_ = 0;
    double full_scale_ = 0, flicker_ = 0;
    std::uint64_t saturated_ = 0;
    double products_ = 0, squares_ = 0; ///< of neighbouring differences
    std::vector<double> even_, odd_, differences_;
    std::vector<float> first_, second_, previous_;
};

/// Mean of all frames and of the pixels that are not in `bad` (empty: none).
double mean_level(const CalibrationRecording& recording, const std::vector<std::uint8_t>& bad);

/// Variance of a pixel against its mean: var = gain·(mean − offset) + read_noise².
struct PhotonTransfer {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double gain = kNone;       ///< DN per electron
    double gain_error = kNone; ///< standard error
    double at_zero = kNone;    ///< DN²: variance of the line at a mean of 0
    double read_noise = kNone; ///< DN, without quantisation; NaN without a dark recording
    double offset = kNone;     ///< DN: mean of the dark recording; NaN without one
    /// Largest relative difference of a recording's variance from the line: above 5 % the camera is not
    /// linear or the light was not steady.
    double residual = kNone;
    struct Level {
        std::string recording;
        double mean = 0, variance = 0; ///< DN, DN²
    };
    std::vector<Level> levels; ///< as measured, darkest first
};

/// From two or more evenly lit recordings of different levels, or one and a dark one (may be null). Leaves
/// out pixels in `bad` (empty: none). Throws UsageError with the reason where a recording is unsuitable:
/// fewer than two frames, saturated, flicker, something that moves, levels that are too close.
PhotonTransfer photon_transfer(const std::vector<CalibrationRecording>& lit, const CalibrationRecording* dark,
                               const std::vector<std::uint8_t>& bad);

/// Pixels that the dark recording (may be null) or the brightest lit one shows as unusable: dark signal or
/// noise far from that of the others, or a response below half or above one and a half times that of the
/// neighbourhood. 1: bad.
std::vector<std::uint8_t> bad_pixels(const std::vector<CalibrationRecording>& lit,
                                     const CalibrationRecording* dark);

struct StaticScatterer {
    double beta = 0;         ///< K² at T → 0: variance of the speckle over its mean²
    double beta_error = 0;   ///< standard error over the blocks of the image
    double speckle_size = 0; ///< px, full width at half maximum of the intensity's autocovariance
    double steadiness = 1;   ///< correlation of the first with the last frame over that of the first two
    double residual = 0; ///< r.m.s. difference of the autocovariance from that of a round pupil of this size
    /// Autocovariance over that at 0, mean of both axes, at lags 0, 1, 2 … px.
    std::vector<double> autocovariance;
};

/// Static speckle without noise: covariances between the means of even and of odd frames, within blocks of
/// `kStaticBlock` px whose trend of light (a plane) is divided out. `offset`: dark signal, DN. Throws
/// UsageError where the scatterer moves, is saturated, or has no speckle.
inline constexpr int kStaticBlock = 64;
StaticScatterer static_scatterer(const CalibrationRecording& still, double offset,
                                 const std::vector<std::uint8_t>& bad);

} // namespace specklescope
