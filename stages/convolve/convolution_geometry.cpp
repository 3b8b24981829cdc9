#include "stages/convolve/convolution_geometry.hpp"

#include "pipeline/error.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace specklescope {

namespace {

struct Factor {
    int prime;
    double host, device;
};
/// Time that one factor of a line's length adds to a point, in units of a factor 2 on the host: fits to
/// FFTW's times (AVX2, 96 to 8800 points) and to cuFFT's on an H200 (1024² to 8192²).
constexpr Factor kFactors[] = {{2, 1.0, 0.2}, {3, 3.8, 0.6}, {5, 4.3, 1.0}, {7, 7.4, 2.0}};
/// What every point costs on each axis: loading, storing, multiplying; from the same fits.
constexpr double kHostPoint = 20, kDevicePoint = 8;
/// cuFFT takes more than twice as long for a point unless both sides are powers of two.
constexpr double kDeviceOtherFactor = 10;
/// What starting a tile costs, in points: the order of magnitude, not fitted.
constexpr double kHostTile = 1e3, kDeviceTile = 2e5;

/// Relative time of one point on one axis whose line is `n` long; infinite for a length with any other
/// factor.
double line_cost(int n, Space space) {
    const bool host = space == Space::host;
    const bool power_of_two = (n & (n - 1)) == 0;
    double cost = host ? kHostPoint : kDevicePoint + (power_of_two ? 0 : kDeviceOtherFactor);
    for (const Factor& factor : kFactors)
        for (; n % factor.prime == 0; n /= factor.prime)
            cost += host ? factor.host : factor.device;
    return n == 1 ? cost : std::numeric_limits<double>::infinity();
}

bool is_smooth(int n) {
    for (const int prime : {2, 3, 5, 7})
        while (n % prime == 0)
            n /= prime;
    return n == 1;
}

/// Even smooth sizes in [at_least, at_most] that no larger one beats on its own axis, ascending.
std::vector<int> good_sizes(int at_least, int at_most, Space space) {
    std::vector<int> sizes;
    double best = std::numeric_limits<double>::infinity();
    for (int n = at_most / 2 * 2; n >= std::max(2, at_least); n -= 2)
        if (is_smooth(n)) {
            const double cost = n * line_cost(n, space);
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

/// Positions that the whole axis needs. Around zeros one margin serves both ends of the cyclic transform.
int whole_extent(const ConvolutionAxis& axis, Border border) {
    return border == Border::zero ? axis.results + axis.kernel / 2 : axis.results + axis.kernel - 1;
}

void set_transform(ConvolutionAxis& axis, int fft, Border border) {
    const bool around_zeros = border == Border::zero && fft >= whole_extent(axis, border);
    const int most = around_zeros ? axis.results : std::min(axis.results, fft - axis.kernel + 1);
    axis.fft = fft;
    axis.tiles = (axis.results + most - 1) / most;
    axis.tile = (axis.results + axis.tiles - 1) / axis.tiles; // tiles of nearly the same size
    axis.filled = around_zeros ? axis.results : axis.tile + axis.kernel - 1;
    axis.origin = around_zeros ? 0 : axis.kernel - 1 - axis.kernel / 2;
}

/// Transforms of one axis worth a try: tiles of at least a quarter of the transform, up to the whole.
std::vector<int> candidates(const ConvolutionAxis& axis, Border border, Space space) {
    const int whole = fast_size(std::max(whole_extent(axis, border), axis.kernel), space);
    const int least = border == Border::zero ? std::min(whole, axis.kernel) : axis.kernel;
    std::vector<int> sizes = good_sizes(least, whole - 2, space);
    sizes.push_back(whole);
    return sizes;
}

std::string megabytes(std::size_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; }

} // namespace

double fft_cost(int width, int height, Space space) {
    return static_cast<double>(width) * height * (line_cost(width, space) + line_cost(height, space));
}

int fast_size(int at_least, Space space) {
    return good_sizes(at_least, std::max(8, 2 * at_least + 2), space).front();
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
    double best_cost = std::numeric_limits<double>::infinity();
    std::size_t least = std::numeric_limits<std::size_t>::max();
    const std::vector<int> widths = candidates(trial.x, outside, limits.space);
    const std::vector<int> heights = candidates(trial.y, outside, limits.space);
    for (const int width : widths)
        for (const int height : heights) {
            set_transform(trial.x, width, outside);
            set_transform(trial.y, height, outside);
            const double tile = limits.space == Space::host ? kHostTile : kDeviceTile;
            const double points = static_cast<double>(width) * height;
            const double cost = trial.tiles() * fft_cost(width, height, limits.space) * (1 + tile / points);
            if (cost >= best_cost)
                continue;
            const std::size_t bytes = limits.memory(width, height);
            least = std::min(least, bytes);
            if (bytes > limits.bytes)
                continue;
            best = trial;
            best_cost = cost;
        }
    if (best_cost == std::numeric_limits<double>::infinity())
        throw UsageError("stage convolve: memory = " + megabytes(limits.bytes) +
                         " is too little for a kernel of " + std::to_string(kernel_width) + "×" +
                         std::to_string(kernel_height) + " pixels; allowed: from " + megabytes(least) +
                         ", or a smaller kernel.");
    return best;
}

std::string to_string(const ConvolutionGeometry& geometry, std::size_t bytes) {
    const std::string size = std::to_string(geometry.x.fft) + "×" + std::to_string(geometry.y.fft);
    if (geometry.whole())
        return "whole, " + size + ", " + megabytes(bytes);
    return std::to_string(geometry.tiles()) + " tiles of " + size + ", " + megabytes(bytes);
}

} // namespace specklescope
