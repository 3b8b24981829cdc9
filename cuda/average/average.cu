// Running mean over time on the device: one pass over the newest frame, the frame that leaves and the sums.
#include "cuda/colour_counts.hpp"
#include "cuda/device.hpp"
#include "cuda/frames.hpp"
#include "cuda/history.cuh"
#include "stages/average/average.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <limits>

namespace specklescope {

namespace cuda {
namespace {

struct AverageFrame {
    HistoryStep step;
    double weight;                      ///< exponential: of the newest
    double weights_before, weights_now; ///< exponential, f32: for FadingMean
};

struct AverageArgs {
    FrameAddresses frames;
    AverageFrame of[kMostTogether]; ///< of each frame
    std::size_t input_pitch, output_pitch;
    Tiles tiles;
    std::byte* ring;
    int window; ///< frames
    uint4* state;
    std::uint32_t* irregular; ///< f32, per tile: 0 while all samples in the window are finite
    double keep;              ///< exponential, f32: for FadingMean

    __device__ bool first() const { return of[0].step.first; }
};

template <class T> __device__ inline T* ring_samples(const AverageArgs& args, int slot, const Place& place) {
    return reinterpret_cast<T*>(args.ring) + static_cast<std::size_t>(slot) * args.tiles.samples() +
           place.sample();
}

// Sums of a lane's samples. They stay in registers from the first frame of a launch to the last.
// kRing: the frames of the window are stored in a ring.

class IntegerMean {
public:
    static constexpr int kWords = 1;
    static constexpr bool kRing = true;

    __device__ IntegerMean(const AverageArgs& args, const Place& place) {
        if (!args.first())
            sums_ = Samples<std::uint32_t>::load(word(args, place));
    }
    template <class T> __device__ void take(const AverageArgs& args, const AverageFrame& frame,
                                            const Place& place, const Samples<T>& newest) {
        const Samples<T> leave = frame.step.leaves
                                     ? Samples<T>::load(ring_samples<T>(args, frame.step.slot, place))
                                     : Samples<T>{};
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            sums_.v[j] += static_cast<std::uint32_t>(newest.v[j]) - static_cast<std::uint32_t>(leave.v[j]);
    }
    __device__ Samples<float> results(const AverageFrame& frame) const {
        Samples<float> results;
        const double part = 1.0 / frame.step.held;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(sums_.v[j] * part);
        return results;
    }
    __device__ void store(const AverageArgs& args, const Place& place) const {
        sums_.store(word(args, place));
    }

private:
    __device__ static std::uint32_t* word(const AverageArgs& args, const Place& place) {
        return reinterpret_cast<std::uint32_t*>(state_word(args.state, place, kWords, 0));
    }

    Samples<std::uint32_t> sums_{};
};

__device__ inline bool any_odd(const Samples<float>& samples) {
    bool odd = false;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        odd = odd || !is_number(samples.v[j]);
    return __any_sync(kWholeWarp, odd) != 0;
}

/// True while the window of the tile contains a non-finite sample. All lanes have the same value.
class Irregular {
public:
    __device__ Irregular(const AverageArgs& args, const Place& place)
        : now(!args.first() && args.irregular[place.tile] != 0), stored_(now) {}
    __device__ void store(const AverageArgs& args, const Place& place) const {
        if ((now != stored_ || args.first()) && place.lane == 0)
            args.irregular[place.tile] = now ? 1U : 0U;
    }

    bool now;

private:
    bool stored_;
};

class RealMean {
public:
    static constexpr int kWords = 5; ///< four sums, OddSamples
    static constexpr bool kRing = true;

