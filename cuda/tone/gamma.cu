// Power law on the device: the host's table for integers, one pow per sample for f32.
#include "cuda/colour_counts.cuh"
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "stages/tone/gamma.hpp"

namespace specklescope {

namespace {

using namespace cuda;

struct GammaArgs {
    const std::byte* input;
    std::size_t input_pitch;
    std::byte* output;
    std::size_t output_pitch;
    Tiles tiles;
    const std::uint16_t* levels; ///< integers
    GammaCurve curve;            ///< f32
    PixelCounts* counts;         ///< of samples
};

template <class T> __global__ void __launch_bounds__(kTileThreads)
    gamma_kernel(const __grid_constant__ GammaArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    Samples<T> samples = load_samples<T>(args.input, args.input_pitch, place);
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        if constexpr (std::is_integral_v<T>)
            samples.v[j] = static_cast<T>(args.levels[samples.v[j]]);
        else
            samples.v[j] = args.curve(samples.v[j]);
    store_results(args.output, args.output_pitch, place, samples);
    if constexpr (!std::is_integral_v<T>)
        count_undefined(*args.counts, place, samples);
}

class GammaDevice final : public DeviceStage {
public:
    explicit GammaDevice(const Params& params) : params_(params.as<GammaParams>()) {}

    Shape prepare(const Shape& input) override {
        tiles_ = Tiles::of(input);
        if (input.type == PixelType::f32)
            colour_counts_ = ColourCounts(input);
        else
            levels_ =
                Buffer((static_cast<std::size_t>(type_full_scale(input.type)) + 1) * sizeof(std::uint16_t),
                       device_memory());
        levels_full_scale_ = 0;
        return input;
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        const bool counted = input.shape.type == PixelType::f32;
        if (!counted)
            upload_levels(input.shape.type, gamma_full_scale(input.shape.type, context.info), stream);
        const GammaArgs args{.input = input.data,
                             .input_pitch = input.pitch,
                             .output = output.data,
                             .output_pitch = output.pitch,
                             .tiles = tiles_,
                             .levels = levels_.as<std::uint16_t>(),
                             .curve = gamma_curve(params_, context.info),
                             .counts = counted ? colour_counts_.begin(context.counts, stream) : nullptr};
        dispatch(input.shape.type, [&](auto zero) {
            gamma_kernel<decltype(zero)><<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        });
        check_launch("the kernel of stage gamma");
        if (counted)
            colour_counts_.finish(input, output, std::numeric_limits<float>::infinity(), context.counts,
                                  stream);
    }

    Counted counted() const override { return {.undefined = true}; }

    void set_params(const Params& params) override {
        params_ = params.as<GammaParams>();
        levels_full_scale_ = 0;
    }

private:
    void upload_levels(PixelType type, double full_scale, cudaStream_t stream) {
        if (levels_full_scale_ == full_scale)
            return;
        const std::vector<std::uint16_t> levels = gamma_levels(params_, type, full_scale);
        check(cudaMemcpyAsync(levels_.as<std::uint16_t>(), levels.data(),
                              levels.size() * sizeof(std::uint16_t), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); // the table is freed after this
        levels_full_scale_ = full_scale;
    }

    GammaParams params_;
    Tiles tiles_;
    Buffer levels_;
    double levels_full_scale_ = 0; ///< of the values in levels_; 0: invalid
    ColourCounts colour_counts_;
};

} // namespace

std::unique_ptr<DeviceStage> make_gamma_device(const Params& params) {
    return std::make_unique<GammaDevice>(params);
}

} // namespace specklescope
