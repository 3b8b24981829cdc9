// Gaussian with a small window in one pass from pixels to result. A warp moves down a strip; each lane holds
// the unfinished sums of V columns, to which every new row adds its part (the transposed form of the filter:
// no data are moved), and blurs the finished row with its neighbours' values by shuffles. Lanes at both ends
// of a warp only provide values for their neighbours.
#pragma once

#include "cuda/gaussian/gaussian_ring.cuh"
#include "cuda/sequence.hpp"

#include <utility>

namespace specklescope::cuda {

/// Layout of a warp's row: kSamples per lane; kHalo lanes at each end only provide values.
template <class T, int C, int R> struct WalkShape {
    /// 2·R sums per sample must fit into a lane's registers.
    static constexpr int kSamples = sizeof(T) == 1   ? (R <= 4 ? 16 : 8)
                                    : sizeof(T) == 2 ? 8
                                    : R * C <= 12    ? 4
                                                     : 8;
    static constexpr int kHalo = (R * C + kSamples - 1) / kSamples;
    /// Lanes with results; of f32, whose undefined pixels are counted, for whole pixels.
    static constexpr int kLanes = (32 - 2 * kHalo) / (sizeof(T) == 4 ? C : 1) * (sizeof(T) == 4 ? C : 1);
    static constexpr int kStrip = kSamples * kLanes;
    /// Blocks per multiprocessor: as many as the plain walk's registers allow. The others spill some.
    static constexpr int kBlocks[2][kMaxWalkRadius] = {{9, 8, 7, 5, 5, 4, 4, 4}, {9, 7, 5, 4, 3, 2, 2, 2}};
    static constexpr int kHeld = sizeof(T) == 4 ? blocks_held(kWalkThreads, kBlocks[C / 3][R - 1]) : 0;
};

/// Blur along the row: `column` contains the lane's samples 0 … V − 1.
template <int C, int R, int V> __device__ inline void
blur_row(const float (&column)[V], const float (&taps)[kMaxWalkRadius + 1], float (&out)[V]) {
    constexpr int reach = R * C;
    float window[V + 2 * reach];
#pragma unroll
    for (int i = -reach; i < V + reach; ++i) {
        const int lanes = i >= 0 ? i / V : -((V - 1 - i) / V);
        const float own = column[i - lanes * V];
        window[i + reach] = lanes == 0  ? own
                            : lanes < 0 ? __shfl_up_sync(kWholeWarp, own, -lanes)
                                        : __shfl_down_sync(kWholeWarp, own, lanes);
    }
#pragma unroll
    for (int j = 0; j < V; ++j) {
        out[j] = taps[0] * window[j + reach];
#pragma unroll
        for (int k = 1; k <= R; ++k)
            out[j] = fmaf(taps[k], window[j + reach - k * C] + window[j + reach + k * C], out[j]);
    }
}

/// Walks over a strip of f32. Only strips with undefined or infinite results need more than the first, for
/// the weighted mean of FilterNorm.
enum class Walk : std::uint8_t {
    plain,   ///< results from all samples
    sums,    ///< of the finite samples
    weights, ///< of the finite samples; divides their sums
    whole    ///< plain results again where all samples are finite: the same for every size of strips
};

/// Replaces samples for a walk. `x`, `y`: place of the first in the image.
template <int C, int V> __device__ void replace_samples(const WalkArgs& args, Walk walk, float offset, int x,
                                                        int y, float (&row)[V]) {
    const BlurImages& images = args.images;
    const bool outside = images.border == Border::omit && (y < 0 || y >= images.height);
#pragma unroll
    for (int j = 0; j < V; ++j) {
        const bool missing =
            outside || (images.border == Border::omit && (x + j < 0 || x + j >= images.width * C));
        const bool finite = is_sample(row[j]) && !missing;
        if (walk == Walk::weights)
            row[j] = args.norm.mask(finite, 0, 0); // no weight is negative
        else
            row[j] = missing || (walk == Walk::sums && !finite) ? 0 : row[j] - offset;
    }
}

/// The final results of a walk from `own`, its results, and `before`, those of the previous walk.
template <int V> __device__ void finish_results(const FilterNorm& norm, Walk walk, float offset,
                                                const float (&before)[V], float (&own)[V]) {
#pragma unroll
    for (int j = 0; j < V; ++j) {
        if (walk == Walk::weights)
            own[j] = normalised(norm, 0, before[j], true, own[j], offset);
        else if (walk != Walk::sums)
            own[j] = walk == Walk::whole && !is_sample(own[j]) ? before[j] : own[j] + offset;
    }
}

/// Pixels of the lane with a marked sample (bit j: sample x + j). A pixel belongs to the lane of its last
/// sample; lanes without results have no marks.
template <int C, int V> __device__ inline int marked_pixels(unsigned marks, int x) {
    if constexpr (C == 1)
        return __popc(marks);
    const unsigned all = marks << 2U | __shfl_up_sync(kWholeWarp, marks, 1) >> (V - 2);
    const unsigned pixels = all | all >> 1U | all >> 2U; // bit j: samples j − 2 … j
    int count = 0;
#pragma unroll
    for (int j = 0; j < V; ++j)
        count += (x + j) % C == C - 1 && (pixels >> j & 1U) != 0 ? 1 : 0;
    return count;
}

/// Returns whether all results are finite. Careful: all walks, with an offset; otherwise only the plain one,
/// which of f32 sets `offset` and ends with false unless it is 0.
template <class T, int C, int R, bool Careful> __device__ __forceinline__ bool
walk_strip(const WalkArgs& args, const WalkStrip& strip, std::byte* memory, Walk walk, float& offset) {
    using Shape = WalkShape<T, C, R>;
    constexpr int V = Shape::kSamples;
    constexpr int halo = Shape::kHalo;
    constexpr bool kReal = std::is_same_v<T, float>;
    const BlurImages& images = args.images;
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int x = strip.begin + lane * V;
    const bool weighted = images.inverse_x != nullptr;
    const int steps = strip.end - strip.first + 2 * R;
    ResultRows<T, V, C> results(args, strip, x, lane >= halo && lane < halo + Shape::kLanes);
    RowRing<T, V> ring(memory, args, strip, C, R * C, strip.first - R);
#pragma unroll 1
    for (int i = 0; i < kRingRows - 1; ++i)
        ring.ask(i, i < steps);
    if constexpr (kReal && !Careful)
        if (!args.norm.zeros_outside) {
            offset = offset_of_warp({reinterpret_cast<const float*>(args.frames.input()), images.width,
                                     images.height, C, static_cast<std::size_t>(images.input_pitch)});
            if (offset != 0) {
                __pipeline_wait_prior(0);
                return false;
            }
        }
    [[maybe_unused]] int undefined = 0;
    [[maybe_unused]] int infinite = 0;

    float sums[2 * R][V] = {}; // sums[k] lacks k + 1 rows
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        ring.ask(i + kRingRows - 1, i + kRingRows - 1 < steps);
        const Samples<T, V> samples = ring.take(i);
        float row[V];
        samples.to_float(row);
        if constexpr (Careful)
            replace_samples<C>(args, walk, offset, x, strip.first - R + i, row);
        float column[V];
#pragma unroll
        for (int j = 0; j < V; ++j) {
            column[j] = fmaf(args.taps[R], row[j], sums[0][j]);
#pragma unroll
            for (int k = 0; k < 2 * R; ++k) {
                const float tap = args.taps[k + 1 < R ? R - k - 1 : k + 1 - R];
                sums[k][j] =
                    k + 1 < 2 * R ? fmaf(tap, row[j], sums[k + 1 < 2 * R ? k + 1 : 0][j]) : tap * row[j];
            }
        }
        if (i < 2 * R)
            continue;
        float out[V];
        blur_row<C, R, V>(column, args.taps, out);
        if (weighted) {
            const int y = strip.first + i - 2 * R;
#pragma unroll
            for (int j = 0; j < V; ++j)
                out[j] *= images.inverse_x[min(max(x + j, 0) / C, images.width - 1)] * images.inverse_y[y];
        }
        if constexpr (Careful) {
            float before[V] = {};
            if (walk != Walk::plain)
                results.get(before);
            finish_results(args.norm, walk, offset, before, out);
            if (walk == Walk::whole) {
                undefined += marked_pixels<C, V>(results.marks(out, [](float v) { return isnan(v); }), x);
                infinite += marked_pixels<C, V>(results.marks(out, [](float v) { return isinf(v); }), x);
            }
        }
        Samples<T, V> rounded;
        rounded.from_float(out);
        results.put(rounded);
    }
    if constexpr (Careful)
        if (walk == Walk::whole) {
            PixelCounts& counts = *args.frames.counts[blockIdx.z];
            add_of_warp(counts.undefined, undefined);
            add_of_warp(counts.infinite, infinite);
        }
    return results.finite();
}

