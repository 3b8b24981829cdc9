// Sums of I and I² of columns and windows, per pixel type and radius, and the results from them.
#pragma once

#include "cuda/contrast_results.cuh"
#include "cuda/speckle/speckle_launch.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace specklescope::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffU;

// --- sums of columns ---

/// Separate Σ I and Σ I²: u8 (at most 26 bits each).
struct Sums32 {
    std::uint32_t s, q;
};
/// Σ I² in the low 40 bits, Σ I in the high 24: exactly enough for u16 up to radius 7. Both are added at
/// once.
struct SumsPacked {
    std::uint64_t p;
};
/// u16 with more than 256 pixels in the window.
struct Sums64 {
    std::uint64_t q;
    std::uint32_t s;
};
struct SumsReal {
    double s, q;
};

__device__ inline Sums32 operator+(Sums32 a, Sums32 b) { return {a.s + b.s, a.q + b.q}; }
__device__ inline SumsPacked operator+(SumsPacked a, SumsPacked b) { return {a.p + b.p}; }
__device__ inline Sums64 operator+(Sums64 a, Sums64 b) { return {a.q + b.q, a.s + b.s}; }
__device__ inline SumsReal operator+(SumsReal a, SumsReal b) { return {a.s + b.s, a.q + b.q}; }

template <class V> __device__ inline V three(const V& a, const V& b, const V& c) { return a + b + c; }
/// The sum of three takes two instructions, like the sum of two; by itself the compiler would share sums of
/// two.
__device__ inline SumsPacked three(const SumsPacked& a, const SumsPacked& b, const SumsPacked& c) {
    SumsPacked result;
    asm("{\n\t.reg .u64 two;\n\tadd.u64 two, %1, %2;\n\tadd.u64 %0, two, %3;\n\t}"
        : "=l"(result.p)
        : "l"(a.p), "l"(b.p), "l"(c.p));
    return result;
}

/// Value of the lane `Offset` to the right (negative: left).
template <int Offset, class V> __device__ inline V from_lane(V value) {
    if constexpr (Offset < 0)
        return __shfl_up_sync(kAllLanes, value, -Offset);
    else if constexpr (Offset > 0)
        return __shfl_down_sync(kAllLanes, value, Offset);
    else
        return value;
}
template <int Offset> __device__ inline Sums32 from_lane(Sums32 v) {
    return {from_lane<Offset>(v.s), from_lane<Offset>(v.q)};
}
template <int Offset> __device__ inline SumsPacked from_lane(SumsPacked v) {
    return {from_lane<Offset>(v.p)};
}
template <int Offset> __device__ inline Sums64 from_lane(Sums64 v) {
    return {from_lane<Offset>(v.q), from_lane<Offset>(v.s)};
}
template <int Offset> __device__ inline SumsReal from_lane(SumsReal v) {
    return {from_lane<Offset>(v.s), from_lane<Offset>(v.q)};
}

template <class T, int R> struct SumsOf { using Type = Sums64; };
template <int R> struct SumsOf<std::uint8_t, R> { using Type = Sums32; };
template <int R>
    requires(R <= 7)
struct SumsOf<std::uint16_t, R> {
    using Type = SumsPacked;
};
template <int R> struct SumsOf<float, R> { using Type = SumsReal; };

/// The same value with its range hidden from the compiler, which would otherwise split 64-bit products.
template <class T> __device__ inline T opaque(T value) {
    asm("" : "+r"(value));
    return value;
}
/// a·b + c in one instruction.
__device__ inline std::uint64_t multiply_add(std::int32_t a, std::int32_t b, std::uint64_t c) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(opaque(a)) * opaque(b)) + c;
}
__device__ inline std::uint64_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint64_t c) {
    return static_cast<std::uint64_t>(opaque(a)) * b + c;
}
/// Address `count` times `step` bytes after `first`.
template <class T> __device__ inline T* advanced(T* first, std::int32_t count, std::int32_t step) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) +
                                static_cast<std::int64_t>(opaque(count)) * opaque(step));
}

