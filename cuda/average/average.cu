// Running mean over time on the device: one pass over the newest frame, the one that leaves and the sums.
#include "cuda/colour_counts.cuh"
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "cuda/history_memory.hpp"
#include "stages/average/average.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <limits>

namespace specklescope {

namespace cuda {
namespace {

struct AverageArgs {
    const std::byte* input;
    std::size_t input_pitch;
    std::byte* output;
    std::size_t output_pitch;
    Tiles tiles;
    std::byte* ring;
    int frames;
    HistoryStep step;
    uint4* state;
    double weight; ///< exponential: of the newest
    PixelCounts* counts;
};

template <class T> __device__ inline T* ring_samples(const AverageArgs& args, int slot, const Place& place) {
    return reinterpret_cast<T*>(args.ring) + static_cast<std::size_t>(slot) * args.tiles.samples() +
           place.sample();
}

struct IntegerMean {
    static constexpr int kWords = 1;

    template <class T> __device__ static Samples<float> of(const AverageArgs& args, const Place& place,
                                                           const Samples<T>& newest) {
        uint4* const word = state_word(args.state, place, kWords, 0);
        Samples<std::uint32_t> sums{};
        if (!args.step.first)
            sums = Samples<std::uint32_t>::load(reinterpret_cast<const std::uint32_t*>(word));
        if (args.step.take) {
            T* const slot = ring_samples<T>(args, args.step.slot, place);
            const Samples<T> leave = args.step.leaves ? Samples<T>::load(slot) : Samples<T>{};
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j)
                sums.v[j] += static_cast<std::uint32_t>(newest.v[j]) - static_cast<std::uint32_t>(leave.v[j]);
            sums.store(reinterpret_cast<std::uint32_t*>(word));
            newest.store(slot); // last, as in take_in()
        }
        Samples<float> results;
        const double part = 1.0 / args.step.held;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(sums.v[j] * part);
        return results;
    }
};

struct RealMean {
    static constexpr int kWords = 4;

    __device__ static Samples<float> of(const AverageArgs& args, const Place& place,
                                        const Samples<float>& newest) {
        float* const slot = ring_samples<float>(args, args.step.slot, place);
        const Samples<float> leave =
            args.step.take && args.step.leaves ? Samples<float>::load(slot) : Samples<float>{};
        LongSum sums[kLaneSamples] = {};
        if (!args.step.first)
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j) {
                const double2 kept =
                    *reinterpret_cast<const double2*>(state_word(args.state, place, kWords, j));
                sums[j] = {kept.x, kept.y};
            }
        if (args.step.take) {
            const bool renew = args.step.first || renewed(place.row, args.step.tick);
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j) {
                sums[j].add(newest.v[j]);
                sums[j].add(-static_cast<double>(leave.v[j]));
                if (renew || !isfinite(leave.v[j]))
                    sums[j] = long_sum(args.step.held, [&](int k) {
                        if (k == 0) // not in the ring yet
                            return newest.v[j];
                        const int at = args.step.slot - k + (k > args.step.slot ? args.frames : 0);
                        return ring_samples<float>(args, at, place)[j];
                    });
            }
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j)
                *reinterpret_cast<double2*>(state_word(args.state, place, kWords, j)) =
                    make_double2(sums[j].high, sums[j].low);
            newest.store(slot); // last, as in take_in()
        }
        Samples<float> results;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(sums[j].value() / args.step.held);
        return results;
    }
};

struct ExponentialMean {
    static constexpr int kWords = 2;

    template <class T> __device__ static Samples<float> of(const AverageArgs& args, const Place& place,
                                                           const Samples<T>& newest) {
        Samples<float> results;
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            auto* const word = reinterpret_cast<double2*>(state_word(args.state, place, kWords, i));
            double2 mean = make_double2(nan(""), nan(""));
            if (!args.step.first)
                mean = *word;
            if (args.step.take) {
                mean.x = exponential_mean(mean.x, newest.v[2 * i], args.weight);
                mean.y = exponential_mean(mean.y, newest.v[2 * i + 1], args.weight);
                *word = mean;
            }
            const double means[] = {mean.x, mean.y};
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const auto sample = static_cast<float>(newest.v[2 * i + j]);
                results.v[2 * i + j] = isfinite(sample) ? static_cast<float>(means[j]) : sample;
            }
        }
        return results;
    }
};

template <class T, class Mean> __global__ void __launch_bounds__(kTileThreads)
    average_kernel(const __grid_constant__ AverageArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    const Samples<T> newest = load_samples<T>(args.input, args.input_pitch, place);
    const Samples<float> results = Mean::of(args, place, newest);
    store_results(args.output, args.output_pitch, place, results);
    if constexpr (std::is_same_v<T, float>)
        count_undefined(*args.counts, place, results);
}

struct AverageForm {
    void (*kernel)(AverageArgs);
    int state_words;
};

AverageForm form_of(PixelType type, AverageParams::Kind kind) {
    return dispatch(type, [kind](auto zero) -> AverageForm {
        using T = decltype(zero);
        using Window = std::conditional_t<std::is_same_v<T, float>, RealMean, IntegerMean>;
        if (kind == AverageParams::Kind::exponential)
            return {average_kernel<T, ExponentialMean>, ExponentialMean::kWords};
        return {average_kernel<T, Window>, Window::kWords};
    });
}

class AverageDevice final : public DeviceStage {
public:
    explicit AverageDevice(const Params& params)
        : params_(params.as<AverageParams>()), history_(params_.frames) {}

    Shape prepare(const Shape& input) override {
        input_ = input;
        tiles_ = Tiles::of(input);
        form_ = form_of(input.type, params_.kind);
        bytes_ = average_bytes(params_, input.type, tiles_.samples());
        check_device_history("stage average", params_.frames, bytes_);
        const std::size_t ring = bytes_.frame * static_cast<std::size_t>(params_.frames);
        ring_ = ring > 0 ? Buffer(ring, device_memory()) : Buffer();
        state_ = Buffer(tiles_.samples() / kLaneSamples * sizeof(uint4) *
                            static_cast<std::size_t>(form_.state_words),
                        device_memory());
        colour_counts_ = ColourCounts(input);
        history_.reset();
        return {input.width, input.height, input.channels, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        const HistoryStep step = history_.next(context.again);
        const AverageArgs args{.input = input.data,
                               .input_pitch = input.pitch,
                               .output = output.data,
                               .output_pitch = output.pitch,
                               .tiles = tiles_,
                               .ring = ring_.as<std::byte>(),
                               .frames = params_.frames,
                               .step = step,
                               .state = state_.as<uint4>(),
                               .weight = exponential_weight(params_.frames, step.tick),
                               .counts = colour_counts_.begin(context.counts, stream)};
        form_.kernel<<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        check_launch("the kernel of stage average");
        if (input_.type == PixelType::f32) // of integers every mean is a number
            colour_counts_.finish(input, output, std::numeric_limits<float>::infinity(), context.counts,
                                  stream);
    }

    void set_params(const Params&) override {} // all are of Cost::rebuild
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(params_.frames, bytes_); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override {
        if (!(info.full_scale > 0)) // f32 has none of its own
            info.full_scale = type_full_scale(input_.type);
    }

private:
    AverageParams params_;
    History history_;
    HistoryBytes bytes_;
    Shape input_;
    Tiles tiles_;
    AverageForm form_{};
    Buffer ring_, state_;
    ColourCounts colour_counts_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_average_device(const Params& params) {
    return std::make_unique<cuda::AverageDevice>(params);
}

} // namespace specklescope
