// Power law on the device: the host's table for integers, one pow per sample for f32.
#include "cuda/chunks.cuh"
#include "cuda/colour_counts.hpp"
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "stages/tone/gamma.hpp"

namespace specklescope {

namespace {

using namespace cuda;

struct GammaArgs {
    ConstDeviceView input;
    DeviceView output;
    Tiles tiles;
    GammaCurve curve;
    PixelCounts* counts; ///< of samples
};

__global__ void __launch_bounds__(kTileThreads) curve_kernel(const __grid_constant__ GammaArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    Samples<float> samples = load_samples<float>(args.input.data, args.input.pitch, place);
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        samples.v[j] = args.curve(samples.v[j]);
    store_results(args.output.data, args.output.pitch, place, samples);
    count_in_block(*args.counts, undefined_of(place, samples));
}

constexpr unsigned kLevelsX = 32; ///< chunks per block
constexpr unsigned kLevelsY = 8;  ///< rows per block

/// Integers: one chunk per thread.
template <class T> __global__ void __launch_bounds__(kLevelsX* kLevelsY)
    levels_kernel(ConstDeviceView input, DeviceView output, int row_bytes, const std::uint16_t* levels) {
    const int offset = static_cast<int>(blockIdx.x * kLevelsX + threadIdx.x) * 16;
    const int y = static_cast<int>(blockIdx.y * kLevelsY + threadIdx.y);
    if (offset >= row_bytes || y >= input.shape.height)
        return;
    Chunk<T, 1> in;
    in.load(input.data + y * input.pitch, offset, row_bytes);
    Chunk<T, 1> out;
#pragma unroll
    for (int i = 0; i < kChunkPixels<T>; ++i)
        out.set(i, static_cast<T>(levels[in.get(i)]));
    out.store(output.data + y * output.pitch, offset, row_bytes);
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
        if (input.shape.type != PixelType::f32)
            return run_levels(input, output, context.info, stream);
        const GammaArgs args{.input = input,
                             .output = output,
                             .tiles = tiles_,
                             .curve = gamma_curve(params_, context.info),
                             .counts = colour_counts_.begin(context.counts, stream)};
        curve_kernel<<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        check_launch("the kernel of stage gamma");
        colour_counts_.finish(output, context.counts, stream);
    }

    Counted counted() const override { return {.undefined = true}; }

    void set_params(const Params& params) override {
        params_ = params.as<GammaParams>();
        levels_full_scale_ = 0;
    }

private:
    void run_levels(ConstDeviceView input, DeviceView output, const FrameInfo& info, cudaStream_t stream) {
        upload_levels(input.shape.type, gamma_full_scale(input.shape.type, info), stream);
        const auto row_bytes = static_cast<unsigned>(input.shape.row_bytes());
        const auto rows = static_cast<unsigned>(input.shape.height);
        const dim3 blocks((row_bytes + 16 * kLevelsX - 1) / (16 * kLevelsX),
                          (rows + kLevelsY - 1) / kLevelsY);
        const auto kernel =
            input.shape.type == PixelType::u8 ? levels_kernel<std::uint8_t> : levels_kernel<std::uint16_t>;
        kernel<<<blocks, dim3(kLevelsX, kLevelsY), 0, stream>>>(input, output, static_cast<int>(row_bytes),
                                                                levels_.as<std::uint16_t>());
        check_launch("the kernel of stage gamma");
    }

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