/// Address `step` bytes further, in one instruction.
template <class T> __device__ inline T* next_row(T* at, std::int32_t step) { return advanced(at, 1, step); }

/// Adds only to Σ I, in one instruction: a multiplication, since a shift would need two.
__device__ inline void add_samples(SumsPacked& sums, std::uint32_t samples) {
    const std::uint32_t high = opaque(static_cast<std::uint32_t>(sums.p >> 32)) + opaque(samples) * 256;
    sums.p = static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint32_t>(sums.p);
}

/// Replaces a sample: ΔI² = (e − l)(e + l).
__device__ inline void replace(Sums32& sums, std::uint32_t enter, std::uint32_t leave) {
    const std::uint32_t d = enter - leave;
    sums.s += d;
    sums.q += d * (enter + leave);
}
__device__ inline void replace(SumsPacked& sums, std::uint32_t enter, std::uint32_t leave) {
    const auto d = static_cast<std::int32_t>(enter - leave);
    sums.p = multiply_add(d, static_cast<std::int32_t>(enter + leave), sums.p);
    add_samples(sums, static_cast<std::uint32_t>(d));
}
__device__ inline void replace(Sums64& sums, std::uint32_t enter, std::uint32_t leave) {
    const auto d = static_cast<std::int32_t>(enter - leave);
    sums.s += static_cast<std::uint32_t>(d);
    sums.q = multiply_add(d, static_cast<std::int32_t>(enter + leave), sums.q);
}

/// Adds a sample. Work that can wait until all samples are added goes to `rest`, and is finished by
/// add_rest().
template <class Sums> __device__ inline void add_sample(Sums& sums, std::uint32_t sample, std::uint32_t&) {
    replace(sums, sample, 0);
}
__device__ inline void add_sample(SumsPacked& sums, std::uint32_t sample, std::uint32_t& rest) {
    rest += sample;
    sums.p = multiply_add(sample, sample, sums.p);
}
template <class Sums> __device__ inline void add_rest(Sums&, std::uint32_t) {}
__device__ inline void add_rest(SumsPacked& sums, std::uint32_t rest) { add_samples(sums, rest); }

// --- from the sums of a window to the result ---

template <int R>
__device__ inline Moments moments(std::uint32_t s, std::uint32_t q_high, std::uint32_t q_low) {
    constexpr std::uint32_t n = (2 * R + 1) * (2 * R + 1);
    const std::uint64_t minus_square =
        multiply_add(static_cast<std::int32_t>(s), static_cast<std::int32_t>(0U - s), 0);
    const std::uint64_t d = multiply_add(q_low, n, minus_square);
    const std::uint32_t high = opaque(static_cast<std::uint32_t>(d >> 32)) + q_high * n;
    return {static_cast<float>(s),
            fmaf(static_cast<float>(high), 4294967296.0F, static_cast<float>(static_cast<std::uint32_t>(d)))};
}
template <int R> __device__ inline Moments moments(Sums32 w) {
    constexpr std::uint32_t n = (2 * R + 1) * (2 * R + 1);
    if constexpr (R <= 7) // N²·255² < 2³²
        return {static_cast<float>(w.s), static_cast<float>(n * w.q - w.s * w.s)};
    else
        return moments<R>(w.s, 0, w.q);
}
template <int R> __device__ inline Moments moments(Sums64 w) {
    return moments<R>(w.s, static_cast<std::uint32_t>(w.q >> 32), static_cast<std::uint32_t>(w.q));
}
template <int R> __device__ inline Moments moments(SumsPacked w) {
    const auto high = static_cast<std::uint32_t>(w.p >> 32);
    return moments<R>(high >> 8, high & 0xffU, static_cast<std::uint32_t>(w.p));
}

