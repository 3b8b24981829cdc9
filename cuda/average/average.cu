// Running mean over time on the device: one pass over the newest frame, the frame that leaves and the sums.
#include "cuda/colour_counts.hpp"
#include "cuda/device.hpp"
#include "cuda/history.cuh"
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
    std::uint32_t* irregular;                 ///< f32, per tile: 0 while all samples in the window are finite
    double weight;                            ///< exponential: of the newest
    double weights_before, weights_now, keep; ///< exponential, f32: for FadingMean
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
            newest.store(slot); // last, as in add_newest()
        }
        Samples<float> results;
        const double part = 1.0 / args.step.held;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(sums.v[j] * part);
        return results;
    }
};

/// True if the tile has a non-finite sample in the window, now or before; the same for all lanes.
__device__ inline bool irregular_before(const AverageArgs& args, const Place& place) {
    return !args.step.first && args.irregular[place.tile] != 0;
}
__device__ inline bool any_odd(const Samples<float>& samples) {
    bool odd = false;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        odd = odd || !is_number(samples.v[j]);
    return __any_sync(kWholeWarp, odd) != 0;
}
__device__ inline void keep_irregular(const AverageArgs& args, const Place& place, bool irregular) {
    if (place.lane == 0)
        args.irregular[place.tile] = irregular ? 1U : 0U;
}

struct RealMean {
    static constexpr int kWords = 5; ///< four sums, OddSamples

    __device__ static Samples<float> of(const AverageArgs& args, const Place& place,
                                        const Samples<float>& newest) {
        LongSum sums[kLaneSamples] = {};
        if (!args.step.first)
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j) {
                const double2 kept =
                    *reinterpret_cast<const double2*>(state_word(args.state, place, kWords, j));
                sums[j] = {kept.x, kept.y};
            }
        Samples<OddSamples> odd{};
        if (irregular_before(args, place))
            odd = Samples<OddSamples>::load(odd_word(args, place));
        if (args.step.take)
            take(args, place, newest, sums, odd);
        Samples<float> results;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(window_mean(sums[j], odd.v[j], args.step.held));
        return results;
    }

private:
    __device__ static OddSamples* odd_word(const AverageArgs& args, const Place& place) {
        return reinterpret_cast<OddSamples*>(state_word(args.state, place, kWords, kLaneSamples));
    }

    __device__ static void take(const AverageArgs& args, const Place& place, const Samples<float>& newest,
                                LongSum (&sums)[kLaneSamples], Samples<OddSamples>& odd) {
        float* const slot = ring_samples<float>(args, args.step.slot, place);
        const Samples<float> leave = args.step.leaves ? Samples<float>::load(slot) : Samples<float>{};
        const bool renew = args.step.first || renewed(place.row, args.step.tick);
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            sums[j].add(number_of(newest.v[j]));
            sums[j].add(-number_of(leave.v[j]));
            if (renew)
                sums[j] = long_sum(args.step.held, [&](int k) {
                    if (k == 0) // not in the ring yet
                        return newest.v[j];
                    const int at = args.step.slot - k + (k > args.step.slot ? args.frames : 0);
                    return ring_samples<float>(args, at, place)[j];
                });
            *reinterpret_cast<double2*>(state_word(args.state, place, kWords, j)) =
                make_double2(sums[j].high, sums[j].low);
        }
        newest.store(slot); // last, as in add_newest()
        const bool before = irregular_before(args, place);
        if (!before && !any_odd(newest)) {
            if (args.step.first)
                keep_irregular(args, place, false);
            return;
        }
        OddSamples any = 0;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            odd.v[j] += odd_sample(newest.v[j]) - odd_sample(leave.v[j]);
            any |= odd.v[j];
        }
        odd.store(odd_word(args, place));
        keep_irregular(args, place, __any_sync(kWholeWarp, any != 0) != 0);
    }
};

struct IntegerFading {
    static constexpr int kWords = 2;

    template <class T> __device__ static Samples<float> of(const AverageArgs& args, const Place& place,
                                                           const Samples<T>& newest) {
        Samples<float> results;
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            auto* const word = reinterpret_cast<double2*>(state_word(args.state, place, kWords, i));
            double2 mean = make_double2(newest.v[2 * i], newest.v[2 * i + 1]);
            if (!args.step.first) {
                const double2 kept = *word;
                const double weight = args.step.take ? args.weight : 0;
                mean.x = kept.x + (mean.x - kept.x) * weight;
                mean.y = kept.y + (mean.y - kept.y) * weight;
            }
            if (args.step.take)
                *word = mean;
            results.v[2 * i] = static_cast<float>(mean.x);
            results.v[2 * i + 1] = static_cast<float>(mean.y);
        }
        return results;
    }
};

struct RealFading {
    static constexpr int kWords = 5; ///< two of means, two of weights, FadingMean::infinite

