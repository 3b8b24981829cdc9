// Gaussian with a small window in one pass from pixels to result. A warp moves down a strip; each lane holds
// the unfinished sums of V columns, to which every new row adds its part (the transposed form of the filter:
// no data are moved), and blurs the finished row with its neighbours' values by shuffles. Lanes at both ends
// of a warp only provide values for their neighbours.
#pragma once

#include "cuda/gaussian/gaussian_ring.cuh"

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
    static constexpr int kStrip = kSamples * (32 - 2 * kHalo);
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

template <class T, int C, int R> __global__ void __launch_bounds__(kWalkThreads)
    walk_kernel(const __grid_constant__ WalkArgs args) {
    using Shape = WalkShape<T, C, R>;
    constexpr int V = Shape::kSamples;
    constexpr int halo = Shape::kHalo;
    using Ring = RowRing<T, V>;
    __shared__ alignas(16) std::byte memory[kWalkThreads / 32][Ring::kBytes];
    WalkStrip strip;
    if (skipped(args.images.guard) || !strip_of_warp(args, Shape::kStrip, V * halo, strip))
        return;
    const BlurImages& images = args.images;
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int x = strip.begin + lane * V;
    const bool weighted = images.inverse_x != nullptr;
    const int steps = strip.end - strip.first + 2 * R;
    ResultRows<T, V, C> results(args, strip, x, lane >= halo && lane < 32 - halo);
    Ring ring(memory[threadIdx.x / 32], args, strip, C, R * C, strip.first - R);
#pragma unroll 1
    for (int i = 0; i < kRingRows - 1; ++i)
        ring.ask(i, i < steps);

    float sums[2 * R][V] = {}; // sums[k] lacks k + 1 rows
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        ring.ask(i + kRingRows - 1, i + kRingRows - 1 < steps);
        const Samples<T, V> samples = ring.take(i);
        float row[V];
        samples.to_float(row);
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
        Samples<T, V> rounded;
        rounded.from_float(out);
        results.put(rounded);
    }
    if (images.found && !results.finite())
        images.found->undefined = 1;
}

template <class T, int C> WalkKernels walk_kernels() {
    return []<int... I>(std::integer_sequence<int, I...>) {
        return WalkKernels{WalkKernel{walk_kernel<T, C, I + 1>, WalkShape<T, C, I + 1>::kStrip}...};
    }
    (std::make_integer_sequence<int, kMaxWalkRadius>());
}

} // namespace specklescope::cuda
