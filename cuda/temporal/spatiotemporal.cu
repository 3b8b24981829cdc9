// Spatio-temporal speckle contrast on the device: the newest frame is added to the running sums of every
// pixel, which are then summed over the windows.
#include "cuda/temporal/spatiotemporal_integer.cuh"
#include "cuda/temporal/spatiotemporal_real.cuh"
#include "stages/temporal/temporal.hpp"

#include <algorithm>

namespace specklescope {

namespace cuda {
namespace {

template <class T, class State> __global__ void __launch_bounds__(kTileThreads)
    take_kernel(const __grid_constant__ TemporalHistory args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    Samples<T> newest{};
    add_newest<T, State>(args, place, newest);
    advance_ages(args.saturation, place, newest, args.step.take, args.step.first);
}

using TakeKernel = void (*)(TemporalHistory);
using BoxKernel = void (*)(BoxArgs);

struct Kernels {
    TakeKernel take;
    BoxKernel box[2]; ///< without and with BoxArgs::finish; none for f32
};

Kernels kernels_of(PixelType type, int frames) {
    return dispatch_state<false>(type, frames, [](auto sample, auto state) -> Kernels {
        using T = decltype(sample);
        using State = decltype(state);
        if constexpr (std::is_same_v<T, float>)
            return {take_kernel<T, State>, {}};
        else
            return {take_kernel<T, State>,
                    {integer_box_kernel<State, false>, integer_box_kernel<State, true>}};
    });
}

unsigned blocks(int count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
}

class SpatiotemporalDevice final : public ContrastOverTime<DeviceStage, SpatiotemporalParams> {
public:
    using ContrastOverTime::ContrastOverTime;

    Shape prepare(const Shape& input) override {
        const Shape output = spatiotemporal_shape(params_, input);
        std::size_t plane = 0; // of columns, between the two passes
        if (input.type == PixelType::f32)
            plane = static_cast<std::size_t>(input.width) * static_cast<std::size_t>(output.height);
        memory_.prepare("stage spatiotemporal", input, history_.frames(), plane * (2 * sizeof(double) + 1));
        if (plane > 0) {
            for (Buffer& sums : sums_)
                sums = Buffer(plane * sizeof(double), device_memory());
            flags_ = Buffer(plane, device_memory());
        }
        kernels_ = kernels_of(input.type, history_.frames());
        correlation_ = window_correlation(params_.radius, params_.extras.speckle_size);
        history_.reset();
        return output;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        const HistoryStep step = history_.next(context.again);
        const ContrastScale scale = spatiotemporal_scale(params_, step.held, context.info);
        const double side = 2.0 * params_.radius + 1;
        const bool crop = params_.border == Border::crop;
        const BoxArgs args{.history = memory_.view(input, step, context.info, counted_frames_),
                           .border = crop ? Border::replicate : params_.border,
                           .radius = params_.radius,
                           .margin = crop ? 0 : params_.radius,
                           .width = input.shape.width,
                           .height = input.shape.height,
                           .out_width = output.shape.width,
                           .out_height = output.shape.height,
                           .sums = {sums_[0].as<double>(), sums_[1].as<double>()},
                           .saturated = flags_.as<std::uint8_t>(),
                           .merge = MergeParts::of(step.held, params_.radius),
                           .output = output.data,
                           .output_pitch = output.pitch,
                           .form = scale.form,
                           .c = scale.c,
                           .counts = context.counts,
                           .finish = contrast_finish<Space::device>(
                               params_, side * side * step.held, correlation_.over(step.held),
                               input.shape.type, context.info, output, context.also)};
        const bool finish = args.finish.count > 0;
        if (step.take)
            kernels_.take<<<memory_.tiles().blocks(), kTileThreads, 0, stream>>>(args.history);
        if (const BoxKernel box = kernels_.box[finish ? 1 : 0]) {
            box<<<dim3(blocks(args.out_width, box_columns(args.radius)), blocks(args.out_height, kWalkRows)),
                  kBoxThreads, 0, stream>>>(args);
        } else {
            real_columns_kernel<<<dim3(blocks(args.width, kRowThreads), blocks(args.out_height, kWalkRows)),
                                  kRowThreads, 0, stream>>>(args);
            const dim3 segments(blocks(args.out_width, kRowThreads - 2 * args.radius),
                                static_cast<unsigned>(std::min(args.out_height, 32768)),
                                blocks(args.out_height, 32768)); // a grid has up to 65535 rows
            const BoxKernel rows = finish ? real_rows_kernel<true> : real_rows_kernel<false>;
            rows<<<segments, kRowThreads, 0, stream>>>(args);
        }
        check_launch("the kernels of stage spatiotemporal");
    }

    std::string note() const override { return history_note(history_.frames(), memory_.bytes()); }

private:
    TemporalMemory<false> memory_;
    Buffer sums_[2], flags_;
    Kernels kernels_{};
    WindowCorrelation correlation_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_spatiotemporal_device(const Params& params) {
    return std::make_unique<cuda::SpatiotemporalDevice>(params);
}

} // namespace specklescope
