#include "tests/bench/seeds/seeds.hpp"

namespace specklescope::seeds {

namespace {

__global__ void rgb_to_hsv(const std::uint8_t* rgb, float* hue, float* saturation, float* value, int pixels) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= pixels)
        return;
    const float r = static_cast<float>(rgb[3 * i]) / 255;
    const float g = static_cast<float>(rgb[3 * i + 1]) / 255;
    const float b = static_cast<float>(rgb[3 * i + 2]) / 255;
    const float v = fmaxf(r, fmaxf(g, b));
    const float chroma = v - fminf(r, fminf(g, b));
    float h = 0;
    if (chroma > 0)
        h = v == r ? (g - b) / chroma : v == g ? 2 + (b - r) / chroma : 4 + (r - g) / chroma;
    hue[i] = h < 0 ? h + 6 : h;
    saturation[i] = v > 0 ? chroma / v : 0;
    value[i] = v;
}

__device__ int bin_of_value(float value, int bins) { return min(static_cast<int>(value * bins), bins - 1); }

/// Each block counts in shared memory and adds its counts to the histogram.
__global__ void count_values(const float* value, int* counts, int bins, int pixels) {
    extern __shared__ int own[];
    for (int b = static_cast<int>(threadIdx.x); b < bins; b += static_cast<int>(blockDim.x))
        own[b] = 0;
    __syncthreads();
    const int step = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < pixels; i += step)
        atomicAdd(&own[bin_of_value(value[i], bins)], 1);
    __syncthreads();
    for (int b = static_cast<int>(threadIdx.x); b < bins; b += static_cast<int>(blockDim.x))
        atomicAdd(&counts[b], own[b]);
}

/// One block; each step adds the element `d` before. Two barriers per step: all read before any write.
__global__ void scan_counts(const int* counts, float* cumulative, int bins, int pixels) {
    extern __shared__ int sums[];
    const int i = static_cast<int>(threadIdx.x);
    sums[i] = i < bins ? counts[i] : 0;
    for (int d = 1; d < bins; d *= 2) {
        __syncthreads();
        const int before = i >= d ? sums[i - d] : 0;
        __syncthreads();
        sums[i] += before;
    }
    if (i < bins)
        cumulative[i] = static_cast<float>(sums[i]) / static_cast<float>(pixels);
}

__global__ void map_values(float* value, const float* cumulative, int bins, int pixels) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pixels)
        value[i] = cumulative[bin_of_value(value[i], bins)];
}

__global__ void hsv_to_rgb(const float* hue, const float* saturation, const float* value, std::uint8_t* rgb,
                           int pixels) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= pixels)
        return;
    const float chroma = value[i] * saturation[i];
    for (int c = 0; c < 3; ++c) { // red decreases 2 sextants from hue 0, green from 2, blue from 4
        float distance = fabsf(hue[i] - static_cast<float>(2 * c));
        distance = fminf(distance, 6 - distance);
        const float share = fminf(fmaxf(2 - distance, 0.0F), 1.0F);
        const float channel = value[i] - chroma * (1 - share);
        rgb[3 * i + c] = static_cast<std::uint8_t>(rintf(255 * channel));
    }
}

} // namespace

void seed_equalize(const std::uint8_t* rgb, std::uint8_t* result, float* planes, int* histogram, int bins,
                   Size size, cudaStream_t stream) {
    const int pixels = size.width * size.height;
    const unsigned blocks = static_cast<unsigned>((pixels + 255) / 256);
    constexpr unsigned kPixelsAThread = 16; // so that a block's histogram pays off
    const unsigned counting = (blocks + kPixelsAThread - 1) / kPixelsAThread;
    float* const hue = planes;
    float* const saturation = planes + pixels;
    float* const value = saturation + pixels;
    int* const counts = histogram;
    auto* const cumulative = reinterpret_cast<float*>(histogram + bins);
    const unsigned threads = static_cast<unsigned>((bins + 31) / 32 * 32);
    const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(int);
    cudaMemsetAsync(counts, 0, bytes, stream);
    rgb_to_hsv<<<blocks, 256, 0, stream>>>(rgb, hue, saturation, value, pixels);
    count_values<<<counting, 256, bytes, stream>>>(value, counts, bins, pixels);
    scan_counts<<<1, threads, threads * sizeof(int), stream>>>(counts, cumulative, bins, pixels);
    map_values<<<blocks, 256, 0, stream>>>(value, cumulative, bins, pixels);
    hsv_to_rgb<<<blocks, 256, 0, stream>>>(hue, saturation, value, result, pixels);
}

} // namespace specklescope::seeds
