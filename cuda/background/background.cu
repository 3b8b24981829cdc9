// Dark frame and flat field on the device, which adds frames and applies the planes. A complete capture is
// converted to planes on the host, which blocks the stream once.
#include "cuda/colour_pixels.cuh"
#include "cuda/frames.hpp"
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

/// A plane, or one number for all samples.
struct Values {
    const float* plane; ///< null: `number`
    float number;

    __device__ Samples<float> load(const Place& place) const {
        return plane ? Samples<float>::load(plane + place.sample())
                     : Samples<float>{{number, number, number, number}};
    }
    __device__ float at(std::size_t sample) const { return plane ? plane[sample] : number; }
};

struct CorrectArgs {
    FrameAddresses frames;
    std::size_t input_pitch, output_pitch;
    Tiles tiles;
    Values dark, gain;
    Calibration::Saturation saturation;

    __device__ float corrected(float sample, float dark_value, float gain_value) const {
        return specklescope::corrected(sample, dark_value, gain_value, saturation.threshold, saturation.mark);
    }
    __device__ SampleFlags flags(float sample, float result) const {
        return {isnan(result), isinf(result),
                isfinite(saturation.threshold) && sample >= saturation.threshold};
    }
};

template <class T, int kChannels> __global__ void __launch_bounds__(kTileThreads)
    correct_kernel(const __grid_constant__ CorrectArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    const Samples<T> samples = load_samples<T>(args.frames.input(), args.input_pitch, place);
    const Samples<float> dark = args.dark.load(place);
    const Samples<float> gain = args.gain.load(place);
    Samples<float> results;
    bool special = false; // possibly undefined, infinite or saturated
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j) {
        const auto sample = static_cast<float>(samples.v[j]);
        results.v[j] = args.corrected(sample, dark.v[j], gain.v[j]);
        special = special || !isfinite(results.v[j]) || sample >= args.saturation.threshold;
    }
    store_results(args.frames.output(), args.output_pitch, place, results);
    if (__syncthreads_or(special ? 1 : 0) == 0)
        return;
    LaneFlags flags;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        if (j < place.inside)
            flags.set(j, args.flags(static_cast<float>(samples.v[j]), results.v[j]));
    const ThreadCounts mine = counts_of<kChannels>(place, flags, [&](int x) {
        const auto* const row = reinterpret_cast<const T*>(
            args.frames.input() + static_cast<std::size_t>(place.row) * args.input_pitch);
        const auto at = static_cast<std::size_t>(place.row) * args.tiles.across * kTileSamples + x;
        const auto sample = static_cast<float>(row[x]);
        return args.flags(sample, args.corrected(sample, args.dark.at(at), args.gain.at(at)));
    });
    count_in_block(*args.frames.counts[blockIdx.z], mine);
}

class BackgroundDevice final : public DeviceStage {
public:
    explicit BackgroundDevice(const Params& params)
        : calibration_(params.as<BackgroundParams>()), passes_(params.as<BackgroundParams>().passes()),
          captures_(params.as<BackgroundParams>().captures()) {}

    Shape prepare(const Shape& input) override {
        tiles_ = Tiles::of(input);
        calibration_.prepare(input, static_cast<std::size_t>(tiles_.across) * kTileSamples);
        if (passes_)
            return input;
        if (captures_) {
            host_sums_.assign(tiles_.samples(), 0);
            sums_ = Buffer(tiles_.samples() * sizeof(double), device_memory());
        }
        dark_ = buffer(calibration_.dark());
        gain_ = buffer(calibration_.gain());
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
        const StageRun<Space::device> frame{input, output, context};
        correct({&frame, 1});
    }

    bool run_together(DeviceRuns frames) override {
        if (passes_ || !calibration_.warmup().done())
            return false;
        correct(frames);
        return true;
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

    void correct(DeviceRuns frames) {
        const auto& [input, output, context] = frames[0];
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        upload(stream);
        saturation_ = calibration_.saturation(context.info);
        const CorrectArgs args{.frames = FrameAddresses("background", frames),
                               .input_pitch = input.pitch,
                               .output_pitch = output.pitch,
                               .tiles = tiles_,
                               .dark = values(calibration_.dark(), dark_),
                               .gain = values(calibration_.gain(), gain_),
                               .saturation = saturation_};
        const auto count = static_cast<unsigned>(frames.size());
        const bool colour = input.shape.channels == 3;
        dispatch(input.shape.type, [&](auto zero) {
            using T = decltype(zero);
            const auto kernel = colour ? correct_kernel<T, 3> : correct_kernel<T, 1>;
            const dim3 blocks(tiles_.blocks(), 1, count);
            kernel<<<blocks, kTileThreads, 0, stream>>>(args);
        });
        check_launch("the kernel of stage background");
    }

    void upload(cudaStream_t stream) {
        if (uploaded_ == calibration_.version())
            return;
        uploaded_ = calibration_.version();
        if (!dark_.as<float>() && !gain_.as<float>())
            return;
        const auto copy = [&](const Buffer& to, const std::vector<float>& plane) {
            if (!to.as<float>())
                return;
            check(cudaMemcpyAsync(to.as<float>(), plane.data(), plane.size() * sizeof(float),
                                  cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
        };
        copy(dark_, calibration_.dark());
        copy(gain_, calibration_.gain());
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); // the planes may change after this
    }

    /// Nothing for one number.
    static Buffer buffer(const std::vector<float>& plane) {
        return plane.size() == 1 ? Buffer() : Buffer(plane.size() * sizeof(float), device_memory());
    }
    static Values values(const std::vector<float>& plane, const Buffer& uploaded) {
        return {uploaded.as<float>(), plane[0]};
    }

    Calibration calibration_;
    bool passes_, captures_;
    Calibration::Saturation saturation_{};
    Tiles tiles_;
    std::vector<double> host_sums_;
    Buffer sums_, dark_, gain_;
    unsigned uploaded_ = 0; ///< version of the planes on the device
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_background_device(const Params& params) {
    return std::make_unique<cuda::BackgroundDevice>(params);
}

} // namespace specklescope
