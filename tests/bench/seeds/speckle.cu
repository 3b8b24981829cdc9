#include "tests/bench/seeds/seeds.hpp"

namespace specklescope::seeds {

namespace {

constexpr int kRadius = 2;
constexpr int kWindow = (2 * kRadius + 1) * (2 * kRadius + 1);

template <class T> __global__ void sums_kernel(const T* input, int* sums, int* squares, Size size) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= size.width || y >= size.height)
        return;
    int sum = 0;
    int square = 0;
    for (int v = -kRadius; v <= kRadius; ++v)
        for (int u = -kRadius; u <= kRadius; ++u) {
            const int row = min(max(y + v, 0), size.height - 1);
            const int column = min(max(x + u, 0), size.width - 1);
            const int value = input[row * size.width + column];
            sum += value;
            square += value * value;
        }
    sums[y * size.width + x] = sum;
    squares[y * size.width + x] = square;
}

__global__ void contrast_kernel(const int* sums, const int* squares, float* output, float exposure_s,
                                Size size) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= size.width || y >= size.height)
        return;
    const int at = y * size.width + x;
    const auto sum = static_cast<float>(sums[at]);
    const auto determinant = static_cast<float>(kWindow * squares[at] - sums[at] * sums[at]);
    const float k2 = kWindow * determinant / ((kWindow - 1) * sum * sum);
    output[at] = exposure_s > 0 ? 1 / (2 * exposure_s * k2) : sqrtf(k2);
}

template <class T>
void speckle(const T* input, int* sums, float* output, float exposure_s, Size size, cudaStream_t stream) {
    int* const squares = sums + static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    const dim3 threads(16, 16);
    const dim3 blocks(static_cast<unsigned>((size.width + 15) / 16),
                      static_cast<unsigned>((size.height + 15) / 16));
    sums_kernel<<<blocks, threads, 0, stream>>>(input, sums, squares, size);
    contrast_kernel<<<blocks, threads, 0, stream>>>(sums, squares, output, exposure_s, size);
}

} // namespace

void seed_speckle(const std::uint8_t* input, int* sums, float* output, float exposure_s, Size size,
                  cudaStream_t stream) {
    speckle(input, sums, output, exposure_s, size, stream);
}
void seed_speckle(const std::uint16_t* input, int* sums, float* output, float exposure_s, Size size,
                  cudaStream_t stream) {
    speckle(input, sums, output, exposure_s, size, stream);
}

} // namespace specklescope::seeds
