// Blur by separable taps, one slab of rows at a time: along the columns into f32 scratch, then along its
// rows.
#pragma once

#include "pipeline/image.hpp"
#include "stages/border.hpp"
#include "stages/gaussian/gaussian.hpp"

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

// Layout of a slab and its border in a thread's scratch memory.

/// Rows of `stride` f32 samples: `margin` border samples, the row, the border, and padding for vectors that
/// extend past the end. The same memory is used for 16-bit sums.
struct SlabLayout {
    static constexpr std::size_t kOver = 512; ///< samples that a block of vectors may read past the border

    std::size_t width;  ///< samples of an input row
    std::size_t margin; ///< radius · channels
    std::size_t stride;
    std::size_t rows; ///< pointers to input rows

    SlabLayout(const Shape& input, int radius)
        : width(static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.channels)),
          margin(static_cast<std::size_t>(radius) * static_cast<std::size_t>(input.channels)),
          stride(gaussian_stride(margin) + gaussian_stride(width + margin + kOver)),
          rows(static_cast<std::size_t>(kGaussianSlabRows + 2 * radius)) {}

    std::size_t slab_bytes() const { return stride * kGaussianSlabRows * sizeof(float); }
    std::size_t zero_bytes() const { return gaussian_stride(width) * sizeof(float); }
    std::size_t bytes() const { return slab_bytes() + zero_bytes() + rows * sizeof(void*); }
    /// Aligned start of the image in a row of the slab.
    std::size_t first() const { return gaussian_stride(margin); }
};

/// Input rows used by a slab's columns, from `y0` − radius on; outside the image `zeros` or the row chosen by
/// the border.
template <class T> void find_rows(const GaussianSlab& slab, int y0, int y1, const T* zeros, const T** rows) {
    const View<const T> input = slab.input.as<T>();
    const int shift = slab.border == Border::crop ? slab.radius : 0;
    for (int y = y0 + shift - slab.radius; y < y1 + shift + slab.radius; ++y) {
        const int row = border_index(y, input.height, slab.border);
        *rows++ = row < 0 ? zeros : input.row(row);
    }
}

/// Fills the border of a row unless it is cropped; `image` is its first sample.
template <class T> void fill_sides(const GaussianSlab& slab, T* image) {
    if (slab.border == Border::crop)
        return;
    const int width = slab.input.shape.width;
    const int channels = slab.input.shape.channels;
    const auto fill = [&](int begin, int end) {
        for (int x = begin; x < end; ++x) {
            const int from = border_index(x, width, slab.border);
            for (int c = 0; c < channels; ++c)
                image[x * channels + c] = from < 0 ? T{0} : image[from * channels + c];
        }
    };
    fill(-slab.radius, 0);
    fill(width, width + slab.radius);
}

} // namespace specklescope
