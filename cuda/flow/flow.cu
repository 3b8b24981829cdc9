// Conversion from contrast to flow on the device: one pass over the image.
#include "cuda/frames.hpp"
#include "cuda/history.cuh"
#include "stages/flow/flow.hpp"

namespace specklescope {

namespace cuda {
namespace {

struct FlowArgs {
    FrameAddresses frames; ///< counts may be null
    std::size_t input_pitch, output_pitch;
    Tiles tiles;
    FlowScale scale;
    const float* fixed; ///< static part of each sample; null: no map
};

__global__ void __launch_bounds__(kTileThreads) flow_kernel(const __grid_constant__ FlowArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    const Samples<float> samples = load_samples<float>(args.frames.input(), args.input_pitch, place);
    Samples<float> results;
    if (args.fixed) {
        const Samples<float> fixed = Samples<float>::load(args.fixed + place.sample());
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = flow_value(samples.v[j], args.scale, fixed.v[j]);
    } else {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = flow_value(samples.v[j], args.scale);
    }
    store_results(args.frames.output(), args.output_pitch, place, results);
    if (PixelCounts* const counts = args.frames.counts[blockIdx.z])
        count_in_block(*counts, undefined_of(place, results));
}

class FlowDevice final : public DeviceStage {
public:
    explicit FlowDevice(const Params& params) : params_(params.as<FlowParams>()) {}

    Shape prepare(const Shape& input) override {
        tiles_ = Tiles::of(input);
        StaticMap map =
            read_static_map(params_, input, static_cast<std::size_t>(tiles_.across) * kTileSamples);
        note_ = std::move(map.note);
        map_ = on_device(map.plane);
        table_ = on_device(flow_table(params_));
        return flow_shape(params_, input);
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const StageRun<Space::device> frame{input, output, context};
        run_together({&frame, 1});
    }

    bool run_together(DeviceRuns frames) override {
        const auto& [input, output, context] = frames[0];
        FlowArgs args{.frames = FrameAddresses("flow", frames),
                      .input_pitch = input.pitch,
                      .output_pitch = output.pitch,
                      .tiles = tiles_,
                      .scale = flow_scale(params_, params_.output, context.info, table_.as<float>()),
                      .fixed = map_.as<float>()};
        launch(args, context);
        const std::vector<FlowParams::Output> named = named_flows(params_);
        for (std::size_t i = 0; i < context.also.size(); ++i) {
            args.scale = flow_scale(params_, named[i], context.info, table_.as<float>());
            args.frames.outputs[0] = context.also[i].data;
            args.output_pitch = context.also[i].pitch;
            args.frames.counts[0] = nullptr;
            launch(args, context);
        }
        return true;
    }

    void set_params(const Params& params) override { params_ = params.as<FlowParams>(); }
    std::string note() const override { return note_; }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    static Buffer on_device(const std::vector<float>& values) {
        const std::size_t bytes = values.size() * sizeof(float);
        if (bytes == 0)
            return {};
        Buffer buffer(bytes, device_memory());
        check(cudaMemcpy(buffer.as<float>(), values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        return buffer;
    }

    void launch(const FlowArgs& args, const RunContext<Space::device>& context) const {
        const dim3 blocks(tiles_.blocks(), 1, static_cast<unsigned>(args.frames.count));
        flow_kernel<<<blocks, kTileThreads, 0, static_cast<cudaStream_t>(context.stream)>>>(args);
        check_launch("the kernel of stage flow");
    }

    FlowParams params_;
    Tiles tiles_;
    Buffer table_;     ///< flow_table(); null: none
    Buffer map_;       ///< static part of each sample, in rows of whole tiles; null: none
    std::string note_; ///< of the map
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_flow_device(const Params& params) {
    return std::make_unique<cuda::FlowDevice>(params);
}

} // namespace specklescope
