#include "cuda/speckle/speckle_ages.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::cuda {

namespace {

constexpr int kWindowThreads = 256; ///< an estimate
static_assert(kMostTogether <= 16, "ActiveSamples has 16 bits");

/// Bit f of `taken`: frame f is added.
template <class T> __global__ void __launch_bounds__(kTileThreads)
    take_ages_kernel(const __grid_constant__ FrameAddresses frames, std::size_t pitch, Tiles tiles,
                     AgesOnDevice saturation, ActiveSamples active, unsigned taken, bool first) {
    constexpr int kAhead = 4; ///< frames whose samples are loaded at once; an estimate
    const Place place = place_of(tiles);
    if (place.tile >= tiles.count)
        return;
    LaneAges ages(saturation, place, first);
    Samples<std::uint16_t> bits{};
    unsigned of_tile = 0;
#pragma unroll 1
    for (int begin = 0; begin < frames.count; begin += kAhead) {
        Samples<T> newest[kAhead];
#pragma unroll
        for (int i = 0; i < kAhead; ++i)
            if (begin + i < frames.count)
                newest[i] = load_samples<T>(frames.inputs[begin + i], pitch, place);
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int f = begin + i;
            if (f >= frames.count)
                break;
            if ((taken >> f & 1U) != 0)
                ages.add(saturation, newest[i]);
            of_tile |= (ages.largest != 0 ? 1U : 0U) << f;
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j)
                bits.v[j] |= static_cast<std::uint16_t>((ages.ages.v[j] != 0 ? 1U : 0U) << f);
        }
    }
    ages.store(saturation, place);
    if (of_tile != 0)
        bits.store(active.samples + place.sample());
    if (place.lane == 0)
        active.tiles[place.tile] = static_cast<std::uint16_t>(of_tile);
}

/// Adds the bits of samples x = begin … end − 1 of row `y` to `found`. May stop when `found` is `all`.
__device__ void add_row(const ActiveSamples& active, const Tiles& tiles, int y, int begin, int end,
                        unsigned all, unsigned& found) {
    for (int x = begin; x < end;) {
        const int column = x / kTileSamples;
        const int stop = min(end, (column + 1) * kTileSamples);
        const auto tile = static_cast<std::size_t>(y * tiles.across + column);
        if ((active.tiles[tile] & ~found) == 0)
            x = stop;
        for (; x < stop; ++x) {
            found |= active.samples[tile * kTileSamples + x % kTileSamples];
            if (found == all)
                return;
        }
    }
}

__global__ void __launch_bounds__(kWindowThreads)
    count_windows_kernel(const __grid_constant__ FrameAddresses frames, ActiveSamples active, Tiles tiles,
                         int height, int out_width, int out_height, SpeckleAges::Window window) {
    __shared__ unsigned sums[kMostTogether];
    if (threadIdx.x < kMostTogether)
        sums[threadIdx.x] = 0;
    __syncthreads();
    const unsigned all = (1U << frames.count) - 1U;
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int x = static_cast<int>(blockIdx.x * kWindowThreads + threadIdx.x);
    const int begin = max(0, x + window.offset - window.radius);
    const int end = min(tiles.width, x + window.offset + window.radius + 1);
    unsigned mine = 0; ///< windows of the warp in frame `lane`
    for (int y = static_cast<int>(blockIdx.y); y < out_height; y += static_cast<int>(gridDim.y)) {
        const int first = max(0, y + window.offset - window.radius);
        const int last = min(height - 1, y + window.offset + window.radius);
        unsigned found = 0;
        for (int row = first; row <= last && x < out_width && found != all; ++row)
            add_row(active, tiles, row, begin, end, all, found);
        if (__any_sync(kWholeWarp, found != 0) != 0)
            for (int f = 0; f < frames.count; ++f) {
                const int windows = __popc(__ballot_sync(kWholeWarp, (found >> f & 1U) != 0));
                mine += lane == f ? windows : 0;
            }
    }
    if (mine != 0)
        atomicAdd(&sums[lane], mine);
    __syncthreads();
    if (threadIdx.x < kMostTogether && sums[threadIdx.x] != 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(&frames.counts[threadIdx.x]->saturated),
                  static_cast<unsigned long long>(sums[threadIdx.x]));
}

} // namespace

void SpeckleAges::run(DeviceRuns frames, const FrameAddresses& addresses, const Window& window) {
    const auto& [input, output, context] = frames[0];
    auto* const stream = static_cast<cudaStream_t>(context.stream);
    const bool first = std::exchange(fresh_, false);
    unsigned taken = first ? 1 : 0;
    for (std::size_t f = 0; f < frames.size(); ++f)
        taken |= (frames[f].context.again ? 0U : 1U) << f;
    const AgesOnDevice saturation = memory_.view(frames_, input.shape.type, context.info);
    const ActiveSamples active{samples_.as<std::uint16_t>(), of_tiles_.as<std::uint16_t>()};
    dispatch(input.shape.type, [&, pitch = input.pitch](auto zero) {
        take_ages_kernel<decltype(zero)><<<tiles_.blocks(), kTileThreads, 0, stream>>>(
            addresses, pitch, tiles_, saturation, active, taken, first);
    });
    check_launch("the kernel that looks for saturated samples");
    const dim3 blocks(static_cast<unsigned>((output.shape.width + kWindowThreads - 1) / kWindowThreads),
                      static_cast<unsigned>(std::min(output.shape.height, 1024)));
    count_windows_kernel<<<blocks, kWindowThreads, 0, stream>>>(
        addresses, active, tiles_, input.shape.height, output.shape.width, output.shape.height, window);
    check_launch("the kernel that counts saturated windows");
}

} // namespace specklescope::cuda
