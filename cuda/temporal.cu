// Temporal speckle contrast on the device: one pass over the newest frame, the one that leaves and the sums.
#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "cuda/history_memory.hpp"
#include "stages/history.hpp"
#include "stages/speckle_saturation.hpp"
#include "stages/temporal.hpp"
#include "stages/temporal_sums.hpp"

#include <algorithm>

namespace specklescope {

namespace cuda {
namespace {

struct TemporalArgs {
    const std::byte* input;
    std::size_t input_pitch;
    std::byte* output;
    std::size_t output_pitch;
    Tiles tiles;
    std::byte* ring; ///< frames one after the other, each in tiles
    int frames;
    HistoryStep step;
    uint4* state;
    AgesOnDevice saturation;
    ContrastForm form;
    double c;
    PixelCounts* counts;
};

template <class T> __device__ inline T* ring_samples(const TemporalArgs& args, int slot, const Place& place) {
    return reinterpret_cast<T*>(args.ring) + static_cast<std::size_t>(slot) * args.tiles.samples() +
           place.sample();
}

__device__ inline std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint64_t>(high) << 32 | low;
}
__device__ inline uint4 halves(std::uint64_t a, std::uint64_t b) {
    return make_uint4(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
                      static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32));
}

// What is kept of four pixels, and how one sample of each enters and one leaves. All begin as zeros.

/// u8, and u16 of up to 256 frames: ΣI² and ΣI in 64 bits.
struct PackedState {
    static constexpr int kWords = 2;
    std::uint64_t sums[kLaneSamples] = {};

    __device__ void load(const TemporalArgs& args, const Place& place) {
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            const uint4 word = *state_word(args.state, place, kWords, i);
            sums[2 * i] = join(word.x, word.y);
            sums[2 * i + 1] = join(word.z, word.w);
        }
    }
    __device__ void store(const TemporalArgs& args, const Place& place) const {
#pragma unroll
        for (int i = 0; i < kWords; ++i)
            *state_word(args.state, place, kWords, i) = halves(sums[2 * i], sums[2 * i + 1]);
    }
    template <class T> __device__ void replace(const TemporalArgs&, const Place&, const Samples<T>& enter,
                                               const Samples<T>& leave) {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            sums[j] += packed_sample(enter.v[j]) - packed_sample(leave.v[j]);
    }
    __device__ IntegerSums of(int j) const { return unpacked(sums[j]); }
};

/// u16 of more frames.
struct WideState {
    static constexpr int kWords = 3;
    std::uint64_t q[kLaneSamples] = {};
    std::uint32_t s[kLaneSamples] = {};

    __device__ void load(const TemporalArgs& args, const Place& place) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint4 word = *state_word(args.state, place, kWords, i);
            q[2 * i] = join(word.x, word.y);
            q[2 * i + 1] = join(word.z, word.w);
        }
        const uint4 word = *state_word(args.state, place, kWords, 2);
        s[0] = word.x;
        s[1] = word.y;
        s[2] = word.z;
        s[3] = word.w;
    }
    __device__ void store(const TemporalArgs& args, const Place& place) const {
#pragma unroll
        for (int i = 0; i < 2; ++i)
            *state_word(args.state, place, kWords, i) = halves(q[2 * i], q[2 * i + 1]);
        *state_word(args.state, place, kWords, 2) = make_uint4(s[0], s[1], s[2], s[3]);
    }
    template <class T> __device__ void replace(const TemporalArgs&, const Place&, const Samples<T>& enter,
                                               const Samples<T>& leave) {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            const std::uint32_t in = enter.v[j];
            const std::uint32_t out = leave.v[j];
            s[j] += in - out;
            q[j] += static_cast<std::uint64_t>(in * in) - static_cast<std::uint64_t>(out * out);
        }
    }
    __device__ IntegerSums of(int j) const { return {q[j], s[j]}; }
};

__device__ inline float result_of(const TemporalArgs& args, IntegerSums sums) {
    return contrast_value(args.form, static_cast<float>(args.c), static_cast<float>(sums.s),
                          static_cast<float>(determinant(sums, static_cast<std::uint32_t>(args.step.held))));
}

struct RealState {
    static constexpr int kWords = 6;
    RealSums sums[kLaneSamples] = {};

    __device__ void load(const TemporalArgs& args, const Place& place) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint4 s = *state_word(args.state, place, kWords, i);
            const uint4 q = *state_word(args.state, place, kWords, 2 + i);
            sums[2 * i].s = __longlong_as_double(static_cast<long long>(join(s.x, s.y)));
            sums[2 * i + 1].s = __longlong_as_double(static_cast<long long>(join(s.z, s.w)));
            sums[2 * i].q = __longlong_as_double(static_cast<long long>(join(q.x, q.y)));
            sums[2 * i + 1].q = __longlong_as_double(static_cast<long long>(join(q.z, q.w)));
        }
        const uint4 reference = *state_word(args.state, place, kWords, 4);
        const uint4 peak = *state_word(args.state, place, kWords, 5);
        const std::uint32_t references[] = {reference.x, reference.y, reference.z, reference.w};
        const std::uint32_t peaks[] = {peak.x, peak.y, peak.z, peak.w};
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            sums[j].reference = __uint_as_float(references[j]);
            sums[j].peak = __uint_as_float(peaks[j]);
        }
    }
    __device__ void store(const TemporalArgs& args, const Place& place) const {
        const auto bits = [](double value) {
            return static_cast<std::uint64_t>(__double_as_longlong(value));
        };
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            *state_word(args.state, place, kWords, i) = halves(bits(sums[2 * i].s), bits(sums[2 * i + 1].s));
            *state_word(args.state, place, kWords, 2 + i) =
                halves(bits(sums[2 * i].q), bits(sums[2 * i + 1].q));
        }
        *state_word(args.state, place, kWords, 4) =
            make_uint4(__float_as_uint(sums[0].reference), __float_as_uint(sums[1].reference),
                       __float_as_uint(sums[2].reference), __float_as_uint(sums[3].reference));
        *state_word(args.state, place, kWords, 5) =
            make_uint4(__float_as_uint(sums[0].peak), __float_as_uint(sums[1].peak),
                       __float_as_uint(sums[2].peak), __float_as_uint(sums[3].peak));
    }
    /// The newest samples must be in the ring already.
    __device__ void replace(const TemporalArgs& args, const Place& place, const Samples<float>& enter,
                            const Samples<float>& leave) {
        const bool renew = args.step.first || renewed(place.row, args.step.tick);
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            bool anew = renew;
            if (!anew) {
                add_sample(sums[j], enter.v[j]);
                if (args.step.leaves)
                    remove_sample(sums[j], leave.v[j]);
                anew = worn_out(sums[j], args.step.held) || !isfinite(leave.v[j]);
            }
            if (anew)
                sums[j] = summed_anew(args.step.held, [&](int k) {
                    const int slot = args.step.slot - k + (k > args.step.slot ? args.frames : 0);
                    return ring_samples<float>(args, slot, place)[j];
                });
        }
    }
    __device__ const RealSums& of(int j) const { return sums[j]; }
};

