#include "tests/bench/seeds/seeds.hpp"

namespace specklescope::seeds {

namespace {

constexpr int kTile = 16;
constexpr int kFramed = kTile + 4;

__constant__ float constant_weights[25];

template <class T> constexpr int kChannels = sizeof(T) == 1 ? 3 : 1;

__device__ std::uint8_t as_pixel(float sum, std::uint8_t) {
    return static_cast<std::uint8_t>(__float2int_rn(fminf(fmaxf(sum, 0.0F), 255.0F)));
}
__device__ float as_pixel(float sum, float) { return sum; }

template <bool Constant, class T>
__global__ void convolve_kernel(const T* padded, const float* weights, T* output, Size size) {
    constexpr int C = kChannels<T>;
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

template <class T>
__global__ void convolve_shared_kernel(const T* padded, const float* weights, T* output, Size size) {
    constexpr int C = kChannels<T>;
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
                sum += weights[v * 5 + u] * static_cast<float>(tile[threadIdx.y + v][threadIdx.x + u][c]);
        output[(y * size.width + x) * C + c] = as_pixel(sum, T{});
    }
}

dim3 blocks(Size size) {
    return dim3(static_cast<unsigned>((size.width + kTile - 1) / kTile),
                static_cast<unsigned>((size.height + kTile - 1) / kTile));
}

template <class T>
void constant(const T* padded, const float* weights, T* output, Size size, cudaStream_t stream) {
    cudaMemcpyToSymbolAsync(constant_weights, weights, sizeof constant_weights, 0, cudaMemcpyDefault, stream);
    convolve_kernel<true><<<blocks(size), dim3(kTile, kTile), 0, stream>>>(padded, weights, output, size);
}

} // namespace

void seed_convolve_global(const std::uint8_t* padded, const float* weights, std::uint8_t* output, Size size,
                          cudaStream_t stream) {
    convolve_kernel<false><<<blocks(size), dim3(kTile, kTile), 0, stream>>>(padded, weights, output, size);
}
void seed_convolve_global(const float* padded, const float* weights, float* output, Size size,
                          cudaStream_t stream) {
    convolve_kernel<false><<<blocks(size), dim3(kTile, kTile), 0, stream>>>(padded, weights, output, size);
}
void seed_convolve_constant(const std::uint8_t* padded, const float* weights, std::uint8_t* output, Size size,
                            cudaStream_t stream) {
    constant(padded, weights, output, size, stream);
}
void seed_convolve_constant(const float* padded, const float* weights, float* output, Size size,
                            cudaStream_t stream) {
    constant(padded, weights, output, size, stream);
}
void seed_convolve_shared(const std::uint8_t* padded, const float* weights, std::uint8_t* output, Size size,
                          cudaStream_t stream) {
    convolve_shared_kernel<<<blocks(size), dim3(kTile, kTile), 0, stream>>>(padded, weights, output, size);
}
void seed_convolve_shared(const float* padded, const float* weights, float* output, Size size,
                          cudaStream_t stream) {
    convolve_shared_kernel<<<blocks(size), dim3(kTile, kTile), 0, stream>>>(padded, weights, output, size);
}

} // namespace specklescope::seeds
