// Multi-exposure fit on the device: one thread a pixel, its samples and sums in registers.
#pragma once

#include "pipeline/frame.hpp"
#include "stages/mesi/mesi.hpp"

namespace specklescope::cuda {

inline constexpr int kMesiThreads = 128;

struct MesiArgs {
    MesiTask task;
    const std::byte* input; ///< null: nothing to store
    std::size_t input_pitch;
    MesiStore store;
    float* planes; ///< of K², one for each exposure; rows `width` samples apart
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

template <bool Beta, bool Noise, int Most> __global__ void __launch_bounds__(kMesiThreads)
    mesi_kernel(const __grid_constant__ MesiArgs args) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y);
    float main = 0;
    if (x < args.width) {
        const std::size_t plane =
            static_cast<std::size_t>(args.width) * static_cast<std::size_t>(args.height);
        float* const mine =
            args.planes + static_cast<std::size_t>(y) * static_cast<std::size_t>(args.width) + x;
        if (args.store.slot >= 0) {
            const float sample = reinterpret_cast<const float*>(args.input + static_cast<std::size_t>(y) *
                                                                                 args.input_pitch)[x];
            float* const kept = mine + static_cast<std::size_t>(args.store.slot) * plane;
            *kept = mesi_kept(sample, *kept, args.store);
        }
        MesiFit<float> fit = mesi_unknown();
        if (args.fits) {
            MesiSamples<Most> samples;
#pragma unroll
            for (int i = 0; i < Most; ++i)
                samples.values[i] = i < args.task.count ? mine[static_cast<std::size_t>(i) * plane] : NAN;
            fit = MesiSolver<MesiScalar, Beta, Noise>::fit(args.task, samples);
        }
        main = mesi_main(fit.rate, args.tau);
        reinterpret_cast<float*>(args.output + static_cast<std::size_t>(y) * args.output_pitch)[x] = main;
#pragma unroll
        for (int map = 0; map < kMesiMaps; ++map)
            if (args.also[map])
                reinterpret_cast<float*>(args.also[map] +
                                         static_cast<std::size_t>(y) * args.also_pitch[map])[x] =
                    mesi_map(fit, static_cast<MesiMap>(map));
    }
    const unsigned undefined = __popc(__ballot_sync(0xffffffffU, isnan(main)));
    if (undefined != 0 && (threadIdx.x & 31U) == 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(&args.counts->undefined),
                  static_cast<unsigned long long>(undefined));
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

inline dim3 mesi_blocks(int width, int height) {
    return {static_cast<unsigned>((width + kMesiThreads - 1) / kMesiThreads), static_cast<unsigned>(height)};
}

} // namespace specklescope::cuda
