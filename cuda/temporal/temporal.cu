// Temporal speckle contrast on the device: one pass over the newest frame, the frame that leaves and the
// sums.
#include "cuda/contrast_results.cuh"
#include "cuda/temporal/temporal_state.cuh"
#include "stages/temporal/temporal.hpp"

namespace specklescope {

namespace cuda {
namespace {

struct TemporalArgs {
    TemporalHistory history;
    std::byte* output;
    std::size_t output_pitch;
    ContrastForm form;
    double c;
    PixelCounts* counts;
};
/// For several images or corrections.
struct TemporalFinishArgs : TemporalArgs {
    ContrastFinish finish;
};

__device__ inline Moments moments(NarrowSums sums, std::uint32_t n) {
    return {static_cast<float>(sums.sum(n)), static_cast<float>(determinant(sums, n))};
}
__device__ inline Moments moments(IntegerSums sums, std::uint32_t n) {
    return {static_cast<float>(sums.s), static_cast<float>(determinant(sums, n))};
}

/// Stores the results and returns their undefined and infinite ones.
template <class State> __device__ inline ThreadCounts write_results(const TemporalArgs& args,
                                                                    const Place& place, const State& state) {
    Samples<float> results;
    if constexpr (std::is_same_v<State, RealState>) {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = contrast_of(state.of(j), args.form, args.c, args.history.step.held);
    } else {
        Moments all[kLaneSamples];
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            all[j] = moments(state.of(j), static_cast<std::uint32_t>(args.history.step.held));
        results_of(all, args.form, static_cast<float>(args.c), results.v);
    }
    store_results(args.output, args.output_pitch, place, results);
    return undefined_of(place, results);
}

__device__ inline WindowSums sums_of(NarrowSums sums, int n) {
    const auto count = static_cast<std::uint32_t>(n);
    return {static_cast<double>(sums.sum(count)), static_cast<double>(determinant(sums, count))};
}
__device__ inline WindowSums sums_of(IntegerSums sums, int n) {
    return {static_cast<double>(sums.s),
            static_cast<double>(determinant(sums, static_cast<std::uint32_t>(n)))};
}
__device__ inline WindowSums sums_of(const RealSums& sums, int n) { return window_sums(sums, n); }

/// Stores the results of several images or corrections, and counts those of the first image.
template <class State> __device__ inline ThreadCounts write_results(const TemporalFinishArgs& args,
                                                                    const Place& place, const State& state) {
    const ContrastFinish& finish = args.finish;
    const int n = args.history.step.held;
    WindowSums sums[kLaneSamples];
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j) {
        sums[j] = sums_of(state.of(j), n);
        if (finish.corrects)
            sums[j] = corrected(finish, n, sums[j]);
    }
    const bool floats = !finish.corrects && !std::is_same_v<State, RealState>;
    ThreadCounts mine;
#pragma unroll 1
    for (int i = 0; i < finish.count; ++i) {
        const ContrastForm form = finish.images[i].form;
        const double c = finish.images[i].c;
        Samples<float> results;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = floats ? finished(finish, form, static_cast<float>(c), n,
                                             static_cast<float>(sums[j].s), static_cast<float>(sums[j].d))
                                  : finished(finish, form, c, n, sums[j]);
        store_results(finish.images[i].data, finish.images[i].pitch, place, results);
        if (i == 0)
            mine = undefined_of(place, results);
    }
    return mine;
}

/// Blocks per multiprocessor: several images would otherwise take registers for one only.
template <class Args> inline constexpr int kTemporalBlocks = std::is_same_v<Args, TemporalArgs> ? 0 : 2;

template <class T, class State, class Args>
__global__ void __launch_bounds__(kTileThreads, kTemporalBlocks<Args>)
    temporal_kernel(const __grid_constant__ Args args) {
    const TemporalHistory& history = args.history;
    const Place place = place_of(history.tiles);
    if (place.tile >= history.tiles.count)
        return;
    Samples<T> newest{};
    const State state = add_newest<T, State>(history, place, newest);
    ThreadCounts mine = write_results(args, place, state);
    mine.saturated =
        saturated_of(advance_ages(history.saturation, place, newest, history.step.take, history.step.first));
    count_in_block(*args.counts, mine);
}

struct TemporalKernels {
    void (*direct)(TemporalArgs);
    void (*finish)(TemporalFinishArgs);
};

TemporalKernels kernels_of(PixelType type, int frames) {
    return dispatch_state<true>(type, frames, [](auto sample, auto state) -> TemporalKernels {
        using T = decltype(sample);
        using State = decltype(state);
        return {temporal_kernel<T, State, TemporalArgs>, temporal_kernel<T, State, TemporalFinishArgs>};
    });
}

class TemporalDevice final : public ContrastOverTime<DeviceStage, TemporalParams> {
public:
    using ContrastOverTime::ContrastOverTime;

    Shape prepare(const Shape& input) override {
        memory_.prepare("stage temporal", input, history_.frames());
        kernels_ = kernels_of(input.type, history_.frames());
        history_.reset();
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const HistoryStep step = history_.next(context.again);
        const ContrastScale scale =
            contrast_scale(params_.output, step.held, params_.exposure_ms, context.info);
        const TemporalFinishArgs args{
            {.history = memory_.view(input, step, context.info, counted_frames_),
             .output = output.data,
             .output_pitch = output.pitch,
             .form = scale.form,
             .c = scale.c,
             .counts = context.counts},
            contrast_finish<Space::device>(params_, step.held, WindowCorrelation().over(step.held),
                                           input.shape.type, context.info, output, context.also)};
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        if (args.finish.count > 0)
            kernels_.finish<<<memory_.tiles().blocks(), kTileThreads, 0, stream>>>(args);
        else
            kernels_.direct<<<memory_.tiles().blocks(), kTileThreads, 0, stream>>>(args);
        check_launch("the kernel of stage temporal");
    }

    std::string note() const override { return history_note(history_.frames(), memory_.bytes()); }

private:
    TemporalMemory<true> memory_;
    TemporalKernels kernels_{};
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_temporal_device(const Params& params) {
    return std::make_unique<cuda::TemporalDevice>(params);
}

} // namespace specklescope
