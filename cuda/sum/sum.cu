// Sums of consecutive frames on the device: the arithmetic of the host, sample by sample.
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "stages/sum/sum.hpp"

namespace specklescope {

namespace cuda {
namespace {

struct SumArgs {
    const std::byte* input;
    std::size_t input_pitch;
    std::byte* output;
    std::size_t output_pitch;
    Tiles tiles;
    float* sums;     ///< the present sum, by tiles
    float* complete; ///< the last complete one
    SumStep step;
    PixelCounts* counts;
};

template <class T> __global__ void __launch_bounds__(kTileThreads)
    sum_kernel(const __grid_constant__ SumArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    float* const complete = args.complete + place.sample();
    Samples<float> shown{};
    if (args.step.take) {
        const Samples<T> newest = load_samples<T>(args.input, args.input_pitch, place);
        float* const sums = args.sums + place.sample();
        Samples<float> total = args.step.first ? Samples<float>{} : Samples<float>::load(sums);
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            total.v[j] = sum_with(total.v[j], static_cast<float>(newest.v[j]), args.step);
        total.store(sums);
        shown = total;
    }
    if (args.step.ends)
        shown.store(complete);
    else if (args.step.shows)
        shown = Samples<float>::load(complete);
    Samples<float> results;
    unsigned saturated = 0;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j) {
        results.v[j] = args.step.shows ? sum_value(shown.v[j], args.step) : NAN;
        saturated += args.step.shows && j < place.inside && is_saturated(shown.v[j], args.step) ? 1U : 0U;
    }
    store_results(args.output, args.output_pitch, place, results);
    ThreadCounts mine = undefined_of(place, results);
    mine.saturated = saturated;
    count_in_block(*args.counts, mine);
}

class SumDevice final : public DeviceStage {
public:
    explicit SumDevice(const Params& params) : schedule_(params.as<SumParams>()) {}

    Shape prepare(const Shape& input) override {
        schedule_.reset();
        if (schedule_.passes())
            return input;
        tiles_ = Tiles::of(input);
        const std::size_t bytes = tiles_.samples() * sizeof(float);
        check_device_history("stage sum", 2, {.frame = bytes, .other = 0, .parameter = "images"});
        sums_ = Buffer(bytes, device_memory());
        complete_ = Buffer(bytes, device_memory());
        type_ = input.type;
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        if (schedule_.passes()) {
            check(cudaMemcpy2DAsync(output.data, output.pitch, input.data, input.pitch,
                                    input.shape.row_bytes(), static_cast<std::size_t>(input.shape.height),
                                    cudaMemcpyDeviceToDevice, stream),
                  "cudaMemcpy2DAsync");
            return;
        }
        const SumArgs args{.input = input.data,
                           .input_pitch = input.pitch,
                           .output = output.data,
                           .output_pitch = output.pitch,
                           .tiles = tiles_,
                           .sums = sums_.as<float>(),
                           .complete = complete_.as<float>(),
                           .step = schedule_.next(context.info, context.again, input.shape.type),
                           .counts = context.counts};
        dispatch(input.shape.type, [&](auto zero) {
            sum_kernel<decltype(zero)><<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        });
        check_launch("the kernel of stage sum");
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    void reset() override { schedule_.reset(); }
    Warmup warmup() const override { return schedule_.warmup(); }
    std::string note() const override { return schedule_.note(); }
    bool note_changes() const override { return true; }
    Counted counted() const override {
        return {.undefined = !schedule_.passes(),
                .saturated = !schedule_.passes() && type_ != PixelType::f32};
    }
    void describe(FrameInfo& info) const override {
        if (!schedule_.passes())
            schedule_.describe(info);
    }

private:
    SumSchedule schedule_;
    Tiles tiles_;
    Buffer sums_, complete_;
    PixelType type_ = PixelType::u8;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_sum_device(const Params& params) {
    return std::make_unique<cuda::SumDevice>(params);
}

} // namespace specklescope
