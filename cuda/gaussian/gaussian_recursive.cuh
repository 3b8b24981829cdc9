// Blocks of the recursive Gaussian in registers, and the states between them.
#pragma once

#include "cuda/defined_filter.hpp"
#include "cuda/gaussian/gaussian_blocks.hpp"
#include "cuda/gaussian/gaussian_launch.hpp"
#include "cuda/gaussian/gaussian_samples.cuh"
#include "cuda/sequence.hpp"

namespace specklescope::cuda {

struct State {
    float w, d, e;
};

/// States of one line: for every block (w, d, e) of the forward pass, of the backward pass and, with border =
/// reflect, of the mirrored block; lines are interleaved. The first kernel over an axis stores each block's
/// contribution; the scan replaces it with the state before the block (after it for the backward pass).
struct LineStates {
    float* first; ///< of this line
    int lines;
    int components;

    __device__ float* at(int component, int block) const {
        return first + (static_cast<std::int64_t>(block) * components + component) * lines;
    }
    __device__ State load(int component, int block) const {
        // Bypasses the L1 cache, since kernels overlap.
        const float* const w = at(component, block);
        return {__ldcg(w), __ldcg(w + lines), __ldcg(w + 2 * static_cast<std::int64_t>(lines))};
    }
    __device__ void store(int component, int block, const State& state) const {
        float* const w = at(component, block);
        w[0] = state.w;
        w[lines] = state.d;
        w[2 * static_cast<std::int64_t>(lines)] = state.e;
    }
};
inline constexpr int kForwardState = 0;
inline constexpr int kBackwardState = 3;
inline constexpr int kMirroredState = 6;
SPECKLESCOPE_BOTH constexpr int state_components(Border border) { return border == Border::reflect ? 9 : 6; }

/// Contribution of a block, from weights with compile-time positions.
template <bool Mirror> struct BlockSums {
    static constexpr int kComponents = Mirror ? 9 : 6;
    float sums[kComponents] = {};

    __device__ __forceinline__ void add(const BlockWeights& weights, int i, float sample) {
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            sums[kForwardState + c] = fmaf(weights.forward[c][i], sample, sums[kForwardState + c]);
            sums[kBackwardState + c] = fmaf(weights.backward[c][i], sample, sums[kBackwardState + c]);
            if constexpr (Mirror)
                sums[kMirroredState + c] = fmaf(weights.mirrored[c][i], sample, sums[kMirroredState + c]);
        }
    }
    __device__ __forceinline__ void store(const LineStates& states, int block) const {
        float* const first = states.at(0, block);
#pragma unroll
        for (int c = 0; c < kComponents; ++c)
            first[c * static_cast<std::int64_t>(states.lines)] = sums[c];
    }
};

struct StepFactors {
    float gain, slope, curve;

    __device__ float operator()(State& s, float x) const {
        s.e = fmaf(gain, x - s.w, fmaf(-slope, s.d, curve * s.e));
        s.d += s.e;
        s.w += s.d;
        return s.w;
    }
};

/// Filters forward, then backward over the result; only the first `count` samples if the block is not Whole.
template <bool Whole> __device__ __forceinline__ void
filter_block(float (&run)[kBlockSamples], int count, const StepFactors& step, State forward, State backward) {
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        if (Whole || i < count)
            run[i] = step(forward, run[i]);
#pragma unroll
    for (int i = kBlockSamples - 1; i >= 0; --i)
        if (Whole || i < count)
            run[i] = step(backward, run[i]);
}

__device__ __forceinline__ void filter_block(float (&run)[kBlockSamples], int count, const StepFactors& step,
                                             State forward, State backward) {
    if (count == kBlockSamples)
        filter_block<true>(run, count, step, forward, backward);
    else
        filter_block<false>(run, count, step, forward, backward);
}

/// Values, or the mask of f32.
enum class Plane : bool { values, mask };

/// The guard of a frame, in kernels after the first.
struct Missing {
    bool any;
    float offset;

    __device__ explicit Missing(const RecursiveMissing& missing)
        : any(missing.guard && __ldcg(&missing.guard->frame) == missing.frame),
          offset(missing.guard ? __ldcg(&missing.guard->offset) : 0) {}
    /// Replaces samples of the image.
    template <class T, Plane kPlane, int N>
    __device__ __forceinline__ void replace(const FilterNorm& norm, float (&run)[N]) const {
        if constexpr (std::is_same_v<T, float>)
            if (kPlane == Plane::mask || any || offset != 0)
#pragma unroll
                for (int i = 0; i < N; ++i) {
                    const bool is = is_sample(run[i]);
                    run[i] = kPlane == Plane::mask ? norm.mask(is, 0, 0) // no weight is negative
                             : is                  ? run[i] - offset
                                                   : 0;
                }
    }
};

struct ScanArgs {
    float* states;
    std::size_t plane; ///< floats from the values' states to the mask's
    int lines;
    const void* first; ///< every line's first sample, contiguous
    const void* last;
    bool filtered; ///< these samples are results of the columns, in both planes
    RecursiveMissing missing;
};

/// Runs between two kernels of a Sequence.
void launch_scan(const ScanArgs& args, const LineScan& scan, PixelType type, const Sequence& sequence);

} // namespace specklescope::cuda
