#include "tests/bench/seeds/seeds.hpp"

namespace specklescope::seeds {

namespace {

constexpr int kRadius = 2;
constexpr int kWindow = (2 * kRadius + 1) * (2 * kRadius + 1);
constexpr int kTile = 16;
constexpr int kFramed = kTile + 2 * kRadius;

template <class T>
__global__ void speckle_kernel(const T* input, float* contrast, float* flow, float exposure_s, Size size) {
    __shared__ int samples[kFramed][kFramed];
    __shared__ int sums[kFramed][kTile];
    __shared__ int squares[kFramed][kTile];
    const int left = static_cast<int>(blockIdx.x) * kTile;
    const int top = static_cast<int>(blockIdx.y) * kTile;
    const int tx = static_cast<int>(threadIdx.x);
    const int ty = static_cast<int>(threadIdx.y);
    for (int v = ty; v < kFramed; v += kTile)
        for (int u = tx; u < kFramed; u += kTile) {
            const int row = min(max(top + v - kRadius, 0), size.height - 1);
            const int column = min(max(left + u - kRadius, 0), size.width - 1);
            samples[v][u] = input[row * size.width + column];
        }
    __syncthreads();
    for (int v = ty; v < kFramed; v += kTile) { // along the rows
        int sum = 0;
        int square = 0;
        for (int u = tx; u <= tx + 2 * kRadius; ++u) {
            sum += samples[v][u];
            square += samples[v][u] * samples[v][u];
        }
        sums[v][tx] = sum;
        squares[v][tx] = square;
    }
    __syncthreads();
    if (left + tx >= size.width || top + ty >= size.height)
        return;
    int sum = 0;
    int square = 0;
    for (int v = ty; v <= ty + 2 * kRadius; ++v) { // down the columns
        sum += sums[v][tx];
        square += squares[v][tx];
    }
    const auto mean = static_cast<float>(sum);
    const auto determinant = static_cast<float>(kWindow * square - sum * sum);
    const float k2 = kWindow * determinant / ((kWindow - 1) * mean * mean);
    const int at = (top + ty) * size.width + left + tx;
    contrast[at] = sqrtf(k2);
    flow[at] = 1 / (2 * exposure_s * k2);
}

template <class T>
void speckle(const T* input, float* contrast, float* flow, float exposure_s, Size size, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((size.width + kTile - 1) / kTile),
                      static_cast<unsigned>((size.height + kTile - 1) / kTile));
    speckle_kernel<<<blocks, dim3(kTile, kTile), 0, stream>>>(input, contrast, flow, exposure_s, size);
}

} // namespace

void seed_speckle(const std::uint8_t* input, float* contrast, float* flow, float exposure_s, Size size,
                  cudaStream_t stream) {
    speckle(input, contrast, flow, exposure_s, size, stream);
}
void seed_speckle(const std::uint16_t* input, float* contrast, float* flow, float exposure_s, Size size,
                  cudaStream_t stream) {
    speckle(input, contrast, flow, exposure_s, size, stream);
}

} // namespace specklescope::seeds
