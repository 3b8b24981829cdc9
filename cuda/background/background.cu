// Dark frame and flat field on the device, which adds frames and applies the planes. A complete capture is
// converted to planes on the host, which blocks the stream once.
#include "cuda/colour_counts.cuh"
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "stages/background/background.hpp"

#include <cmath>

namespace specklescope {

namespace cuda {
namespace {

template <class T> __global__ void __launch_bounds__(kTileThreads)
    add_kernel(const std::byte* input, std::size_t pitch, Tiles tiles, double* sums, bool first) {
    const Place place = place_of(tiles);
    if (place.tile >= tiles.count)
        return;
    const Samples<T> samples = load_samples<T>(input, pitch, place);
    auto* const at = reinterpret_cast<double2*>(sums + place.sample());
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        double2 sum = first ? make_double2(0, 0) : at[i];
        sum.x += samples.v[2 * i];
        sum.y += samples.v[2 * i + 1];
        at[i] = sum;
    }
}

struct CorrectArgs {
    const std::byte* input;
    std::size_t input_pitch;
    std::byte* output;
    std::size_t output_pitch;
    Tiles tiles;
    const float *dark, *gain;
    Calibration::Saturation saturation;
    PixelCounts* counts; ///< of samples
};

template <class T> __global__ void __launch_bounds__(kTileThreads)
    correct_kernel(const __grid_constant__ CorrectArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    const Samples<T> samples = load_samples<T>(args.input, args.input_pitch, place);
    const Samples<float> dark = Samples<float>::load(args.dark + place.sample());
    const Samples<float> gain = Samples<float>::load(args.gain + place.sample());
    Samples<float> results;
    unsigned saturated = 0;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j) {
        const auto sample = static_cast<float>(samples.v[j]);
        results.v[j] =
            corrected(sample, dark.v[j], gain.v[j], args.saturation.threshold, args.saturation.mark);
        saturated += j < place.inside && sample >= args.saturation.threshold ? 1U : 0U;
    }
    store_results(args.output, args.output_pitch, place, results);
    count_undefined(*args.counts, place, results);
    if (isfinite(args.saturation.threshold))
        count_in_warp(args.counts->saturated, saturated);
}

class BackgroundDevice final : public DeviceStage {
public:
    explicit BackgroundDevice(const Params& params)
        : calibration_(params.as<BackgroundParams>()), passes_(params.as<BackgroundParams>().passes()) {}

    Shape prepare(const Shape& input) override {
        tiles_ = Tiles::of(input);
        calibration_.prepare(input, static_cast<std::size_t>(tiles_.across) * kTileSamples);
        if (passes_)
            return input;
        host_sums_.assign(tiles_.samples(), 0);
        sums_ = Buffer(tiles_.samples() * sizeof(double), device_memory());
        dark_ = Buffer(tiles_.samples() * sizeof(float), device_memory());
        gain_ = Buffer(tiles_.samples() * sizeof(float), device_memory());
        colour_counts_ = ColourCounts(input);
        uploaded_ = calibration_.version() - 1;
        return {input.width, input.height, input.channels, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        if (passes_)
            return copy(input, output, stream);
        const Calibration::Take take = calibration_.next(context.again);
        if (take.take)
            add(input, take.first, stream);
        if (take.last)
            finish(stream);
        upload(stream);
        saturation_ = calibration_.saturation(context.info);
        const CorrectArgs args{.input = input.data,
                               .input_pitch = input.pitch,
                               .output = output.data,
                               .output_pitch = output.pitch,
                               .tiles = tiles_,
                               .dark = dark_.as<float>(),
                               .gain = gain_.as<float>(),
                               .saturation = saturation_,
                               .counts = colour_counts_.begin(context.counts, stream)};
        dispatch(input.shape.type, [&](auto zero) {
            correct_kernel<decltype(zero)><<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        });
        check_launch("the kernel of stage background");
        colour_counts_.finish(input, output, saturation_.threshold, context.counts, stream);
    }

    void set_params(const Params& params) override { calibration_.set_params(params.as<BackgroundParams>()); }
    void inherit(DeviceStage& old) override {
        calibration_.inherit(dynamic_cast<BackgroundDevice&>(old).calibration_);
    }
    void reset() override { calibration_.reset(); }
    Warmup warmup() const override { return calibration_.warmup(); }
    std::string note() const override { return calibration_.note(); }
    Counted counted() const override { return {.undefined = !passes_, .saturated = !passes_}; }
    void describe(FrameInfo& info) const override {
        if (passes_)
            return;
        info.full_scale = std::isfinite(saturation_.mark) ? static_cast<double>(saturation_.mark) : 0;
    }

private:
    static void copy(ConstDeviceView input, DeviceView output, cudaStream_t stream) {
        check(cudaMemcpy2DAsync(output.data, output.pitch, input.data, input.pitch, input.shape.row_bytes(),
                                static_cast<std::size_t>(input.shape.height), cudaMemcpyDeviceToDevice,
                                stream),
              "cudaMemcpy2DAsync");
    }

    void add(ConstDeviceView input, bool first, cudaStream_t stream) {
        dispatch(input.shape.type, [&](auto zero) {
            add_kernel<decltype(zero)><<<tiles_.blocks(), kTileThreads, 0, stream>>>(
                input.data, input.pitch, tiles_, sums_.as<double>(), first);
        });
        check_launch("the capture kernel of stage background");
    }

    void finish(cudaStream_t stream) {
        check(cudaMemcpyAsync(host_sums_.data(), sums_.as<double>(), host_sums_.size() * sizeof(double),
                              cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        calibration_.finish(host_sums_.data());
    }

    void upload(cudaStream_t stream) {
        if (uploaded_ == calibration_.version())
            return;
        const auto copy = [&](const Buffer& to, const std::vector<float>& plane) {
            check(cudaMemcpyAsync(to.as<float>(), plane.data(), plane.size() * sizeof(float),
                                  cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
        };
        copy(dark_, calibration_.dark());
        copy(gain_, calibration_.gain());
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); // the planes may change after this
        uploaded_ = calibration_.version();
    }

    Calibration calibration_;
    bool passes_;
    Calibration::Saturation saturation_{};
    Tiles tiles_;
    std::vector<double> host_sums_;
    Buffer sums_, dark_, gain_;
    ColourCounts colour_counts_;
    unsigned uploaded_ = 0; ///< version of the planes on the device
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_background_device(const Params& params) {
    return std::make_unique<cuda::BackgroundDevice>(params);
}

} // namespace specklescope
