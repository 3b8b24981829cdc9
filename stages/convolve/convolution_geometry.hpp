// Where everything lies in a convolution by transforms: sizes, tiles, offsets. Shared by host and device, so
// that each of them only loads, transforms, multiplies and stores.
#pragma once

#include "pipeline/image.hpp"
#include "stages/border.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// One axis. A tile's transform has `fft` positions; results of the tile are positions [origin, origin +
/// tile_results(t)) of it. Results follow scipy.ndimage.convolve: with centre c = kernel / 2 (rounded down)
///   result[i] = Σ_k weight[k] · image[i + c − k],  0 ≤ k < kernel.
struct ConvolutionAxis {
    int size = 0;    ///< pixels of the image
    int results = 0; ///< pixels of the result: size, or size − kernel + 1 with crop
    int kernel = 0;  ///< pixels of the kernel; may exceed the image
    int fft = 0;     ///< length of a transform: even, of factors 2, 3, 5, 7
    int tile = 0;    ///< results of a tile; the last tile may have fewer
    int tiles = 0;
    int origin = 0; ///< position of a tile's first result
    int shift = 0;  ///< pixel of the image under the first result of the first tile
    int filled = 0; ///< positions [0, filled) hold pixels (or border), the others zeros

    SPECKLESCOPE_BOTH constexpr int first_result(int t) const { return t * tile; }
    SPECKLESCOPE_BOTH constexpr int tile_results(int t) const {
        const int left = results - t * tile;
        return left < tile ? left : tile;
    }
    /// Pixel that fills `position` of tile t; −1: a zero.
    SPECKLESCOPE_BOTH constexpr int source(int t, int position, Border border) const {
        return position < filled ? border_index(shift + t * tile + position - origin, size, border) : -1;
    }
    /// Position of kernel pixel k in the kernel's own transform: its centre is at 0, what lies before it at
    /// the end.
    SPECKLESCOPE_BOTH constexpr int kernel_position(int k) const {
        const int position = k - kernel / 2;
        return position < 0 ? position + fft : position;
    }
    /// The inverse: kernel pixel at `position`; −1: a zero.
    SPECKLESCOPE_BOTH constexpr int kernel_pixel(int position) const {
        const int after = position + kernel / 2; // position ≥ 0 stands for itself or for position − fft
        if (after < kernel)
            return after;
        return after >= fft ? after - fft : -1;
    }
};

/// Overlap-save: tiles_across × tiles_down transforms of x.fft × y.fft, one tile being the whole.
struct ConvolutionGeometry {
    ConvolutionAxis x, y;
    Border border = Border::replicate;

    SPECKLESCOPE_BOTH constexpr int tiles() const { return x.tiles * y.tiles; }
    SPECKLESCOPE_BOTH constexpr bool whole() const { return tiles() == 1; }
};

/// Relative time of one point in the transforms of a line of n points; infinite where there are none of that
/// length.
using LineCost = std::function<double(int n)>;

/// FFTW's, on one machine.
double host_line_cost(int n);

/// The even size ≥ `at_least` that transforms fastest, alone on its axis: not always the smallest. 0: none.
int fast_size(int at_least, const LineCost& cost = host_line_cost);

/// What a convolution may take for spectra, workspace and tables.
struct ConvolutionBudget {
    std::size_t bytes = 0;
    bool typed = true; ///< the user's own bound; false: what the place has free, less a share for others
    std::string_view place = "this machine";

    ConvolutionBudget() = default;
    ConvolutionBudget(std::size_t most) : bytes(most) {} ///< as if typed
    ConvolutionBudget(std::size_t most, bool is_typed, std::string_view where)
        : bytes(most), typed(is_typed), place(where) {}
};

/// `megabytes` as typed (10⁶ bytes; 0: no bound), never more than what `free` bytes leave when others have
/// had their share: a quarter, or the slots of frames and results for images of that shape if they take more,
/// but not more than three quarters.
ConvolutionBudget convolution_budget(int megabytes, std::size_t free, const Shape& image,
                                     std::string_view place);

struct ConvolutionLimits {
    ConvolutionBudget bytes; ///< bounds all that `memory` counts
    /// Bytes needed with transforms of this width and height.
    std::function<std::size_t(int width, int height)> memory;
    LineCost across = host_line_cost, down = host_line_cost; ///< of rows and of columns
    double tile = 1e3; ///< what starting a tile costs, in points: a guess
};

/// Which rows of the image a row of tiles takes, each once, and where the positions of a column find them.
struct TileRows {
    std::vector<int> rows;
    std::vector<int> place; ///< by position of the transform: index into rows; −1: zero
};
TileRows tile_rows(const ConvolutionAxis& y, int tile, Border border);
/// The image's column at each position of a row of one column of tiles; −1: zero.
std::vector<int> tile_columns(const ConvolutionAxis& x, int tile, Border border);

/// The cheapest geometry within the limits: the whole image at once, or tiles. border = omit
/// counts as zero. If nothing fits: UsageError naming the memory that would do where the bound was typed,
/// RunError where it is what is free. UsageError for a kernel larger than the image with crop.
ConvolutionGeometry plan_convolution(const Shape& image, int kernel_width, int kernel_height, Border border,
                                     const ConvolutionLimits& limits);

/// "whole, 1280×1280" or "12 tiles of 2048×2048, 800 MB".
std::string to_string(const ConvolutionGeometry& geometry, std::size_t bytes);

} // namespace specklescope
