#include "tests/bench/seeds/seeds.hpp"

namespace specklescope::seeds {

namespace {

constexpr int kTile = 16;
constexpr int kFramed = kTile + 4;

__constant__ float constant_weights[25];

__device__ std::uint8_t as_pixel(float sum, std::uint8_t) {
    return static_cast<std::uint8_t>(__float2int_rn(fminf(fmaxf(sum, 0.0F), 255.0F)));
}
__device__ float as_pixel(float sum, float) { return sum; }

template <bool Constant, int C, class T>
__global__ void convolve_kernel(const T* padded, const float* weights, T* output, Size size) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= size.width || y >= size.height)
        return;
    for (int c = 0; c < C; ++c) {
        float sum = 0;
        for (int v = 0; v < 5; ++v)
            for (int u = 0; u < 5; ++u) {
                const float weight = Constant ? constant_weights[v * 5 + u] : weights[v * 5 + u];
                sum += weight * static_cast<float>(padded[((y + v) * (size.width + 4) + x + u) * C + c]);
            }
        output[(y * size.width + x) * C + c] = as_pixel(sum, T{});
    }
}

/// A tile and its border in shared memory, the weights in constant memory.
template <int C, class T> __global__ void convolve_shared_kernel(const T* padded, T* output, Size size) {
    __shared__ T tile[kFramed][kFramed][C];
    const int left = static_cast<int>(blockIdx.x) * kTile;
    const int top = static_cast<int>(blockIdx.y) * kTile;
    for (int v = static_cast<int>(threadIdx.y); v < kFramed; v += kTile)
        for (int u = static_cast<int>(threadIdx.x); u < kFramed; u += kTile)
            for (int c = 0; c < C; ++c)
                tile[v][u][c] = left + u < size.width + 4 && top + v < size.height + 4
                                    ? padded[((top + v) * (size.width + 4) + left + u) * C + c]
                                    : T{};
    __syncthreads();
    const int x = left + static_cast<int>(threadIdx.x);
    const int y = top + static_cast<int>(threadIdx.y);
    if (x >= size.width || y >= size.height)
        return;
    for (int c = 0; c < C; ++c) {
        float sum = 0;
        for (int v = 0; v < 5; ++v)
            for (int u = 0; u < 5; ++u)
                sum += constant_weights[v * 5 + u] *
                       static_cast<float>(tile[threadIdx.y + v][threadIdx.x + u][c]);
        output[(y * size.width + x) * C + c] = as_pixel(sum, T{});
    }
}

template <int C, class T> void convolve(Memory memory, const T* padded, const float* weights, T* output,
                                        Size size, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((size.width + kTile - 1) / kTile),
                      static_cast<unsigned>((size.height + kTile - 1) / kTile));
    const dim3 threads(kTile, kTile);
    if (memory == Memory::global)
        convolve_kernel<false, C><<<blocks, threads, 0, stream>>>(padded, weights, output, size);
    else if (memory == Memory::constant)
        convolve_kernel<true, C><<<blocks, threads, 0, stream>>>(padded, weights, output, size);
    else
        convolve_shared_kernel<C><<<blocks, threads, 0, stream>>>(padded, output, size);
}

} // namespace

void seed_constant_weights(const float* weights) {
    cudaMemcpyToSymbol(constant_weights, weights, sizeof constant_weights, 0, cudaMemcpyDefault);
}

void seed_convolve(Memory memory, const std::uint8_t* padded, const float* weights, std::uint8_t* output,
                   int channels, Size size, cudaStream_t stream) {
    if (channels == 3)
        convolve<3>(memory, padded, weights, output, size, stream);
    else
        convolve<1>(memory, padded, weights, output, size, stream);
}
void seed_convolve(Memory memory, const float* padded, const float* weights, float* output, int channels,
                   Size size, cudaStream_t stream) {
    if (channels == 3)
        convolve<3>(memory, padded, weights, output, size, stream);
    else
        convolve<1>(memory, padded, weights, output, size, stream);
}

} // namespace specklescope::seeds
