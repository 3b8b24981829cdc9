// Multi-exposure fit on the device: a pixel's samples and the state of its fit are in registers. Fits need 3
// to 20 iterations. A lane whose fit has ended takes the next pixel of its warp, so that few lanes wait.
#pragma once

#include "cuda/history.cuh"
#include "stages/mesi/mesi.hpp"

namespace specklescope::cuda {

inline constexpr int kMesiThreads = 128;
inline constexpr int kMesiWarps = kMesiThreads / 32;
inline constexpr int kMesiBatch = 256; ///< pixels of a warp
inline constexpr int kMesiIdle = 8;    ///< idle lanes that take new pixels together

struct MesiArgs {
    MesiTask task;
    const std::byte* input;
    std::size_t input_pitch;
    MesiStore store;
    float* planes; ///< of K², one for each exposure, without padding
    int width, height;
    bool fits; ///< false: the set is not complete, and every result is NaN
    bool tau;
    std::byte* output;
    std::size_t output_pitch;
    std::byte* also[kMesiMaps]; ///< null: not wanted
    std::size_t also_pitch[kMesiMaps];
    PixelCounts* counts;
};

/// Samples of one pixel.
template <int Most> struct MesiSamples {
    static constexpr int kMost = Most;
    float values[Most]; ///< NaN beyond the exposures: the compiler unrolls without branches
    SPECKLESCOPE_BOTH static constexpr int end() { return Most; }
    SPECKLESCOPE_BOTH float operator()(int i) const { return values[i]; }
};

template <int Most> __device__ MesiSamples<Most> mesi_samples(const MesiArgs& args, int pixel) {
    const std::size_t plane = static_cast<std::size_t>(args.width) * static_cast<std::size_t>(args.height);
    MesiSamples<Most> samples;
#pragma unroll
    for (int i = 0; i < Most; ++i)
        samples.values[i] =
            i < args.task.count ? args.planes[static_cast<std::size_t>(i) * plane + pixel] : NAN;
    return samples;
}

__device__ inline float& mesi_sample(std::byte* image, std::size_t pitch, const MesiArgs& args, int pixel) {
    const int y = pixel / args.width;
    return reinterpret_cast<float*>(image + static_cast<std::size_t>(y) * pitch)[pixel - y * args.width];
}

__device__ inline void mesi_store(const MesiArgs& args, int pixel) {
    if (args.store.slot < 0)
        return;
    const std::size_t plane = static_cast<std::size_t>(args.width) * static_cast<std::size_t>(args.height);
    float& kept = args.planes[static_cast<std::size_t>(args.store.slot) * plane + pixel];
    const float sample = mesi_sample(const_cast<std::byte*>(args.input), args.input_pitch, args, pixel);
    kept = mesi_kept(sample, kept, args.store);
}

/// Returns the number of undefined pixels written: 0 or 1.
__device__ inline unsigned mesi_write(const MesiArgs& args, int pixel, const MesiFit<float>& fit) {
    const float main = mesi_main(fit.rate, args.tau);
    mesi_sample(args.output, args.output_pitch, args, pixel) = main;
#pragma unroll
    for (int map = 0; map < kMesiMaps; ++map)
        if (args.also[map])
            mesi_sample(args.also[map], args.also_pitch[map], args, pixel) =
                mesi_map(fit, static_cast<MesiMap>(map));
    return main == main ? 0 : 1;
}

/// Fits the pixels from `first` to before `end`, whose starts are known; returns the undefined ones.
template <class Solver, int Most> __device__ unsigned
mesi_fit_batch(const MesiArgs& args, const typename Solver::Point* starts, int first, int end) {
    constexpr unsigned kAll = 0xffffffffU;
    const unsigned lane = threadIdx.x & 31U;
    MesiSamples<Most> samples{};
    typename Solver::State state{};
    int pixel = -1;
    int next = first;
    unsigned undefined = 0;
    for (;;) {
        const unsigned idle = __ballot_sync(kAll, !state.open);
        if (next < end && (__popc(idle) >= kMesiIdle)) {
            if (!state.open) {
                if (pixel >= 0)
                    undefined += mesi_write(args, pixel, Solver::result(args.task, state));
                pixel = next + __popc(idle & ((1U << lane) - 1U));
                pixel = pixel < end ? pixel : -1;
                if (pixel >= 0) {
                    samples = mesi_samples<Most>(args, pixel);
                    state = Solver::begin(starts[pixel - first], samples);
                }
            }
            next += __popc(idle);
            continue;
        }
        if (idle == kAll)
            break;
        if (__any_sync(kAll, state.used < static_cast<float>(Most)))
            Solver::template advance<true>(args.task, samples, state);
        else
            Solver::template advance<false>(args.task, samples, state);
    }
    return pixel >= 0 ? undefined + mesi_write(args, pixel, Solver::result(args.task, state)) : undefined;
}

template <bool Beta, bool Noise, int Most> __global__ void __launch_bounds__(kMesiThreads)
    mesi_kernel(const __grid_constant__ MesiArgs args) {
    using Solver = MesiSolver<MesiScalar, Beta, Noise>;
    __shared__ typename Solver::Point starts[kMesiWarps][kMesiBatch];
    const int warp = static_cast<int>(threadIdx.x / 32U);
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int first = (static_cast<int>(blockIdx.x) * kMesiWarps + warp) * kMesiBatch;
    const int end = min(first + kMesiBatch, args.width * args.height);
    ThreadCounts mine;
#pragma unroll 1
    for (int pixel = first + lane; pixel < end; pixel += 32) {
        mesi_store(args, pixel);
        if (args.fits)
            starts[warp][pixel - first] = Solver::start(args.task, mesi_samples<Most>(args, pixel));
        else
            mine.undefined += mesi_write(args, pixel, mesi_unknown());
    }
    __syncwarp();
    if (args.fits && first < end)
        mine.undefined += mesi_fit_batch<Solver, Most>(args, starts[warp], first, end);
    count_in_block(*args.counts, mine);
}

/// The kernel for these free parameters and this number of exposures.
inline auto mesi_kernel_for(MesiFree free, int count) {
    const bool few = count <= 8;
    switch (free) {
    case MesiFree::noise:
        return few ? mesi_kernel<false, true, 8> : mesi_kernel<false, true, kMesiExposures>;
    case MesiFree::beta:
        return few ? mesi_kernel<true, false, 8> : mesi_kernel<true, false, kMesiExposures>;
    case MesiFree::none:
        break;
    }
    return few ? mesi_kernel<false, false, 8> : mesi_kernel<false, false, kMesiExposures>;
}

inline unsigned mesi_blocks(int width, int height) {
    constexpr int kPixels = kMesiWarps * kMesiBatch;
    return static_cast<unsigned>((width * height + kPixels - 1) / kPixels);
}

} // namespace specklescope::cuda
