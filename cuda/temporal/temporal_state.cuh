// Running sums of temporal and spatiotemporal contrast on the device: the last frames and the sums of every
// pixel, in tiles. For .cu files only.
#pragma once

#include "cuda/device.hpp"
#include "cuda/history.cuh"
#include "stages/history.hpp"
#include "stages/temporal/temporal_sums.hpp"

namespace specklescope::cuda {

struct TemporalHistory {
    const std::byte* input;
    std::size_t input_pitch;
    Tiles tiles;
    std::byte* ring; ///< consecutive frames, each in tiles
    int frames;
    HistoryStep step;
    uint4* state;
    AgesOnDevice saturation;
};

template <class T>
__device__ inline T* ring_samples(const TemporalHistory& args, int slot, const Place& place) {
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

// State of four pixels, and replacement of one sample of each. Initially zeros.

/// Sums about kNarrowOrigin.
struct NarrowSums {
    std::int32_t s;  ///< Σ(I − origin)
    std::uint32_t q; ///< Σ(I − origin)²
    __device__ std::uint32_t sum(std::uint32_t n) const {
        return static_cast<std::uint32_t>(s) + n * static_cast<std::uint32_t>(kNarrowOrigin);
    }
};
/// Does not depend on the origin.
__device__ inline std::uint32_t determinant(NarrowSums sums, std::uint32_t n) {
    return n * sums.q - static_cast<std::uint32_t>(sums.s * sums.s);
}

/// u8 of up to kNarrowFrames frames: both sums in 32 bits.
struct NarrowState {
    static constexpr int kWords = 1;
    Samples<std::uint32_t> sums{};

    __device__ static std::uint32_t* word(const TemporalHistory& args, const Place& place) {
        return reinterpret_cast<std::uint32_t*>(state_word(args.state, place, kWords, 0));
    }
    __device__ void load(const TemporalHistory& args, const Place& place) {
        sums = Samples<std::uint32_t>::load(word(args, place));
    }
    __device__ void store(const TemporalHistory& args, const Place& place) const {
        sums.store(word(args, place));
    }
    template <class T> __device__ void replace(const TemporalHistory& args, const Place&,
                                               const Samples<T>& enter, const Samples<T>& leave) {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            sums.v[j] += narrow_sample(enter.v[j]) - (args.step.leaves ? narrow_sample(leave.v[j]) : 0);
    }
    __device__ NarrowSums of(int j) const { return narrow_sums(sums.v[j]); }
    __device__ static NarrowSums narrow_sums(std::uint32_t sums) {
        return {static_cast<std::int32_t>(sums) >> kNarrowBits, sums & ((1U << kNarrowBits) - 1)};
    }
};

/// u8 of more frames, and u16 of up to 256: ΣI² and ΣI in 64 bits.
struct PackedState {
    static constexpr int kWords = 2;
    std::uint64_t sums[kLaneSamples] = {};

    __device__ void load(const TemporalHistory& args, const Place& place) {
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            const uint4 word = *state_word(args.state, place, kWords, i);
            sums[2 * i] = join(word.x, word.y);
            sums[2 * i + 1] = join(word.z, word.w);
        }
    }
    __device__ void store(const TemporalHistory& args, const Place& place) const {
#pragma unroll
        for (int i = 0; i < kWords; ++i)
            *state_word(args.state, place, kWords, i) = halves(sums[2 * i], sums[2 * i + 1]);
    }
    template <class T> __device__ void replace(const TemporalHistory&, const Place&, const Samples<T>& enter,
                                               const Samples<T>& leave) {
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j)
            sums[j] += packed_sample(enter.v[j]) - packed_sample(leave.v[j]);
    }
    __device__ IntegerSums of(int j) const { return unpacked(sums[j]); }
};

/// u16 with more frames.
struct WideState {
    static constexpr int kWords = 3;
    std::uint64_t q[kLaneSamples] = {};
    std::uint32_t s[kLaneSamples] = {};

