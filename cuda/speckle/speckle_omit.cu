// border = omit on the device: recomputes the edges, one thread per pixel.
#include "cuda/speckle/speckle_launch.hpp"

#include "cuda/chunks.cuh"
#include "cuda/device.hpp"
#include "stages/speckle/speckle.hpp"

#include <algorithm>
#include <type_traits>

namespace specklescope::cuda {

namespace {

struct Edges {
    int width, height, radius;
    ContrastFinish finish;
};

/// Pixels within radius of an edge, row by row above and below, then the two sides.
struct EdgePlace {
    int x, y;
};
__device__ EdgePlace edge_place(const Edges& edges, int index) {
    const int rows = min(2 * edges.radius, edges.height); // above and below
    if (index < rows * edges.width) {
        const int row = index / edges.width;
        const bool above = row < edges.radius;
        return {index % edges.width, above ? row : edges.height - rows + row};
    }
    const int sides = min(2 * edges.radius, edges.width);
    index -= rows * edges.width;
    const int column = index % sides;
    return {column < edges.radius ? column : edges.width - sides + column, edges.radius + index / sides};
}

template <class T> __global__ void omit_kernel(View<const T, Space::device> input,
                                               const __grid_constant__ Edges edges, int pixels,
                                               PixelCounts* counts) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index >= pixels)
        return;
    const EdgePlace at = edge_place(edges, index);
    const int left = max(0, at.x - edges.radius);
    const int right = min(edges.width, at.x + edges.radius + 1);
    const int first = max(0, at.y - edges.radius);
    const int last = min(edges.height, at.y + edges.radius + 1);
    const double n = static_cast<double>(right - left) * (last - first);
    // Integers are exact in float64; from floats the middle sample is subtracted, if it is finite.
    const auto middle = static_cast<double>(row_of(input, at.y)[at.x]);
    const double reference = std::is_integral_v<T> || !isfinite(middle) ? 0 : middle;
    double sum = 0;
    double squares = 0;
    for (int y = first; y < last; ++y) {
        const T* row = row_of(input, y);
        for (int x = left; x < right; ++x) {
            const double value = static_cast<double>(row[x]) - reference;
            sum += value;
            squares += value * value;
        }
    }
    const float& result = edges.finish.row(0, at.y)[at.x];
    const float before = result;
    const double d = n * squares - sum * sum;
    write_edge(edges.finish, n, {sum + n * reference, d < 0 ? 0 : d}, at.x, at.y);
    const float after = result;
    auto* const totals = reinterpret_cast<unsigned long long*>(counts); // undefined, infinite
    const int undefined = (isnan(after) ? 1 : 0) - (isnan(before) ? 1 : 0);
    const int infinite = (isinf(after) ? 1 : 0) - (isinf(before) ? 1 : 0);
    if (undefined != 0)
        atomicAdd(totals, static_cast<unsigned long long>(static_cast<long long>(undefined)));
    if (infinite != 0)
        atomicAdd(totals + 1, static_cast<unsigned long long>(static_cast<long long>(infinite)));
}

} // namespace

void run_speckle_omit(ConstDeviceView input, int radius, const ContrastFinish& finish, PixelCounts* counts,
                      cudaStream_t stream) {
    const int width = input.shape.width;
    const int height = input.shape.height;
    const Edges edges{width, height, radius, finish};
    const int rows = std::min(2 * radius, height);
    const int pixels = rows * width + (height - rows) * std::min(2 * radius, width);
    constexpr unsigned kThreads = 128;
    dispatch(input.shape.type, [&](auto zero) {
        using T = decltype(zero);
        omit_kernel<T><<<(static_cast<unsigned>(pixels) + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
            input.as<T>(), edges, pixels, counts);
    });
    check_launch("the kernel of the edges of stage speckle");
}

} // namespace specklescope::cuda