    __device__ RealMean(const AverageArgs& args, const Place& place) : irregular_(args, place) {
        if (!args.first())
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j) {
                const double2 kept =
                    *reinterpret_cast<const double2*>(state_word(args.state, place, kWords, j));
                sums_[j] = {kept.x, kept.y};
            }
        if (irregular_.now)
            odd_ = Samples<OddSamples>::load(odd_word(args, place));
    }
    __device__ void take(const AverageArgs& args, const AverageFrame& frame, const Place& place,
                         const Samples<float>& newest) {
        const HistoryStep& step = frame.step;
        const Samples<float> leave = step.leaves
                                         ? Samples<float>::load(ring_samples<float>(args, step.slot, place))
                                         : Samples<float>{};
        const bool renew = step.first || renewed(place.row, step.tick);
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            sums_[j].add(number_of(newest.v[j]));
            sums_[j].add(-number_of(leave.v[j]));
            if (renew)
                sums_[j] = long_sum(step.held, [&](int k) {
                    if (k == 0) // not in the ring yet
                        return newest.v[j];
                    const int at = step.slot - k + (k > step.slot ? args.window : 0);
                    return ring_samples<float>(args, at, place)[j];
                });
        }
        if (!irregular_.now && !any_odd(newest))
            return;
        OddSamples any = 0;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            odd_.v[j] += odd_sample(newest.v[j]) - odd_sample(leave.v[j]);
            any |= odd_.v[j];
        }
        odd_changed_ = true;
        irregular_.now = __any_sync(kWholeWarp, any != 0) != 0;
    }
    __device__ Samples<float> results(const AverageFrame& frame) const {
        Samples<float> results;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(window_mean(sums_[j], odd_.v[j], frame.step.held));
        return results;
    }
    __device__ void store(const AverageArgs& args, const Place& place) const {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            *reinterpret_cast<double2*>(state_word(args.state, place, kWords, j)) =
                make_double2(sums_[j].high, sums_[j].low);
        if (odd_changed_)
            odd_.store(odd_word(args, place));
        irregular_.store(args, place);
    }

private:
    __device__ static OddSamples* odd_word(const AverageArgs& args, const Place& place) {
        return reinterpret_cast<OddSamples*>(state_word(args.state, place, kWords, kLaneSamples));
    }

    LongSum sums_[kLaneSamples] = {};
    Samples<OddSamples> odd_{};
    bool odd_changed_ = false;
    Irregular irregular_;
};

class IntegerFading {
public:
    static constexpr int kWords = 2;
    static constexpr bool kRing = false;

    __device__ IntegerFading(const AverageArgs& args, const Place& place) {
        if (!args.first())
#pragma unroll
            for (int i = 0; i < kWords; ++i)
                means_[i] = *word(args, place, i);
    }
    template <class T> __device__ void take(const AverageArgs&, const AverageFrame& frame, const Place&,
                                            const Samples<T>& newest) {
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            double2 mean = make_double2(newest.v[2 * i], newest.v[2 * i + 1]);
            if (!frame.step.first) {
                mean.x = means_[i].x + (mean.x - means_[i].x) * frame.weight;
                mean.y = means_[i].y + (mean.y - means_[i].y) * frame.weight;
            }
            means_[i] = mean;
        }
    }
    __device__ Samples<float> results(const AverageFrame&) const {
        return {{static_cast<float>(means_[0].x), static_cast<float>(means_[0].y),
                 static_cast<float>(means_[1].x), static_cast<float>(means_[1].y)}};
    }
    __device__ void store(const AverageArgs& args, const Place& place) const {
#pragma unroll
        for (int i = 0; i < kWords; ++i)
            *word(args, place, i) = means_[i];
    }

private:
    __device__ static double2* word(const AverageArgs& args, const Place& place, int index) {
        return reinterpret_cast<double2*>(state_word(args.state, place, kWords, index));
    }

    double2 means_[kWords] = {};
};

class RealFading {
public:
    static constexpr int kWords = 5; ///< two of means, two of weights, FadingMean::infinite
    static constexpr bool kRing = false;

    __device__ RealFading(const AverageArgs& args, const Place& place) : irregular_(args, place) {
        const Samples<std::uint32_t> infinite =
            irregular_.now ? Samples<std::uint32_t>::load(word<std::uint32_t>(args, place, 4))
                           : Samples<std::uint32_t>{};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const double2 mean = args.first() ? make_double2(0, 0) : *word<double2>(args, place, i);
            const double2 weight = irregular_.now ? *word<double2>(args, place, 2 + i) : make_double2(0, 0);
            fading_[2 * i] = {mean.x, weight.x, infinite.v[2 * i]};
            fading_[2 * i + 1] = {mean.y, weight.y, infinite.v[2 * i + 1]};
        }
    }
    /// The state is irregular as long as non-finite samples affect it.
    __device__ void take(const AverageArgs& args, const AverageFrame& frame, const Place&,
                         const Samples<float>& newest) {
        if (!irregular_.now && !any_odd(newest)) {
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j)
                fading_[j].mean += (static_cast<double>(newest.v[j]) - fading_[j].mean) * frame.weight;
            return;
        }
        bool regular = true;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            if (!irregular_.now)
                fading_[j] = {fading_[j].mean, frame.weights_before, 0};
            fading_[j].take(newest.v[j], args.keep, args.window);
            regular = regular && fading_[j].as_if_all(frame.weights_now);
        }
        irregular_.now = __any_sync(kWholeWarp, !regular) != 0;
    }
    __device__ Samples<float> results(const AverageFrame&) const {
        Samples<float> results;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            results.v[j] = static_cast<float>(irregular_.now ? fading_[j].value() : fading_[j].mean);
        return results;
    }
    __device__ void store(const AverageArgs& args, const Place& place) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            *word<double2>(args, place, i) = make_double2(fading_[2 * i].mean, fading_[2 * i + 1].mean);
            if (irregular_.now)
                *word<double2>(args, place, 2 + i) =
                    make_double2(fading_[2 * i].weight, fading_[2 * i + 1].weight);
        }
        if (irregular_.now)
            Samples<std::uint32_t>{
                {fading_[0].infinite, fading_[1].infinite, fading_[2].infinite, fading_[3].infinite}}
                .store(word<std::uint32_t>(args, place, 4));
        irregular_.store(args, place);
    }

