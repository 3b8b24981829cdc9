// The recursive Gaussian's two passes over an image: down strips of columns into memory between them, then
// along groups of rows. Each sweeps forward and backward over cached f32.
#pragma once

#include "stages/gaussian/gaussian_host.hpp"

#include <cstddef>

namespace specklescope {

/// Samples across a strip. Between the passes a strip's rows lie one after the other, for u8 as 16-bit fixed
/// point of 1/128, for other types as f32.
inline constexpr int kGaussianStrip = 64;

struct GaussianSweep {
    ConstHostView input; ///< at least a strip wide
    HostView output;
    Border border = Border::replicate;
    RecursiveGaussian filter;
    int width = 0;  ///< of the image, which a narrow input is padded from
    int margin = 0; ///< crop: pixels left out on every side
    int warmup = 0; ///< reflect, wrap: pixels before and after a line
    /// omit: what a row and a sample of a row are multiplied by; null for other borders.
    const float* row_scale = nullptr;
    const float* column_scale = nullptr;
    std::byte* between = nullptr;
};

constexpr int gaussian_strips(int samples) { return (samples + kGaussianStrip - 1) / kGaussianStrip; }
/// First sample of a strip; the last two overlap so that all are whole.
constexpr int gaussian_strip_begin(int samples, int strip) {
    const int last = samples > kGaussianStrip ? samples - kGaussianStrip : 0;
    return strip * kGaussianStrip < last ? strip * kGaussianStrip : last;
}

std::size_t gaussian_between_bytes(const Shape& input, int rows);
/// 64-byte aligned scratch of one thread for either pass.
std::size_t gaussian_sweep_bytes(const Shape& input, int warmup);

/// Strips that one call of sweep_columns() takes: 256 bytes of a row.
constexpr int gaussian_strips_at_once(PixelType type) { return 4 / static_cast<int>(pixel_bytes(type)); }
/// Strips from block·gaussian_strips_at_once() on.
void sweep_columns(const GaussianSweep& sweep, int block, float* scratch);

/// Rows that are swept along at once on this processor.
int gaussian_group_rows(int channels);
/// Output rows from group·gaussian_group_rows() on.
void sweep_rows(const GaussianSweep& sweep, int group, float* scratch);

} // namespace specklescope