    __device__ static Samples<float> of(const AverageArgs& args, const Place& place,
                                        const Samples<float>& newest) {
        FadingMean fading[kLaneSamples];
        load(args, place, fading);
        bool irregular = irregular_before(args, place);
        if (args.step.take) {
            const bool before = irregular;
            irregular = before || any_odd(newest);
            if (irregular)
                irregular = take(args, newest, fading);
            else
#pragma unroll
                for (int j = 0; j < kLaneSamples; ++j)
                    fading[j].mean += (static_cast<double>(newest.v[j]) - fading[j].mean) * args.weight;
            store(args, place, fading, irregular);
            if (irregular != before || args.step.first)
                keep_irregular(args, place, irregular);
        }
        Samples<float> results;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(irregular ? fading[j].value() : fading[j].mean);
        return results;
    }

private:
    template <class T> __device__ static T* word(const AverageArgs& args, const Place& place, int index) {
        return reinterpret_cast<T*>(state_word(args.state, place, kWords, index));
    }

    __device__ static void load(const AverageArgs& args, const Place& place,
                                FadingMean (&fading)[kLaneSamples]) {
        const bool irregular = irregular_before(args, place);
        const Samples<std::uint32_t> infinite =
            irregular ? Samples<std::uint32_t>::load(word<std::uint32_t>(args, place, 4))
                      : Samples<std::uint32_t>{};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const double2 mean = args.step.first ? make_double2(0, 0) : *word<double2>(args, place, i);
            const double2 weight = irregular ? *word<double2>(args, place, 2 + i)
                                             : make_double2(args.weights_before, args.weights_before);
            fading[2 * i] = {mean.x, weight.x, infinite.v[2 * i]};
            fading[2 * i + 1] = {mean.y, weight.y, infinite.v[2 * i + 1]};
        }
    }

    /// True while the state of a sample in the tile is affected by non-finite samples.
    __device__ static bool take(const AverageArgs& args, const Samples<float>& newest,
                                FadingMean (&fading)[kLaneSamples]) {
        bool regular = true;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            fading[j].take(newest.v[j], args.keep, args.frames);
            regular = regular && fading[j].as_if_all(args.weights_now);
        }
        return __any_sync(kWholeWarp, !regular) != 0;
    }

    __device__ static void store(const AverageArgs& args, const Place& place,
                                 const FadingMean (&fading)[kLaneSamples], bool irregular) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            *word<double2>(args, place, i) = make_double2(fading[2 * i].mean, fading[2 * i + 1].mean);
            if (irregular)
                *word<double2>(args, place, 2 + i) =
                    make_double2(fading[2 * i].weight, fading[2 * i + 1].weight);
        }
        if (irregular)
            Samples<std::uint32_t>{
                {fading[0].infinite, fading[1].infinite, fading[2].infinite, fading[3].infinite}}
                .store(word<std::uint32_t>(args, place, 4));
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
        count_in_block(*args.counts, undefined_of(place, results));
}

struct AverageForm {
    void (*kernel)(AverageArgs);
    int state_words;
};

AverageForm form_of(PixelType type, AverageParams::Kind kind) {
    return dispatch(type, [kind](auto zero) -> AverageForm {
        using T = decltype(zero);
        constexpr bool real = std::is_same_v<T, float>;
        using Window = std::conditional_t<real, RealMean, IntegerMean>;
        using Fading = std::conditional_t<real, RealFading, IntegerFading>;
        if (kind == AverageParams::Kind::exponential)
            return {average_kernel<T, Fading>, Fading::kWords};
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
        irregular_ = Buffer(static_cast<std::size_t>(tiles_.count) * sizeof(std::uint32_t), device_memory());
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
                               .irregular = irregular_.as<std::uint32_t>(),
                               .weight = exponential_weight(params_.frames, step.tick),
                               .weights_before = exponential_weights(params_.frames, step.tick),
                               .weights_now = exponential_weights(params_.frames, step.tick + 1),
                               .keep = 1 - 1.0 / params_.frames,
                               .counts = colour_counts_.begin(context.counts, stream)};
        form_.kernel<<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        check_launch("the kernel of stage average");
        if (input_.type == PixelType::f32) // means of integers are always finite
            colour_counts_.finish(output, context.counts, stream);
    }

    void set_params(const Params&) override {} // all are Cost::rebuild
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(params_.frames, bytes_); }
    Counted counted() const override { return {.undefined = true}; }
    void describe(FrameInfo& info) const override {
        if (!(info.full_scale > 0)) // f32 has no full scale
            info.full_scale = type_full_scale(input_.type);
    }

private:
    AverageParams params_;
    History history_;
    HistoryBytes bytes_;
    Shape input_;
    Tiles tiles_;
    AverageForm form_{};
    Buffer ring_, state_, irregular_;
    ColourCounts colour_counts_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_average_device(const Params& params) {
    return std::make_unique<cuda::AverageDevice>(params);
}

} // namespace specklescope