/// For strips whose plain walk found an offset or results that are not finite.
template <class T, int C, int R> __device__ __noinline__ void
walk_carefully(const WalkArgs& args, WalkStrip strip, std::byte* memory, float offset) {
    for (auto walk = offset != 0 ? Walk::plain : Walk::sums;;
         walk = static_cast<Walk>(static_cast<int>(walk) + 1)) {
        const bool finite = walk_strip<T, C, R, true>(args, strip, memory, walk, offset);
        if (walk == Walk::whole || (walk == Walk::plain && __all_sync(kWholeWarp, finite ? 1 : 0) != 0))
            return;
    }
}

template <class T, int C, int R> __global__ void __launch_bounds__(kWalkThreads, WalkShape<T, C, R>::kHeld)
    walk_kernel(const __grid_constant__ WalkArgs args) {
    using Shape = WalkShape<T, C, R>;
    __shared__ alignas(16) std::byte memory[kWalkThreads / 32][RowRing<T, Shape::kSamples>::kBytes];
    WalkStrip strip;
    if (!strip_of_warp(args, Shape::kStrip, Shape::kSamples * Shape::kHalo, strip))
        return;
    wait_for_previous();
    std::byte* const ring = memory[threadIdx.x / 32];
    float offset = 0;
    const bool finite = walk_strip<T, C, R, false>(args, strip, ring, Walk::plain, offset);
    if constexpr (std::is_same_v<T, float>)
        if (__all_sync(kWholeWarp, finite ? 1 : 0) == 0)
            walk_carefully<T, C, R>(args, strip, ring, offset);
}

template <class T, int C> WalkKernels walk_kernels() {
    return []<int... I>(std::integer_sequence<int, I...>) {
        return WalkKernels{WalkKernel{walk_kernel<T, C, I + 1>, WalkShape<T, C, I + 1>::kStrip}...};
    }
    (std::make_integer_sequence<int, kMaxWalkRadius>());
}

} // namespace specklescope::cuda
