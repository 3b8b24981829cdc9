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
    BoxKernel box; ///< none for f32
};

Kernels kernels_of(PixelType type, int frames) {
    return dispatch_state(type, frames, [](auto sample, auto state) -> Kernels {
        using T = decltype(sample);
        using State = decltype(state);
        if constexpr (std::is_same_v<T, float>)
            return {take_kernel<T, State>, nullptr};
        else
            return {take_kernel<T, State>, integer_box_kernel<State>};
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
        history_.reset();
        return output;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        const HistoryStep step = history_.next(context.again);
        const ContrastScale scale = spatiotemporal_scale(params_, step.held, context.info);
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
                           .counts = context.counts};
        if (step.take)
            kernels_.take<<<memory_.tiles().blocks(), kTileThreads, 0, stream>>>(args.history);
        if (kernels_.box) {
            kernels_.box<<<dim3(blocks(args.out_width, box_columns(args.radius)),
                                blocks(args.out_height, kWalkRows)),
                           kBoxThreads, 0, stream>>>(args);
        } else {
            real_columns_kernel<<<dim3(blocks(args.width, kRowThreads), blocks(args.out_height, kWalkRows)),
                                  kRowThreads, 0, stream>>>(args);
            const dim3 segments(blocks(args.out_width, kRowThreads - 2 * args.radius),
                                static_cast<unsigned>(std::min(args.out_height, 32768)),
                                blocks(args.out_height, 32768)); // a grid has up to 65535 rows
            real_rows_kernel<<<segments, kRowThreads, 0, stream>>>(args);
        }
        check_launch("the kernels of stage spatiotemporal");
    }

    std::string note() const override { return history_note(history_.frames(), memory_.bytes()); }

private:
    TemporalMemory memory_;
    Buffer sums_[2], flags_;
    Kernels kernels_{};
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_spatiotemporal_device(const Params& params) {
    return std::make_unique<cuda::SpatiotemporalDevice>(params);
}

} // namespace specklescope