/// ΣI and N·ΣI² − (ΣI)², exact.
template <int R> __device__ inline WindowSums exact_sums(std::uint32_t s, std::uint64_t q) {
    constexpr std::uint64_t n = (2 * R + 1) * (2 * R + 1);
    return {static_cast<double>(s), static_cast<double>(n * q - static_cast<std::uint64_t>(s) * s)};
}
template <int R> __device__ inline WindowSums exact_sums(Sums32 w) { return exact_sums<R>(w.s, w.q); }
template <int R> __device__ inline WindowSums exact_sums(Sums64 w) { return exact_sums<R>(w.s, w.q); }
template <int R> __device__ inline WindowSums exact_sums(SumsPacked w) {
    return exact_sums<R>(static_cast<std::uint32_t>(w.p >> 40), w.p & ((std::uint64_t{1} << 40) - 1));
}

/// The result of f32 samples.
__device__ inline float real_result(WindowSums sums, SpeckleForm form, float c) {
    const bool inverse = form == SpeckleForm::inverse;
    const double square = sums.s * sums.s;
    const auto value = static_cast<float>(static_cast<double>(c) * (inverse ? square : sums.d) /
                                          (inverse ? sums.d : square));
    const float result = form == SpeckleForm::root ? sqrtf(value) : value;
    // Samples may be negative: undefined even for D > 0.
    return sums.s <= 0 ? __int_as_float(0x7fffffff) : result;
}

// --- the width of the window ---

/// Sums over columns 4·lane + j − R … 4·lane + j + R for j = 0 … 3, by additions only: the columns shared by
/// all four windows, plus a tail of the three to their left, plus a head of the three to their right.
template <int R, class V> struct Windows {
    V w[kColumns];

    __device__ explicit Windows(const V (&c)[kColumns]) {
        const V a2 = column<2 - R>(c);
        const V a1 = column<1 - R>(c);
        const V a0 = column<-R>(c);
        const V b0 = column<R + 1>(c);
        const V b1 = column<R + 2>(c);
        const V b2 = column<R + 3>(c);
        if constexpr (R == 1) {
            w[0] = three(a0, a1, a2);
            w[1] = three(a1, a2, b0);
            w[2] = three(a2, b0, b1);
            w[3] = three(b0, b1, b2);
        } else {
            V left, right; // of the two windows on the left and on the right
            if constexpr (R == 2) {
                left = three(c[1], c[2], a2);
                right = three(c[1], c[2], b0);
            } else {
                const V all = shared(c);
                left = all + a2;
                right = all + b0;
            }
            w[0] = three(left, a0, a1);
            w[1] = three(left, a1, b0);
            w[2] = three(right, a2, b1);
            w[3] = three(right, b1, b2);
        }
    }

private:
    /// Column I counted from this lane's first.
    template <int I> __device__ static V column(const V (&c)[kColumns]) {
        constexpr int lane = I >= 0 ? I / kColumns : -((-I + kColumns - 1) / kColumns);
        return from_lane<lane>(c[I - lane * kColumns]);
    }
    /// Columns 3 − R … R, for R ≥ 3.
    __device__ static V shared(const V (&c)[kColumns]) {
        constexpr int whole = (R - 3) / kColumns; // neighbours on each side with all columns inside
        constexpr int part = (R - 3) % kColumns;  // columns of the next neighbour
        const V own = three(c[0], c[1], c[2]) + c[3];
        V result = own;
        if constexpr (whole == 3) {
            const V two = own + from_lane<-1>(own);
            result = three(three(own, from_lane<-1>(own), from_lane<-2>(two)), from_lane<1>(own),
                           from_lane<3>(two));
        } else {
            if constexpr (whole >= 1)
                result = three(result, from_lane<-1>(own), from_lane<1>(own));
            if constexpr (whole >= 2)
                result = three(result, from_lane<-2>(own), from_lane<2>(own));
        }
        if constexpr (part == 1)
            result = three(result, from_lane<-whole - 1>(c[3]), from_lane<whole + 1>(c[0]));
        if constexpr (part == 2)
            result = three(result, from_lane<-whole - 1>(c[2] + c[3]), from_lane<whole + 1>(c[0] + c[1]));
        if constexpr (part == 3)
            result = three(result, from_lane<-whole - 1>(three(c[1], c[2], c[3])),
                           from_lane<whole + 1>(three(c[0], c[1], c[2])));
        return result;
    }
};

} // namespace specklescope::cuda
