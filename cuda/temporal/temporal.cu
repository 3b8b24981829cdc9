// Temporal speckle contrast on the device: one pass over the newest frame, the frame that leaves and the
// sums.
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

__device__ inline float result_of(const TemporalArgs& args, IntegerSums sums) {
    const auto n = static_cast<std::uint32_t>(args.history.step.held);
    return contrast_value(args.form, static_cast<float>(args.c), static_cast<float>(sums.s),
                          static_cast<float>(determinant(sums, n)));
}
__device__ inline float result_of(const TemporalArgs& args, const RealSums& sums) {
    return contrast_of(sums, args.form, args.c, args.history.step.held);
}

template <class T, class State> __global__ void __launch_bounds__(kTileThreads)
    temporal_kernel(const __grid_constant__ TemporalArgs args) {
    const TemporalHistory& history = args.history;
    const Place place = place_of(history.tiles);
    if (place.tile >= history.tiles.count)
        return;
    Samples<T> newest{};
    const State state = add_newest<T, State>(history, place, newest);
    Samples<float> results;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        results.v[j] = result_of(args, state.of(j));
    store_results(args.output, args.output_pitch, place, results);
    count_undefined(*args.counts, place, results);
    count_saturated(*args.counts,
                    advance_ages(history.saturation, place, newest, history.step.take, history.step.first));
}

using TemporalKernel = void (*)(TemporalArgs);

TemporalKernel kernel_of(PixelType type, int frames) {
    return dispatch_state(type, frames, [](auto sample, auto state) -> TemporalKernel {
        return temporal_kernel<decltype(sample), decltype(state)>;
    });
}

class TemporalDevice final : public ContrastOverTime<DeviceStage, TemporalParams> {
public:
    using ContrastOverTime::ContrastOverTime;

    Shape prepare(const Shape& input) override {
        memory_.prepare("stage temporal", input, history_.frames());
        kernel_ = kernel_of(input.type, history_.frames());
        history_.reset();
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const HistoryStep step = history_.next(context.again);
        const ContrastScale scale =
            contrast_scale(params_.output, step.held, params_.exposure_ms, context.info);
        const TemporalArgs args{.history = memory_.view(input, step, context.info, counted_frames_),
                                .output = output.data,
                                .output_pitch = output.pitch,
                                .form = scale.form,
                                .c = scale.c,
                                .counts = context.counts};
        kernel_<<<memory_.tiles().blocks(), kTileThreads, 0, static_cast<cudaStream_t>(context.stream)>>>(
            args);
        check_launch("the kernel of stage temporal");
    }

    std::string note() const override { return history_note(history_.frames(), memory_.bytes()); }

private:
    TemporalMemory memory_;
    TemporalKernel kernel_ = nullptr;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_temporal_device(const Params& params) {
    return std::make_unique<cuda::TemporalDevice>(params);
}

} // namespace specklescope