private:
    template <class T> __device__ static T* word(const AverageArgs& args, const Place& place, int index) {
        return reinterpret_cast<T*>(state_word(args.state, place, kWords, index));
    }

    FadingMean fading_[kLaneSamples];
    Irregular irregular_;
};

/// kSeveral: more than one frame; a single one needs fewer registers.
template <class T, class Mean, bool kSeveral> __global__ void __launch_bounds__(kTileThreads)
    average_kernel(const __grid_constant__ AverageArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    const int count = kSeveral ? args.frames.count : 1;
    Samples<T> next = load_samples<T>(args.frames.inputs[0], args.input_pitch, place);
    Mean mean(args, place);
#pragma unroll 1
    for (int f = 0; f < count; ++f) {
        const Samples<T> newest = next;
        if (f + 1 < count)
            next = load_samples<T>(args.frames.inputs[f + 1], args.input_pitch, place);
        const AverageFrame& frame = args.of[f];
        if (frame.step.take)
            mean.take(args, frame, place, newest);
        if (f + 1 == count)
            mean.store(args, place);
        // Store it after the oldest sample is loaded, as in add_newest(), and before the results. When it was
        // stored after the results, u16 took 3.3 times as long.
        if (Mean::kRing && frame.step.take)
            newest.store(ring_samples<T>(args, frame.step.slot, place));
        const Samples<float> results = mean.results(frame);
        store_results(args.frames.outputs[f], args.output_pitch, place, results);
        if constexpr (std::is_same_v<T, float>)
            count_in_block(*args.frames.counts[f], undefined_of(place, results));
    }
}

struct AverageForm {
    void (*single)(AverageArgs);
    void (*several)(AverageArgs);
    int state_words;
};

template <class T, class Mean> AverageForm form_with() {
    return {average_kernel<T, Mean, false>, average_kernel<T, Mean, true>, Mean::kWords};
}
AverageForm form_of(PixelType type, AverageParams::Kind kind) {
    return dispatch(type, [kind](auto zero) -> AverageForm {
        using T = decltype(zero);
        constexpr bool real = std::is_same_v<T, float>;
        using Window = std::conditional_t<real, RealMean, IntegerMean>;
        using Fading = std::conditional_t<real, RealFading, IntegerFading>;
        return kind == AverageParams::Kind::exponential ? form_with<T, Fading>() : form_with<T, Window>();
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
        const StageRun<Space::device> frame{input, output, context};
        run_together({&frame, 1});
    }

    bool run_together(DeviceRuns frames) override {
        const auto& [input, output, context] = frames[0];
        const bool real = input_.type == PixelType::f32; // means of integers are always finite
        if (real && input_.channels == 3 && frames.size() > 1)
            return false; // ColourCounts are of one frame
        auto* const stream = static_cast<cudaStream_t>(context.stream);
        AverageArgs args{.frames = FrameAddresses("average", frames),
                         .of = {},
                         .input_pitch = input.pitch,
                         .output_pitch = output.pitch,
                         .tiles = tiles_,
                         .ring = ring_.as<std::byte>(),
                         .window = params_.frames,
                         .state = state_.as<uint4>(),
                         .irregular = irregular_.as<std::uint32_t>(),
                         .keep = 1 - 1.0 / params_.frames};
        for (std::size_t f = 0; f < frames.size(); ++f) {
            const HistoryStep step = history_.next(frames[f].context.again);
            AverageFrame& frame = args.of[f];
            frame.step = step;
            if (params_.kind == AverageParams::Kind::window)
                continue;
            frame.weight = exponential_weight(params_.frames, step.tick);
            frame.weights_before = exponential_weights(params_.frames, step.tick);
            frame.weights_now = exponential_weights(params_.frames, step.tick + 1);
        }
        if (real)
            args.frames.counts[0] = colour_counts_.begin(context.counts, stream);
        const auto kernel = frames.size() > 1 ? form_.several : form_.single;
        kernel<<<tiles_.blocks(), kTileThreads, 0, stream>>>(args);
        check_launch("the kernel of stage average");
        if (real)
            colour_counts_.finish(output, context.counts, stream);
        return true;
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
