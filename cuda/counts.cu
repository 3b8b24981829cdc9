#include "cuda/counts.hpp"

#include "cuda/chunks.cuh"
#include "cuda/device.hpp"
#include "cuda/history.cuh"

#include <algorithm>

namespace specklescope::cuda {

namespace {

constexpr int kCountThreads = 256; ///< an estimate
/// Enough blocks to fill any GPU; each processes a part of the image.
constexpr std::size_t kMostBlocks = 2048;

unsigned blocks_for(std::size_t threads) {
    return static_cast<unsigned>(
        std::clamp<std::size_t>((threads + kCountThreads - 1) / kCountThreads, 1, kMostBlocks));
}

template <class T> __global__ void __launch_bounds__(kCountThreads)
    count_saturated_kernel(const __grid_constant__ ImagesOfFrames images, std::size_t pitch, int samples,
                           int rows, T threshold) {
    const std::byte* const image = images.a[blockIdx.y];
    constexpr int kPerChunk = kChunkPixels<T>;
    const int across = (samples + kPerChunk - 1) / kPerChunk;
    const std::size_t chunks = static_cast<std::size_t>(across) * rows;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kCountThreads;
    unsigned mine = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kCountThreads + threadIdx.x; i < chunks;
         i += step) {
        const auto y = static_cast<int>(i / across);
        const auto x = static_cast<int>(i - static_cast<std::size_t>(y) * across) * kPerChunk;
        Chunk<T, 1> chunk;
        chunk.load(image + y * pitch, x * static_cast<int>(sizeof(T)), samples * static_cast<int>(sizeof(T)));
#pragma unroll
        for (int k = 0; k < kPerChunk; ++k)
            mine += x + k < samples && chunk.get(k) >= threshold ? 1U : 0U;
    }
    count_in_warp(images.b[blockIdx.y]->raw_saturated, mine);
}

__global__ void __launch_bounds__(kCountThreads)
    count_undefined_kernel(const std::byte* image, std::size_t pitch, int width, int rows, int channels,
                           PixelCounts* counts) {
    const std::size_t pixels = static_cast<std::size_t>(width) * rows;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kCountThreads;
    unsigned undefined = 0;
    unsigned infinite = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kCountThreads + threadIdx.x; i < pixels;
         i += step) {
        const auto y = i / width;
        const float* const pixel =
            reinterpret_cast<const float*>(image + y * pitch) + (i - y * width) * channels;
        unsigned is_nan = 0;
        unsigned is_inf = 0;
        for (int c = 0; c < channels; ++c) {
            is_nan |= isnan(pixel[c]) ? 1U : 0U;
            is_inf |= isinf(pixel[c]) ? 1U : 0U;
        }
        undefined += is_nan;
        infinite += is_inf;
    }
    count_in_warp(counts->undefined, undefined);
    count_in_warp(counts->infinite, infinite);
}

__global__ void publish_kernel(const __grid_constant__ CountsOfFrames frames, int count, CountPlaces places) {
    PixelCounts* const counts = frames.a[blockIdx.x];
    const auto i = static_cast<int>(threadIdx.x);
    if (i == 0) {
        PixelCounts result{};
        if (places.raw >= 0)
            result.raw_saturated = counts[places.raw].raw_saturated;
        if (places.saturated >= 0)
            result.saturated = counts[places.saturated].saturated;
        if (places.undefined >= 0) {
            result.undefined = counts[places.undefined].undefined;
            result.infinite = counts[places.undefined].infinite;
        }
        *frames.b[blockIdx.x] = result;
    }
    __syncwarp();
    if (i < count)
        counts[i] = {};
}

} // namespace

void count_saturated(ConstDeviceView like, const ImagesOfFrames& images, double threshold,
                     cudaStream_t stream) {
    const auto samples = static_cast<int>(like.shape.row_bytes() / pixel_bytes(like.shape.type));
    const std::size_t chunks =
        (like.shape.row_bytes() + 15) / 16 * static_cast<std::size_t>(like.shape.height);
    dispatch(like.shape.type, [&](auto zero) {
        using T = decltype(zero);
        count_saturated_kernel<T><<<dim3(blocks_for(chunks), images.count), kCountThreads, 0, stream>>>(
            images, like.pitch, samples, like.shape.height, static_cast<T>(threshold));
    });
    check_launch("the kernel that counts saturated samples");
}

void count_undefined(ConstDeviceView image, PixelCounts* counts, cudaStream_t stream) {
    count_undefined_kernel<<<blocks_for(image.shape.pixels()), kCountThreads, 0, stream>>>(
        image.data, image.pitch, image.shape.width, image.shape.height, image.shape.channels, counts);
    check_launch("the kernel that counts undefined pixels");
}

void publish_counts(const CountsOfFrames& frames, int count, CountPlaces places, cudaStream_t stream) {
    publish_kernel<<<frames.count, 32, 0, stream>>>(frames, count, places);
    check_launch("the kernel that hands on counts");
}

} // namespace specklescope::cuda
