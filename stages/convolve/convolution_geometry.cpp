#include "stages/convolve/convolution_geometry.hpp"

#include "base/error.hpp"
#include "pipeline/frame.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace specklescope {

namespace {

struct Factor {
    int prime;
    double cost;
};
/// Relative time per point of each factor of a line's length, in units of a factor 2: fitted to FFTW's times
/// (AVX2, 96 to 8800 points; November 2026).
constexpr Factor kFactors[] = {{2, 1.0}, {3, 3.8}, {5, 4.3}, {7, 7.4}};
/// Constant time per point and axis: loading, storing, multiplying.
constexpr double kPoint = 20;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Even sizes in [at_least, at_most] that are faster than all larger ones on their axis, ascending.
std::vector<int> good_sizes(int at_least, int at_most, const LineCost& line_cost) {
    std::vector<int> sizes;
    double best = kNever;
    for (int n = at_most / 2 * 2; n >= std::max(2, at_least); n -= 2) {
        const double cost = n * line_cost(n);
        if (cost < best)
            sizes.push_back(n);
        best = std::min(best, cost);
    }
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
}

ConvolutionAxis axis_of(int size, int kernel, Border border) {
    ConvolutionAxis axis;
    axis.size = size;
    axis.kernel = kernel;
    axis.results = border == Border::crop ? size - kernel + 1 : size;
    axis.shift = border == Border::crop ? kernel - 1 - kernel / 2 : 0;
    return axis;
}

/// Positions needed for the whole axis. With zeros one margin serves both ends of the cyclic transform.
int whole_extent(const ConvolutionAxis& axis, Border border) {
    return border == Border::zero ? axis.results + axis.kernel / 2 : axis.results + axis.kernel - 1;
}

void set_transform(ConvolutionAxis& axis, int fft, Border border) {
    const bool around_zeros = border == Border::zero && fft >= whole_extent(axis, border);
    const int most = around_zeros ? axis.results : std::min(axis.results, fft - axis.kernel + 1);
    axis.fft = fft;
    axis.tiles = (axis.results + most - 1) / most;
    axis.tile = (axis.results + axis.tiles - 1) / axis.tiles; // tiles of nearly equal size
    axis.filled = around_zeros ? axis.results : axis.tile + axis.kernel - 1;
    axis.origin = around_zeros ? 0 : axis.kernel - 1 - axis.kernel / 2;
}

/// Transform lengths to consider for one axis: tiles of at least a quarter of the transform, up to the whole
/// axis.
std::vector<int> candidates(const ConvolutionAxis& axis, Border border, const LineCost& cost) {
    const int whole = std::max(whole_extent(axis, border), axis.kernel);
    const int fastest = fast_size(whole, cost);
    const int least = border == Border::zero ? std::min(whole, axis.kernel) : axis.kernel;
    std::vector<int> sizes = good_sizes(least, (fastest > 0 ? fastest : whole) - 2, cost);
    if (fastest > 0)
        sizes.push_back(fastest);
    return sizes;
}

/// Slots of frames and results besides default_slots(): in flight on either side and between stages.
constexpr int kOtherSlots = 16;

std::string megabytes(std::size_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; }

[[noreturn]] void refuse(const ConvolutionBudget& budget, const std::string& kernel, std::size_t least) {
    if (budget.typed)
        throw UsageError("stage convolve: memory = " + megabytes(budget.bytes) +
                         " is too little for a kernel of " + kernel + " pixels; allowed: from " +
                         megabytes(least) + ", or a smaller kernel.");
    throw RunError("A convolution with a kernel of " + kernel + " pixels takes " + megabytes(least) +
                   " at least, and " + std::string(budget.place) + " has " + megabytes(budget.bytes) +
                   " left for it; end other programs that hold memory, or use a smaller kernel.");
}

} // namespace

