// Layout of a convolution by transforms: sizes, tiles, offsets. Shared by host and device, which only load,
// transform, multiply and store.
#pragma once

#include "pipeline/image.hpp"
#include "stages/border.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// One axis. A tile's transform has `fft` positions; the tile's results are positions [origin, origin +
/// tile_results(t)). Results match scipy.ndimage.convolve: with centre c = kernel / 2 (rounded down)
///   result[i] = Σ_k weight[k] · image[i + c − k],  0 ≤ k < kernel.
struct ConvolutionAxis {
    int size = 0;    ///< pixels of the image
    int results = 0; ///< pixels of the result: size, or size − kernel + 1 with crop
    int kernel = 0;  ///< pixels of the kernel; may exceed the image
    int fft = 0;     ///< length of a transform: even, of factors 2, 3, 5, 7
    int tile = 0;    ///< results of a tile; the last tile may have fewer
    int tiles = 0;
    int origin = 0; ///< position of a tile's first result
    int shift = 0;  ///< image pixel of the first result of the first tile
    int filled = 0; ///< positions [0, filled) are pixels or border, the others zeros

    SPECKLESCOPE_BOTH constexpr int first_result(int t) const { return t * tile; }
    SPECKLESCOPE_BOTH constexpr int tile_results(int t) const {
        const int left = results - t * tile;
        return left < tile ? left : tile;
    }
    /// Image pixel for `position` of tile t; −1: zero.
    SPECKLESCOPE_BOTH constexpr int source(int t, int position, Border border) const {
        return position < filled ? border_index(shift + t * tile + position - origin, size, border) : -1;
    }
    /// Position of kernel pixel k in the kernel's transform: its centre is at 0, pixels before it at the end.
    SPECKLESCOPE_BOTH constexpr int kernel_position(int k) const {
        const int position = k - kernel / 2;
        return position < 0 ? position + fft : position;
    }
    /// The inverse: kernel pixel at `position`; −1: a zero.
    SPECKLESCOPE_BOTH constexpr int kernel_pixel(int position) const {
        const int after = position + kernel / 2; // position ≥ 0 means itself or position − fft
        if (after < kernel)
            return after;
        return after >= fft ? after - fft : -1;
    }
};

/// Overlap-save: tiles_across × tiles_down transforms of x.fft × y.fft; one tile covers everything if
/// possible.
struct ConvolutionGeometry {
    ConvolutionAxis x, y;
    Border border = Border::replicate;

    SPECKLESCOPE_BOTH constexpr int tiles() const { return x.tiles * y.tiles; }
    SPECKLESCOPE_BOTH constexpr bool whole() const { return tiles() == 1; }
};

/// Relative time per point for transforms of n points; infinite for unsupported lengths.
using LineCost = std::function<double(int n)>;

/// For FFTW, measured on one machine.
double host_line_cost(int n);

/// Even size ≥ `at_least` with the fastest transform along its axis, not always the smallest. 0: none.
int fast_size(int at_least, const LineCost& cost = host_line_cost);

/// Memory limit of a convolution for spectra, workspace and tables.
struct ConvolutionBudget {
    std::size_t bytes = 0;
    bool typed = true; ///< set by the user; false: free memory less a share for others
    std::string_view place = "this machine";

    ConvolutionBudget() = default;
    ConvolutionBudget(std::size_t most) : bytes(most) {} ///< as if set by the user
    ConvolutionBudget(std::size_t most, bool is_typed, std::string_view where)
        : bytes(most), typed(is_typed), place(where) {}
};

/// Limit of `megabytes` from the user (10⁶ bytes; 0: no limit), reduced to what `free` allows after reserving
/// memory for others: a quarter, or the slots of frames and results for images of that shape if they need
/// more, but at most three quarters.
ConvolutionBudget convolution_budget(int megabytes, std::size_t free, const Shape& image,
                                     std::string_view place);

struct ConvolutionLimits {
    ConvolutionBudget bytes; ///< limit for all that `memory` counts
    /// Bytes needed by transforms of this width and height.
    std::function<std::size_t(int width, int height)> memory;
    LineCost across = host_line_cost, down = host_line_cost; ///< for rows and for columns
    double tile = 1e3;                                       ///< overhead of a tile in points, an estimate
};

/// Image rows used by a row of tiles, each once, and the mapping from the positions of a column.
struct TileRows {
    std::vector<int> rows;
    std::vector<int> place; ///< by position in the transform: index into rows; −1: zero
};
TileRows tile_rows(const ConvolutionAxis& y, int tile, Border border);
/// Image column at each position of a row in one column of tiles; −1: zero.
std::vector<int> tile_columns(const ConvolutionAxis& x, int tile, Border border);

/// Cheapest geometry within the limits: one transform for the image, or tiles. border = omit counts as zero.
/// If nothing fits: UsageError with the required memory for a limit of the user, RunError for free memory.
/// UsageError for a kernel larger than the image with crop.
ConvolutionGeometry plan_convolution(const Shape& image, int kernel_width, int kernel_height, Border border,
                                     const ConvolutionLimits& limits);

/// "whole, 1280×1280" or "12 tiles of 2048×2048, 800 MB".
std::string to_string(const ConvolutionGeometry& geometry, std::size_t bytes);

} // namespace specklescope
