// Blur by separable taps, a slab of rows at a time: down the columns into f32 scratch, then along its rows.
#pragma once

#include "pipeline/image.hpp"
#include "stages/border.hpp"

#include <cstddef>

namespace specklescope {

/// One image's blur; `taps` has 2·radius + 1 weights.
struct GaussianSlab {
    ConstHostView input;
    HostView output; ///< smaller by 2·radius with border = crop
    Border border = Border::replicate;
    int radius = 0;
    const float* taps = nullptr;
    /// omit: what a row and a sample of a row are multiplied by; null for other borders.
    const float* row_scale = nullptr;
    const float* column_scale = nullptr;
    // u8 with a border other than omit is summed in 16-bit integers, if one of these is set.
    bool binomial = false;               ///< taps are those of binomial3 or binomial5
    const std::int16_t* fixed = nullptr; ///< the middle tap and those to its right, ·2¹⁵; together 2¹⁵
};

inline constexpr int kGaussianSlabRows = 16; ///< a guess
/// Largest radius in fixed point: beyond, rounding adds up.
inline constexpr int kGaussianFixedRadius = 12;

/// Scratch of one thread, 64-byte aligned and zero at first: a slab with its border, a row of zeros.
std::size_t gaussian_slab_bytes(const Shape& input, int radius);

/// Rows [y0, y1) of the output, at most kGaussianSlabRows.
void run_gaussian_slab(const GaussianSlab& slab, int y0, int y1, std::byte* scratch);

} // namespace specklescope