ConvolutionBudget convolution_budget(int megabytes, std::size_t free, const Shape& image,
                                     std::string_view place) {
    const std::size_t slots = static_cast<std::size_t>(default_slots(image) + kOtherSlots) * image.bytes();
    const std::size_t share = std::min(std::max(free / 4, slots), free / 4 * 3);
    const std::size_t most = static_cast<std::size_t>(megabytes) * 1'000'000;
    if (megabytes > 0 && most <= free - share)
        return {most, true, place};
    return {free - share, false, place};
}

double host_line_cost(int n) {
    double cost = kPoint;
    for (const Factor& factor : kFactors)
        for (; n % factor.prime == 0; n /= factor.prime)
            cost += factor.cost;
    return n == 1 ? cost : kNever;
}

int fast_size(int at_least, const LineCost& cost) {
    const std::vector<int> sizes = good_sizes(at_least, std::max(8, 2 * at_least + 2), cost);
    return sizes.empty() ? 0 : sizes.front();
}

TileRows tile_rows(const ConvolutionAxis& y, int tile, Border border) {
    TileRows rows;
    std::vector<int> seen(static_cast<std::size_t>(y.size), -1);
    for (const int source : tile_columns(y, tile, border)) {
        if (source >= 0 && seen[static_cast<std::size_t>(source)] < 0) {
            seen[static_cast<std::size_t>(source)] = static_cast<int>(rows.rows.size());
            rows.rows.push_back(source);
        }
        rows.place.push_back(source < 0 ? -1 : seen[static_cast<std::size_t>(source)]);
    }
    return rows;
}

std::vector<int> tile_columns(const ConvolutionAxis& x, int tile, Border border) {
    std::vector<int> columns(static_cast<std::size_t>(x.fft));
    for (int p = 0; p < x.fft; ++p)
        columns[static_cast<std::size_t>(p)] = x.source(tile, p, border);
    return columns;
}

ConvolutionGeometry plan_convolution(const Shape& image, int kernel_width, int kernel_height, Border border,
                                     const ConvolutionLimits& limits) {
    const Border outside = border == Border::omit ? Border::zero : border;
    if (border == Border::crop && (kernel_width > image.width || kernel_height > image.height))
        throw UsageError("stage convolve: a kernel of " + std::to_string(kernel_width) + "×" +
                         std::to_string(kernel_height) + " pixels is larger than the image of " +
                         std::to_string(image.width) + "×" + std::to_string(image.height) +
                         "; take another border than crop.");
    ConvolutionGeometry trial;
    trial.x = axis_of(image.width, kernel_width, outside);
    trial.y = axis_of(image.height, kernel_height, outside);
    trial.border = outside;
    ConvolutionGeometry best;
    double best_cost = kNever;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    const std::vector<int> widths = candidates(trial.x, outside, limits.across);
    const std::vector<int> heights = candidates(trial.y, outside, limits.down);
    if (widths.empty() || heights.empty())
        throw UsageError(
            "stage convolve: a kernel of " + std::to_string(kernel_width) + "×" +
            std::to_string(kernel_height) +
            " pixels is longer than what this GPU transforms in one piece; use a smaller kernel, "
            "or --backend cpu.");
    for (const int width : widths)
        for (const int height : heights) {
            set_transform(trial.x, width, outside);
            set_transform(trial.y, height, outside);
            const double points = static_cast<double>(width) * height + limits.tile;
            const double cost = trial.tiles() * points * (limits.across(width) + limits.down(height));
            if (cost >= best_cost)
                continue;
            const std::size_t bytes = limits.memory(width, height);
            least = std::min(least, bytes);
            if (bytes > limits.bytes.bytes)
                continue;
            best = trial;
            best_cost = cost;
        }
    if (best_cost == kNever)
        refuse(limits.bytes, std::to_string(kernel_width) + "×" + std::to_string(kernel_height), least);
    return best;
}

std::string to_string(const ConvolutionGeometry& geometry, std::size_t bytes) {
    const std::string size = std::to_string(geometry.x.fft) + "×" + std::to_string(geometry.y.fft);
    if (geometry.whole())
        return "whole, " + size + ", " + megabytes(bytes);
    return std::to_string(geometry.tiles()) + " tiles of " + size + ", " + megabytes(bytes);
}

} // namespace specklescope
