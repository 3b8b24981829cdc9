// Blur by separable taps, one slab of rows at a time: along the columns into f32 scratch, then along its
// rows.
#pragma once

#include "pipeline/image.hpp"
#include "stages/border.hpp"

#include <cstddef>

namespace specklescope {

/// Blur of one image; `taps` has 2·radius + 1 weights.
struct GaussianSlab {
    ConstHostView input;
    HostView output; ///< smaller by 2·radius with border = crop
    Border border = Border::replicate;
    int radius = 0;
    const float* taps = nullptr;
    /// omit: factors of rows and of samples in a row; null for other borders.
    const float* row_scale = nullptr;
    const float* column_scale = nullptr;
    // u8 is summed in 16-bit integers if one of these is set, except with border omit.
    bool binomial = false; ///< taps are those of binomial3 or binomial5
    /// the middle tap and those to its right, ·2¹⁵; the kernel sums to 2¹⁵
    const std::int16_t* fixed = nullptr;
};

inline constexpr int kGaussianSlabRows = 16; ///< an estimate
/// Largest radius in fixed point: beyond it, rounding errors add up.
inline constexpr int kGaussianFixedRadius = 12;

/// Scratch memory of one thread, 64-byte aligned and zeroed: a slab with its border, and a row of zeros.
std::size_t gaussian_slab_bytes(const Shape& input, int radius);

/// Rows [y0, y1) of the output, at most kGaussianSlabRows.
void run_gaussian_slab(const GaussianSlab& slab, int y0, int y1, std::byte* scratch);

} // namespace specklescope
