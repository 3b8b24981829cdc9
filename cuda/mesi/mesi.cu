// Multi-exposure fit on the device: one pass over the image.
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "cuda/mesi/mesi_kernel.cuh"

namespace specklescope {

namespace cuda {
namespace {

class MesiDevice final : public DeviceStage {
public:
    explicit MesiDevice(const Params& params) : params_(params.as<MesiParams>()), set_(params_) {}

    Shape prepare(const Shape& input) override {
        const HistoryBytes bytes{
            .frame = input.pixels() * sizeof(float), .other = 0, .parameter = "exposures"};
        planes_ = Buffer();
        check_device_history("stage mesi", set_.planes(), bytes);
        planes_ = Buffer(bytes.frame * static_cast<std::size_t>(set_.planes()), device_memory());
        set_.reset();
        return mesi_shape(params_, input);
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        MesiArgs args{.input = input.data, .input_pitch = input.pitch};
        args.store = set_.next(context.info, context.again);
        args.task = set_.task();
        args.planes = planes_.as<float>();
        args.width = input.shape.width;
        args.height = input.shape.height;
        args.fits = set_.complete();
        args.tau = params_.output == MesiParams::Output::tau;
        args.output = output.data;
        args.output_pitch = output.pitch;
        std::size_t next = 0;
        for (std::size_t map = 0; map < kMesiMaps; ++map)
            if ((params_.also >> map & 1U) != 0) {
                args.also[map] = context.also[next].data;
                args.also_pitch[map] = context.also[next++].pitch;
            }
        args.counts = context.counts;
        auto* const kernel = mesi_kernel_for(params_.fit, args.task.count);
        kernel<<<mesi_blocks(args.width, args.height), kMesiThreads, 0,
                 static_cast<cudaStream_t>(context.stream)>>>(args);
        check_launch("the kernel of stage mesi");
    }

    void set_params(const Params& params) override {
        params_ = params.as<MesiParams>();
        set_.set_params(params_);
    }
    void reset() override { set_.reset(); }
    Warmup warmup() const override { return set_.warmup(); }
    std::string note() const override { return set_.note(); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    MesiParams params_;
    MesiSet set_;
    Buffer planes_; ///< of K²
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_mesi_device(const Params& params) {
    return std::make_unique<cuda::MesiDevice>(params);
}

} // namespace specklescope
