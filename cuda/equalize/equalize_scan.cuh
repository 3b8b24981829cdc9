// Makes the table of stage equalize from the counts, in one block.
#pragma once

#include "cuda/equalize/equalize_kernels.hpp"

#include <type_traits>

namespace specklescope::cuda {

/// f32 as an integer with the same order, including negative numbers.
__device__ __forceinline__ std::uint32_t ordered_bits(float value) {
    const std::uint32_t bits = __float_as_uint(value);
    return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}
/// 0xFFFFFFFF (no pixel) becomes NaN, as expected by real_bins().
__device__ __forceinline__ float from_ordered_bits(std::uint32_t bits) {
    return __uint_as_float(bits & 0x80000000U ? bits & 0x7FFFFFFFU : ~bits);
}

__device__ __forceinline__ std::uint32_t warp_inclusive_sum(std::uint32_t value) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        const std::uint32_t before = __shfl_up_sync(0xFFFFFFFFU, value, d);
        value += lane >= d ? before : 0;
    }
    return value;
}

/// Sum of `value` over the previous threads, and over all in `total`. `sums`: one word per warp. Faster than
/// CUB's, see clahe_kernels.cuh.
__device__ __forceinline__ std::uint32_t block_exclusive_sum(std::uint32_t value, std::uint32_t* sums,
                                                             std::uint32_t& total) {
    constexpr unsigned kWarps = kEqualizeThreads / 32;
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    const std::uint32_t inclusive = warp_inclusive_sum(value);
    if (lane == 31)
        sums[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const std::uint32_t scanned = warp_inclusive_sum(lane < kWarps ? sums[lane] : 0);
        if (lane < kWarps)
            sums[lane] = scanned;
    }
    __syncthreads();
    const std::uint32_t before = warp == 0 ? 0 : sums[warp - 1];
    total = sums[kWarps - 1];
    __syncthreads(); // before the next round writes `sums`
    return before + inclusive - value;
}

/// Turns counts into cumulative counts and resets them for the next frame.
__device__ inline CumulativeScale scan_counts(const EqualizeArgs& args) {
    __shared__ std::uint32_t sums[kEqualizeThreads / 32];
    __shared__ std::uint32_t first;
    if (threadIdx.x == 0)
        first = 0;
    std::uint32_t carry = 0;
    for (std::uint32_t begin = 0; begin < args.bins; begin += kScanBins) {
        const std::uint32_t bin = begin + 4 * threadIdx.x;
        auto* counts = reinterpret_cast<uint4*>(args.counts + bin);
        const uint4 count = __ldcg(counts); // bypasses the L1 cache: other blocks have added to it
        std::uint32_t total = 0;
        const std::uint32_t before =
            carry + block_exclusive_sum(count.x + count.y + count.z + count.w, sums, total);
        uint4 sum;
        sum.x = before + count.x;
        sum.y = sum.x + count.y;
        sum.z = sum.y + count.z;
        sum.w = sum.z + count.w;
        const std::uint32_t lowest = count.x != 0   ? count.x
                                     : count.y != 0 ? count.y
                                     : count.z != 0 ? count.z
                                                    : count.w;
        if (before == 0 && lowest != 0)
            first = lowest; // one thread in one round
        *reinterpret_cast<uint4*>(args.cumulative + bin) = sum;
        *counts = make_uint4(0, 0, 0, 0);
        carry += total;
    }
    __syncthreads();
    return cumulative_scale(args.scaling, carry, first);
}

template <class T, int C> __device__ inline void make_table(const EqualizeArgs& args, const RealBins& real) {
    const CumulativeScale scale = scan_counts(args);
    if constexpr (std::is_same_v<T, float>) {
        auto* values = static_cast<float*>(args.table);
        if (scale.span != 0)
            for (std::uint32_t bin = threadIdx.x; bin < args.bins; bin += blockDim.x)
                values[bin] = equalized_value(real, scale, args.cumulative[bin]);
        if (threadIdx.x == 0) {
            args.state->real = real;
            args.state->unchanged = scale.span == 0 ? 1 : 0;
            args.state->low = 0xFFFFFFFFU;
            args.state->high = 0;
        }
    } else {
        const std::uint32_t levels = sizeof(T) == 1 ? 256 : args.levels.full + 1;
        for (std::uint32_t level = threadIdx.x; level < levels; level += blockDim.x) {
            const std::uint32_t mapped =
                mapped_level(args.levels, scale, args.weight, args.cumulative, level);
            if constexpr (sizeof(T) == 1 && C == 3) {
                auto* ratios = static_cast<float*>(args.table);
                ratios[level] = byte_ratio(mapped, level);
                if (level == 0)
                    ratios[256] = kByteGrid + static_cast<float>(mapped);
            } else {
                static_cast<T*>(args.table)[level] = static_cast<T>(mapped);
            }
        }
    }
    if (threadIdx.x == 0)
        args.state->done = 0;
}

} // namespace specklescope::cuda
