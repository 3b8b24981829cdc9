// Pulsatility on the device: one pass over the newest frame and the state of its beat.
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "stages/pulsatility/pulsatility.hpp"

namespace specklescope {

namespace cuda {
namespace {

struct PulsatilityArgs {
    const std::byte* input;
    std::size_t input_pitch;
    std::byte* output;
    std::size_t output_pitch;
    Tiles tiles;
    BeatStep step;
    float *low, *high;
    double* sum;
    std::uint16_t* count;
    float* shown;
    float* ring; ///< of the first beat
    PixelCounts* counts;
};

struct LaneBeats {
    BeatSamples v[kLaneSamples];

    __device__ static LaneBeats load(const PulsatilityArgs& args, const Place& place) {
        const auto low = Samples<float>::load(args.low + place.sample());
        const auto high = Samples<float>::load(args.high + place.sample());
        const auto count = Samples<std::uint16_t>::load(args.count + place.sample());
        const auto* const sums = reinterpret_cast<const double2*>(args.sum + place.sample());
        const double2 sum[2] = {sums[0], sums[1]};
        LaneBeats beats;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            beats.v[j] = {low.v[j], high.v[j], j % 2 == 0 ? sum[j / 2].x : sum[j / 2].y, count.v[j]};
        return beats;
    }
    __device__ void store(const PulsatilityArgs& args, const Place& place) const {
        Samples<float>{{v[0].low, v[1].low, v[2].low, v[3].low}}.store(args.low + place.sample());
        Samples<float>{{v[0].high, v[1].high, v[2].high, v[3].high}}.store(args.high + place.sample());
        Samples<std::uint16_t>{{v[0].count, v[1].count, v[2].count, v[3].count}}.store(args.count +
                                                                                       place.sample());
        auto* const sums = reinterpret_cast<double2*>(args.sum + place.sample());
        sums[0] = make_double2(v[0].sum, v[1].sum);
        sums[1] = make_double2(v[2].sum, v[3].sum);
    }
    __device__ Samples<float> indices() const {
        return {{v[0].index(), v[1].index(), v[2].index(), v[3].index()}};
    }
};

/// Stores the index of the beat that ends, and the result until the next one ends.
__device__ inline void end_beat(const PulsatilityArgs& args, const Place& place, const LaneBeats& beats) {
    const std::size_t plane = args.tiles.samples();
    const Samples<float> indices = beats.indices();
    indices.store(args.ring + static_cast<std::size_t>(args.step.slot) * plane + place.sample());
    Samples<float> shown;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        shown.v[j] = mean_of_beats(args.step.held, [&](int k) {
            return k == args.step.slot ? indices.v[j]
                                       : args.ring[static_cast<std::size_t>(k) * plane + place.sample() + j];
        });
    shown.store(args.shown + place.sample());
}

template <class T> __global__ void __launch_bounds__(kTileThreads)
    pulsatility_kernel(const __grid_constant__ PulsatilityArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    const BeatStep& step = args.step;
    LaneBeats beats{};
    if (!step.begins && (step.take || step.held == 0))
        beats = LaneBeats::load(args, place);
    if (step.take) {
        const Samples<T> newest = load_samples<T>(args.input, args.input_pitch, place);
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            beats.v[j].take(static_cast<float>(newest.v[j]));
        beats.store(args, place);
    }
    if (step.ends)
        end_beat(args, place, beats);
    const Samples<float> results =
        step.held > 0 ? Samples<float>::load(args.shown + place.sample()) : beats.indices();
    store_results(args.output, args.output_pitch, place, results);
    count_in_block(*args.counts, undefined_of(place, results));
}

class PulsatilityDevice final : public DeviceStage {
public:
    explicit PulsatilityDevice(const Params& params)
        : params_(params.as<PulsatilityParams>()), history_(params_.frames * params_.beats) {}

    Shape prepare(const Shape& input) override {
        tiles_ = Tiles::of(input);
        const std::size_t samples = tiles_.samples();
        bytes_ = pulsatility_bytes(samples);
        for (Buffer* buffer : {&low_, &high_, &shown_, &ring_, &sum_, &count_})
            *buffer = Buffer();
        check_device_history("stage pulsatility", params_.beats, bytes_);
        for (Buffer* buffer : {&low_, &high_, &shown_})
            *buffer = Buffer(samples * sizeof(float), device_memory());
        ring_ = Buffer(samples * sizeof(float) * static_cast<std::size_t>(params_.beats), device_memory());
        sum_ = Buffer(samples * sizeof(double), device_memory());
        count_ = Buffer(samples * sizeof(std::uint16_t), device_memory());
        history_.reset();
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const PulsatilityArgs args{.input = input.data,
                                   .input_pitch = input.pitch,
                                   .output = output.data,
                                   .output_pitch = output.pitch,
                                   .tiles = tiles_,
                                   .step = beat_step(history_.next(context.again), params_),
                                   .low = low_.as<float>(),
                                   .high = high_.as<float>(),
                                   .sum = sum_.as<double>(),
                                   .count = count_.as<std::uint16_t>(),
                                   .shown = shown_.as<float>(),
                                   .ring = ring_.as<float>(),
                                   .counts = context.counts};
        dispatch(input.shape.type, [&](auto zero) {
            pulsatility_kernel<decltype(zero)>
                <<<tiles_.blocks(), kTileThreads, 0, static_cast<cudaStream_t>(context.stream)>>>(args);
        });
        check_launch("the kernel of stage pulsatility");
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(params_.beats, bytes_); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    PulsatilityParams params_;
    History history_;
    HistoryBytes bytes_;
    Tiles tiles_;
    Buffer low_, high_, shown_, ring_, sum_, count_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_pulsatility_device(const Params& params) {
    return std::make_unique<cuda::PulsatilityDevice>(params);
}

} // namespace specklescope
