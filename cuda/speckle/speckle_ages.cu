#include "cuda/speckle/speckle_ages.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::cuda {

namespace {

constexpr int kWindowThreads = 256; ///< an estimate

template <class T> __global__ void __launch_bounds__(kTileThreads)
    take_ages_kernel(const std::byte* input, std::size_t pitch, Tiles tiles, AgesOnDevice saturation,
                     bool take, bool first) {
    const Place place = place_of(tiles);
    if (place.tile < tiles.count)
        (void)advance_ages(saturation, place, load_samples<T>(input, pitch, place), take, first);
}

/// True if samples x = begin … end − 1 of row `y` have an age.
__device__ bool row_has_age(const AgesOnDevice& saturation, const Tiles& tiles, int y, int begin, int end) {
    for (int x = begin; x < end;) {
        const int column = x / kTileSamples;
        const int stop = min(end, (column + 1) * kTileSamples);
        const auto tile = static_cast<std::size_t>(y * tiles.across + column);
        if (saturation.of_tiles[tile] == 0)
            x = stop;
        for (; x < stop; ++x)
            if (saturation.ages[tile * kTileSamples + x % kTileSamples] != 0)
                return true;
    }
    return false;
}

__global__ void __launch_bounds__(kWindowThreads)
    count_windows_kernel(AgesOnDevice saturation, Tiles tiles, int height, int out_width, int out_height,
                         SpeckleAges::Window window, PixelCounts* counts) {
    const int x = static_cast<int>(blockIdx.x * kWindowThreads + threadIdx.x);
    const int begin = max(0, x + window.offset - window.radius);
    const int end = min(tiles.width, x + window.offset + window.radius + 1);
    ThreadCounts mine;
    for (int y = static_cast<int>(blockIdx.y); x < out_width && y < out_height;
         y += static_cast<int>(gridDim.y)) {
        const int first = max(0, y + window.offset - window.radius);
        const int last = min(height - 1, y + window.offset + window.radius);
        bool any = false;
        for (int row = first; row <= last && !any; ++row)
            any = row_has_age(saturation, tiles, row, begin, end);
        mine.saturated += any ? 1U : 0U;
    }
    count_in_block(*counts, mine);
}

} // namespace

void SpeckleAges::run(ConstDeviceView input, const Shape& output, const Window& window,
                      const RunContext<Space::device>& context) {
    auto* const stream = static_cast<cudaStream_t>(context.stream);
    const bool first = std::exchange(fresh_, false);
    const AgesOnDevice saturation = memory_.view(frames_, input.shape.type, context.info);
    dispatch(input.shape.type, [&](auto zero) {
        take_ages_kernel<decltype(zero)><<<tiles_.blocks(), kTileThreads, 0, stream>>>(
            input.data, input.pitch, tiles_, saturation, first || !context.again, first);
    });
    check_launch("the kernel that looks for saturated samples");
    const dim3 blocks(static_cast<unsigned>((output.width + kWindowThreads - 1) / kWindowThreads),
                      static_cast<unsigned>(std::min(output.height, 1024)));
    count_windows_kernel<<<blocks, kWindowThreads, 0, stream>>>(
        saturation, tiles_, input.shape.height, output.width, output.height, window, context.counts);
    check_launch("the kernel that counts saturated windows");
}

} // namespace specklescope::cuda
