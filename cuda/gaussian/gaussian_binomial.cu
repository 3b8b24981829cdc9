// [1 2 1] and [1 4 6 4 1] for u8, exactly, two samples per register: 255·256 fits 16 bits. Along the columns
// each new row is added to the unfinished sums, as in gaussian_walk.cuh.
#include "cuda/gaussian/gaussian_ring.cuh"
#include "cuda/sequence.hpp"

namespace specklescope::cuda {

namespace {

constexpr int kBytes = 16; ///< samples per lane
constexpr int kWords = kBytes / 4;

/// Sums of samples i and i + 2 (low and high half) for every i: loaded words contain i = 4w and 4w + 1, the
/// others are combined.
template <int Beside> struct RowPairs {
    std::uint32_t even[kWords + 2 * Beside]; ///< samples 4w, 4w + 2, from word −Beside on
    std::uint32_t odd[kWords + 2 * Beside];

    __device__ explicit RowPairs(const std::uint32_t (&own)[2 * kWords]) {
#pragma unroll
        for (int w = -Beside; w < kWords + Beside; ++w) {
            const int lanes = w < 0 ? -1 : w / kWords;
            const int word = w - lanes * kWords;
            even[w + Beside] = from(own[2 * word], lanes);
            odd[w + Beside] = from(own[2 * word + 1], lanes);
        }
    }
    __device__ std::uint32_t at(int i) const {
        const int w = (i + 4 * Beside) / 4;
        switch ((i + 4 * Beside) % 4) {
        case 0:
            return even[w];
        case 1:
            return odd[w];
        case 2:
            return __byte_perm(even[w], even[w + 1], 0x5432);
        default:
            return __byte_perm(odd[w], odd[w + 1], 0x5432);
        }
    }

private:
    __device__ static std::uint32_t from(std::uint32_t own, int lanes) {
        return lanes == 0  ? own
               : lanes < 0 ? __shfl_up_sync(kWholeWarp, own, -lanes)
                           : __shfl_down_sync(kWholeWarp, own, lanes);
    }
};

/// Adds half a step minus one, and one more if the result would be odd: ties to even.
template <int R> __device__ inline std::uint32_t rounded(std::uint32_t sums) {
    constexpr std::uint32_t kHalf = R == 1 ? 0x00070007U : 0x007f007fU;
    return sums + kHalf + (sums >> (4 * R) & 0x00010001U);
}

template <int C, int R>
__device__ inline Samples<std::uint8_t, kBytes> blur_pairs(const std::uint32_t (&columns)[2 * kWords]) {
    const RowPairs<(R * C + 3) / 4> pairs(columns);
    std::uint32_t sums[2 * kWords];
#pragma unroll
    for (int p = 0; p < 2 * kWords; ++p) {
        const int i = p / 2 * 4 + p % 2;
        const std::uint32_t near = pairs.at(i - C) + pairs.at(i + C);
        if constexpr (R == 1)
            sums[p] = near + 2 * pairs.at(i);
        else
            sums[p] = pairs.at(i - 2 * C) + pairs.at(i + 2 * C) + 4 * near + 6 * pairs.at(i);
        sums[p] = rounded<R>(sums[p]);
    }
    Samples<std::uint8_t, kBytes> results;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
        results.words[w] = R == 1 ? (sums[2 * w] >> 4 & 0x00ff00ffU) | (sums[2 * w + 1] << 4 & 0xff00ff00U)
                                  : __byte_perm(sums[2 * w], sums[2 * w + 1], 0x7351);
    return results;
}

template <int C, int R> __global__ void __launch_bounds__(kWalkThreads, 5)
    binomial_walk_kernel(const __grid_constant__ WalkArgs args) {
    using Ring = RowRing<std::uint8_t, kBytes>;
    __shared__ alignas(16) std::byte memory[kWalkThreads / 32][Ring::kBytes];
    WalkStrip strip;
    if (!strip_of_warp(args, 30 * kBytes, kBytes, strip))
        return;
    wait_for_previous();
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int steps = strip.end - strip.first + 2 * R;
    ResultRows<std::uint8_t, kBytes, C> results(args, strip, strip.begin + lane * kBytes,
                                                lane >= 1 && lane < 31);
    Ring ring(memory[threadIdx.x / 32], args, strip, C, R * C, strip.first - R);
#pragma unroll 1
    for (int i = 0; i < kRingRows - 1; ++i)
        ring.ask(i, i < steps);

    std::uint32_t sums[2 * R][2 * kWords] = {}; // sums[k] lacks k + 1 rows
#pragma unroll 2                                // sums move on by name, not by copies
    for (int i = 0; i < steps; ++i) {
        ring.ask(i + kRingRows - 1, i + kRingRows - 1 < steps);
        const Samples<std::uint8_t, kBytes> samples = ring.take(i);
        std::uint32_t columns[2 * kWords];
#pragma unroll
        for (int p = 0; p < 2 * kWords; ++p) {
            const std::uint32_t row = p % 2 == 0 ? samples.words[p / 2] & 0x00ff00ffU
                                                 : __byte_perm(samples.words[p / 2], 0, 0x4341);
            columns[p] = sums[0][p] + row;
            if constexpr (R == 2) {
                sums[0][p] = sums[1][p] + 4 * row;
                sums[1][p] = sums[2][p] + 6 * row;
                sums[2][p] = sums[3][p] + 4 * row;
            } else {
                sums[0][p] = sums[1][p] + 2 * row;
            }
            sums[2 * R - 1][p] = row;
        }
        if (i < 2 * R)
            continue;
        results.put(blur_pairs<C, R>(columns));
    }
}

} // namespace

WalkKernel binomial_kernel(int radius, int channels) {
    void (*const kernel)(WalkArgs) =
        radius == 1 ? (channels == 1 ? binomial_walk_kernel<1, 1> : binomial_walk_kernel<3, 1>)
                    : (channels == 1 ? binomial_walk_kernel<1, 2> : binomial_walk_kernel<3, 2>);
    return {kernel, 30 * kBytes};
}

} // namespace specklescope::cuda