__device__ inline float result_of(const TemporalArgs& args, const RealSums& sums) {
    return contrast_of(sums, args.form, args.c, args.step.held);
}

template <class T, class State> __global__ void __launch_bounds__(kTileThreads)
    temporal_kernel(const __grid_constant__ TemporalArgs args) {
    const Place place = place_of(args.tiles);
    if (place.tile >= args.tiles.count)
        return;
    Samples<T> newest{};
    State state;
    if (!args.step.first)
        state.load(args, place);
    if (args.step.take) {
        newest = load_samples<T>(args.input, args.input_pitch, place);
        T* const samples = ring_samples<T>(args, args.step.slot, place);
        const Samples<T> leave = args.step.leaves ? Samples<T>::load(samples) : Samples<T>{};
        newest.store(samples);
        state.replace(args, place, newest, leave);
        state.store(args, place);
    }
    Samples<float> results;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        results.v[j] = result_of(args, state.of(j));
    store_results(args.output, args.output_pitch, place, results);
    count_undefined(*args.counts, place, results);
    count_saturated(*args.counts,
                    advance_ages(args.saturation, place, newest, args.step.take, args.step.first));
}

using TemporalKernel = void (*)(TemporalArgs);
struct TemporalForm {
    TemporalKernel kernel;
    int state_words;
};

TemporalForm form_of(PixelType type, int frames) {
    if (type == PixelType::f32)
        return {temporal_kernel<float, RealState>, RealState::kWords};
    if (type == PixelType::u8)
        return {temporal_kernel<std::uint8_t, PackedState>, PackedState::kWords};
    if (packed_sums_fit(type, frames))
        return {temporal_kernel<std::uint16_t, PackedState>, PackedState::kWords};
    return {temporal_kernel<std::uint16_t, WideState>, WideState::kWords};
}

class TemporalDevice final : public DeviceStage {
public:
    explicit TemporalDevice(const Params& params)
        : params_(params.as<TemporalParams>()), history_(params_.frames) {}

    Shape prepare(const Shape& input) override {
        tiles_ = Tiles::of(input);
        form_ = form_of(input.type, params_.frames);
        bytes_.frame = tiles_.samples() * pixel_bytes(input.type);
        const std::size_t state =
            tiles_.samples() / kLaneSamples * sizeof(uint4) * static_cast<std::size_t>(form_.state_words);
        bytes_.other = state + AgesMemory::bytes(tiles_);
        check_device_history("stage temporal", history_.frames(), bytes_);
        ring_ = Buffer(bytes_.frame * static_cast<std::size_t>(history_.frames()), device_memory());
        state_ = Buffer(state, device_memory());
        ages_ = AgesMemory(tiles_);
        history_.reset();
        return {input.width, input.height, 1, PixelType::f32};
    }

    void run(ConstDeviceView input, DeviceView output, const RunContext<Space::device>& context) override {
        const HistoryStep step = history_.next(context.again);
        const ContrastScale scale =
            contrast_scale(params_.output, step.held, params_.exposure_ms, context.info);
        const TemporalArgs args{.input = input.data,
                                .input_pitch = input.pitch,
                                .output = output.data,
                                .output_pitch = output.pitch,
                                .tiles = tiles_,
                                .ring = ring_.as<std::byte>(),
                                .frames = history_.frames(),
                                .step = step,
                                .state = state_.as<uint4>(),
                                .saturation = ages_.view(history_.frames(), input.shape.type, context.info),
                                .form = scale.form,
                                .c = scale.c,
                                .counts = context.counts};
        form_.kernel<<<tiles_.blocks(), kTileThreads, 0, static_cast<cudaStream_t>(context.stream)>>>(args);
        check_launch("the kernel of stage temporal");
    }

    void set_params(const Params& params) override {
        const auto& values = params.as<TemporalParams>();
        params_.exposure_ms = values.exposure_ms;
        params_.output = values.output;
    }
    void reset() override { history_.reset(); }
    Warmup warmup() const override { return history_.warmup(); }
    std::string note() const override { return history_note(history_.frames(), bytes_); }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

private:
    TemporalParams params_;
    History history_;
    HistoryBytes bytes_;
    Tiles tiles_;
    TemporalForm form_{};
    Buffer ring_, state_;
    AgesMemory ages_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_temporal_device(const Params& params) {
    return std::make_unique<cuda::TemporalDevice>(params);
}

} // namespace specklescope
