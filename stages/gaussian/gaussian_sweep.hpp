// The recursive Gaussian's two passes over an image: along strips of columns into intermediate memory, then
// along groups of rows. Each runs forward and backward over cached f32.
#pragma once

#include "stages/gaussian/gaussian_host.hpp"

#include <cstddef>

namespace specklescope {

/// Samples across a strip. Between the passes a strip's rows are contiguous: for u8 as 16-bit fixed point of
/// 1/128, for other types as f32.
inline constexpr int kGaussianStrip = 64;

struct GaussianSweep {
    ConstHostView input; ///< at least one strip wide
    HostView output;
    Border border = Border::replicate;
    RecursiveGaussian filter;
    int width = 0;  ///< of the image; a narrower input is padded
    int margin = 0; ///< crop: pixels omitted on every side
    int warmup = 0; ///< reflect, wrap: pixels before and after a line
    /// omit: factors of rows and of samples in a row; null for other borders.
    const float* row_scale = nullptr;
    const float* column_scale = nullptr;
    std::byte* between = nullptr;
};

constexpr int gaussian_strips(int samples) { return (samples + kGaussianStrip - 1) / kGaussianStrip; }
/// First sample of a strip; the last two strips overlap so that all are complete.
constexpr int gaussian_strip_begin(int samples, int strip) {
    const int last = samples > kGaussianStrip ? samples - kGaussianStrip : 0;
    return strip * kGaussianStrip < last ? strip * kGaussianStrip : last;
}

std::size_t gaussian_between_bytes(const Shape& input, int rows);
/// Scratch memory of one thread for either pass, 64-byte aligned.
std::size_t gaussian_sweep_bytes(const Shape& input, int warmup);

/// Strips per call of sweep_columns(): 256 bytes of a row.
constexpr int gaussian_strips_at_once(PixelType type) { return 4 / static_cast<int>(pixel_bytes(type)); }
/// Processes strips from block·gaussian_strips_at_once() on.
void sweep_columns(const GaussianSweep& sweep, int block, float* scratch);

/// Rows processed together on this processor.
int gaussian_group_rows(int channels);
/// Processes output rows from group·gaussian_group_rows() on.
void sweep_rows(const GaussianSweep& sweep, int group, float* scratch);

} // namespace specklescope
