#include "cuda/counts.hpp"

#include "cuda/chunks.cuh"
#include "cuda/device.hpp"
#include "cuda/history.cuh"

#include <algorithm>
#include <utility>

namespace specklescope::cuda {

namespace {

constexpr int kCountThreads = 256; ///< an estimate
constexpr int kCountRows = kCountThreads / 32;

/// A block takes 32 chunks of kCountRows rows; enough blocks to fill any GPU.
template <class T> dim3 blocks_for(const Shape& shape, unsigned images = 1) {
    constexpr unsigned kMostBlocks = 2048;
    constexpr unsigned kPixels = 32 * kChunkPixels<T>;
    const unsigned across = (static_cast<unsigned>(shape.width) + kPixels - 1) / kPixels;
    const unsigned down = (static_cast<unsigned>(shape.height) + kCountRows - 1) / kCountRows;
    return {across, std::clamp(kMostBlocks / across, 1U, down), images};
}

/// Calls f(chunk, number of its pixels inside) for each chunk of this thread, with the grid of blocks_for().
/// Starts with the last row, which is still in the cache if the image was just written.
template <class T, int kChannels, class F>
__device__ void each_chunk(const std::byte* image, std::size_t pitch, int width, int rows, F&& f) {
    constexpr int kBytes = kChannels * static_cast<int>(sizeof(T));
    const int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32U) * kChunkPixels<T>;
    if (x >= width)
        return;
    for (int y = rows - 1 - static_cast<int>(blockIdx.y * kCountRows + threadIdx.x / 32U); y >= 0;
         y -= static_cast<int>(gridDim.y) * kCountRows) {
        Chunk<T, kChannels> chunk;
        chunk.load(image + y * pitch, x * kBytes, width * kBytes);
        f(chunk, min(width - x, kChunkPixels<T>));
    }
}

/// Counts samples: the images are grey, of `width` samples.
template <class T> __global__ void __launch_bounds__(kCountThreads)
    count_saturated_kernel(const __grid_constant__ ImagesOfFrames images, std::size_t pitch, int width,
                           int rows, T threshold) {
    ThreadCounts mine;
    each_chunk<T, 1>(images.a[blockIdx.z], pitch, width, rows, [&](const auto& chunk, int inside) {
#pragma unroll
        for (int k = 0; k < kChunkPixels<T>; ++k)
            mine.saturated += k < inside && chunk.get(k) >= threshold ? 1U : 0U;
    });
    count_in_block(*images.b[blockIdx.z], mine);
}

template <int kChannels> __global__ void __launch_bounds__(kCountThreads)
    count_undefined_kernel(const std::byte* image, std::size_t pitch, int width, int rows,
                           PixelCounts* counts, const PixelCounts* found) {
    if (found && found->undefined == 0 && found->infinite == 0)
        return;
    ThreadCounts mine;
    each_chunk<float, kChannels>(image, pitch, width, rows, [&](const auto& chunk, int inside) {
#pragma unroll
        for (int k = 0; k < kChunkPixels<float>; ++k) {
            ThreadCounts pixel;
#pragma unroll
            for (int c = 0; c < kChannels; ++c)
                pixel.add(chunk.get(k * kChannels + c));
            if (k < inside)
                mine.add_pixel(pixel);
        }
    });
    count_in_block(*counts, mine);
}

__global__ void publish_kernel(const __grid_constant__ CountsOfFrames frames, int count, CountPlaces places) {
    PixelCounts* const counts = frames.a[blockIdx.x];
    const auto i = static_cast<int>(threadIdx.x);
    if (i == 0) {
        PixelCounts result{};
        if (places.raw >= 0)
            result.raw_saturated = counts[places.raw].saturated;
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
    Shape samples = like.shape;
    samples.width *= std::exchange(samples.channels, 1);
    dispatch(samples.type, [&](auto zero) {
        using T = decltype(zero);
        count_saturated_kernel<T><<<blocks_for<T>(samples, images.count), kCountThreads, 0, stream>>>(
            images, like.pitch, samples.width, samples.height, static_cast<T>(threshold));
    });
    check_launch("the kernel that counts saturated samples");
}

void count_undefined(ConstDeviceView image, PixelCounts* counts, cudaStream_t stream,
                     const PixelCounts* found) {
    const auto kernel = image.shape.channels == 3 ? count_undefined_kernel<3> : count_undefined_kernel<1>;
    kernel<<<blocks_for<float>(image.shape), kCountThreads, 0, stream>>>(
        image.data, image.pitch, image.shape.width, image.shape.height, counts, found);
    check_launch("the kernel that counts undefined pixels");
}

void publish_counts(const CountsOfFrames& frames, int count, CountPlaces places, cudaStream_t stream) {
    publish_kernel<<<frames.count, 32, 0, stream>>>(frames, count, places);
    check_launch("the kernel that hands on counts");
}

} // namespace specklescope::cuda
