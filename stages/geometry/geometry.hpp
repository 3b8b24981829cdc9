// Stages that select and move pixels: crop, flip, rotate90 and downsample. Exact for every pixel type; the
// quantity stays the same.
#pragma once

#include "pipeline/stage.hpp"

namespace specklescope {

/// A rectangle of the image, in input pixels; the origin is at the top left.
struct CropParams {
    int x = 0, y = 0;
    int width = 0, height = 0; ///< 0: to the right and lower edge
};

struct FlipParams {
    enum class Direction : std::uint8_t {
        horizontal, ///< swaps left and right
        vertical,   ///< swaps top and bottom
        both        ///< half a turn
    };
    Direction direction = Direction::horizontal;
};

struct RotateParams {
    int turns = 1; ///< quarter turns, clockwise as seen on the screen
};

/// Like binning in a camera: blocks of factor × factor pixels become one. Columns on the right and rows below
/// that do not fill a block are cut off.
struct DownsampleParams {
    enum class Method : std::uint8_t {
        /// mean of the block; integers rounded to nearest, ties to even; f32 summed in f64 over the finite
        /// samples
        mean,
        nearest ///< the block's first pixel
    };
    static constexpr int kMaxFactor = 16;
    int factor = 2;
    Method method = Method::mean;
};

/// Throws UsageError with the allowed values if the rectangle is not inside the image.
Shape crop_shape(const CropParams& params, const Shape& input);
/// Width and height are swapped for one and three turns.
Shape rotate_shape(const RotateParams& params, const Shape& input);
/// Throws UsageError if the factor is larger than the image's shorter side.
Shape downsample_shape(const DownsampleParams& params, const Shape& input);

StageType crop_stage();
StageType flip_stage();
StageType rotate_stage();
StageType downsample_stage();
std::unique_ptr<DeviceStage> make_crop_device(const Params& params);
std::unique_ptr<DeviceStage> make_flip_device(const Params& params);
std::unique_ptr<DeviceStage> make_rotate_device(const Params& params);
std::unique_ptr<DeviceStage> make_downsample_device(const Params& params);

} // namespace specklescope