    __device__ void load(const TemporalHistory& args, const Place& place) {
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
    __device__ void store(const TemporalHistory& args, const Place& place) const {
#pragma unroll
        for (int i = 0; i < 2; ++i)
            *state_word(args.state, place, kWords, i) = halves(q[2 * i], q[2 * i + 1]);
        *state_word(args.state, place, kWords, 2) = make_uint4(s[0], s[1], s[2], s[3]);
    }
    template <class T> __device__ void replace(const TemporalHistory&, const Place&, const Samples<T>& enter,
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

struct RealState {
    static constexpr int kWords = 6;
    RealSums sums[kLaneSamples] = {};

    __device__ void load(const TemporalHistory& args, const Place& place) {
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
    __device__ void store(const TemporalHistory& args, const Place& place) const {
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
    __device__ void replace(const TemporalHistory& args, const Place& place, const Samples<float>& enter,
                            const Samples<float>& leave) {
        const bool renew = args.step.first || renewed(place.row, args.step.tick);
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            bool anew = renew;
            if (!anew) {
                add_sample(sums[j], enter.v[j]);
                if (args.step.leaves)
                    remove_sample(sums[j], leave.v[j]);
                anew = needs_resummation(sums[j], args.step.held) || !isfinite(leave.v[j]);
            }
            if (anew)
                sums[j] = summed_anew(args.step.held, [&](int k) {
                    if (k == 0) // not in the ring yet
                        return enter.v[j];
                    const int slot = args.step.slot - k + (k > args.step.slot ? args.frames : 0);
                    return ring_samples<float>(args, slot, place)[j];
                });
        }
    }
    __device__ const RealSums& of(int j) const { return sums[j]; }
};

/// Adds the lane's samples of the newest frame, if it is new; returns the sums.
template <class T, class State>
__device__ inline State add_newest(const TemporalHistory& args, const Place& place, Samples<T>& newest) {
    State state;
    if (!args.step.first)
        state.load(args, place);
    if (args.step.take) {
        newest = load_samples<T>(args.input, args.input_pitch, place);
        T* const samples = ring_samples<T>(args, args.step.slot, place);
        const Samples<T> leave = args.step.leaves ? Samples<T>::load(samples) : Samples<T>{};
        state.replace(args, place, newest, leave);
        state.store(args, place);
        // Last, after the load of `leave`: a store to memory that is still being loaded into the cache is
        // slow (three times the whole kernel, for u8 on an H200).
        newest.store(samples);
    }
    return state;
}

/// Chooses the state for a pixel type and number of frames: f(T{}, State{}). kNarrow: also NarrowState, which
/// moves fewer bytes but takes more arithmetic.
template <bool kNarrow, class F> decltype(auto) dispatch_state(PixelType type, int frames, F&& f) {
    if (type == PixelType::f32)
        return f(float{}, RealState{});
    if constexpr (kNarrow)
        if (narrow_sums_fit(type, frames))
            return f(std::uint8_t{}, NarrowState{});
    if (type == PixelType::u8)
        return f(std::uint8_t{}, PackedState{});
    if (packed_sums_fit(type, frames))
        return f(std::uint16_t{}, PackedState{});
    return f(std::uint16_t{}, WideState{});
}

/// Owner of the memory of TemporalHistory. kNarrow: as for dispatch_state().
template <bool kNarrow> class TemporalMemory {
public:
    /// `other`: additional bytes of the stage.
    void prepare(std::string_view stage, const Shape& input, int frames, std::size_t other = 0) {
        tiles_ = Tiles::of(input);
        frames_ = frames;
        const int words = dispatch_state<kNarrow>(input.type, frames,
                                                  [](auto, auto state) { return decltype(state)::kWords; });
        const std::size_t state =
            tiles_.samples() / kLaneSamples * sizeof(uint4) * static_cast<std::size_t>(words);
        bytes_ = {.frame = tiles_.samples() * pixel_bytes(input.type),
                  .other = state + AgesMemory::bytes(tiles_) + other};
        check_device_history(stage, frames, bytes_);
        ring_ = Buffer(bytes_.frame * static_cast<std::size_t>(frames), device_memory());
        state_ = Buffer(state, device_memory());
        ages_ = AgesMemory(tiles_);
    }
    TemporalHistory view(ConstDeviceView input, const HistoryStep& step, const FrameInfo& info,
                         int counted_frames) const {
        return {.input = input.data,
                .input_pitch = input.pitch,
                .tiles = tiles_,
                .ring = ring_.as<std::byte>(),
                .frames = frames_,
                .step = step,
                .state = state_.as<uint4>(),
                .saturation = ages_.view(counted_frames, input.shape.type, info)};
    }
    const Tiles& tiles() const { return tiles_; }
    const HistoryBytes& bytes() const { return bytes_; }

private:
    Tiles tiles_;
    int frames_ = 0;
    HistoryBytes bytes_;
    Buffer ring_, state_;
    AgesMemory ages_;
};

} // namespace specklescope::cuda
