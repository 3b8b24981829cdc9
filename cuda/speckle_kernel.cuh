// Speckle contrast in one pass from pixels to result. A warp walks down a strip of 128 columns; each lane
// keeps the sums of I and I² of four columns over the rows of the window, adding the row that enters and
// taking off the one that leaves, and gathers the window's width from its neighbours by shuffles. Work per
// pixel hardly depends on the radius. Lanes at both ends of a warp only serve their neighbours.
#pragma once

#include "cuda/speckle_launch.hpp"
#include "pipeline/stage.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace specklescope::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffU;
template <int R> inline constexpr int kHaloLanes = halo_lanes(R);
template <int R> inline constexpr int kStripColumns = strip_columns(R);

// --- sums of columns
// -------------------------------------------------------------------------------------------

/// Σ I and Σ I² as they are: u8 (at most 26 bits each).
struct Sums32 {
    std::uint32_t s, q;
};
/// Σ I² in the low 40 bits, Σ I in the high 24: u16 up to radius 7 needs exactly that. Adding is one
/// addition.
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

/// The value of the lane `Offset` to the right (negative: left).
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

/// The same value, of which the compiler knows nothing: what it knows of ranges makes it take 64-bit products
/// apart.
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
/// The address `count` times `step` bytes after `first`.
template <class T> __device__ inline T* advanced(T* first, std::int32_t count, std::int32_t step) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) +
                                static_cast<std::int64_t>(opaque(count)) * opaque(step));
}

/// One sample enters, one leaves: ΔI² = (e − l)(e + l).
__device__ inline void replace(Sums32& sums, std::uint32_t enter, std::uint32_t leave) {
    const std::uint32_t d = enter - leave;
    sums.s += d;
    sums.q += d * (enter + leave);
}
__device__ inline void replace(SumsPacked& sums, std::uint32_t enter, std::uint32_t leave) {
    const auto d = static_cast<std::int32_t>(enter - leave);
    const std::uint64_t p = multiply_add(d, static_cast<std::int32_t>(enter + leave), sums.p);
    const std::uint32_t high =
        opaque(static_cast<std::uint32_t>(p >> 32)) + (static_cast<std::uint32_t>(d) << 8);
    sums.p = static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint32_t>(p);
}
__device__ inline void replace(Sums64& sums, std::uint32_t enter, std::uint32_t leave) {
    const auto d = static_cast<std::int32_t>(enter - leave);
    sums.s += static_cast<std::uint32_t>(d);
    sums.q = multiply_add(d, static_cast<std::int32_t>(enter + leave), sums.q);
}

// --- from the sums of a window to the result
// ---------------------------------------------------------------------

__device__ inline float fast_reciprocal(float x) { // 1 ulp; 1/0 = ∞
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ inline float fast_sqrt(float x) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/// ΣI and N·ΣI² − (ΣI)², exact up to here, then rounded to f32. D = 0 and S = 0 stay exact.
struct Moments {
    float s, d;
};
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

/// Four results; the form is the same for all threads, so that it is asked once.
__device__ inline void results_of(const Moments (&m)[kColumns], SpeckleForm form, float c,
                                  float (&out)[kColumns]) {
    if (form == SpeckleForm::inverse) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            out[j] = (m[j].s * m[j].s) * fast_reciprocal(m[j].d) * c;
        return;
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
        out[j] = m[j].d * fast_reciprocal(m[j].s * m[j].s) * c;
    if (form == SpeckleForm::root) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            out[j] = fast_sqrt(out[j]);
    }
}

// --- rows and columns
// --------------------------------------------------------------------------------------------

/// Index of the sample that stands for i on an axis of n samples; −1: zero.
__device__ inline int mapped(int i, int n, SpeckleBorder border) {
    if (border == SpeckleBorder::zero)
        return static_cast<unsigned>(i) < static_cast<unsigned>(n) ? i : -1;
    if (border == SpeckleBorder::reflect) { // edge samples twice: … 1 0 | 0 1 …
        i = max(i, -1 - i);
        i = min(i, 2 * n - 1 - i);
    }
    return min(max(i, 0), n - 1); // also far outside, where nobody looks
}

/// Four samples side by side, as loaded.
template <class T> struct Quad;
template <> struct Quad<std::uint8_t> {
    std::uint32_t bits;
    __device__ std::uint32_t get(int j) const { return bits >> (8 * j) & 0xffU; }
    __device__ void set(int j, std::uint8_t v) { bits |= static_cast<std::uint32_t>(v) << (8 * j); }
};
template <> struct Quad<std::uint16_t> {
    uint2 bits;
    __device__ std::uint32_t get(int j) const {
        const std::uint32_t word = j < 2 ? bits.x : bits.y;
        return (j & 1) != 0 ? word >> 16 : word & 0xffffU;
    }
    __device__ void set(int j, std::uint16_t v) {
        (j < 2 ? bits.x : bits.y) |= static_cast<std::uint32_t>(v) << (16 * (j & 1));
    }
};
template <> struct Quad<float> {
    float4 bits;
    __device__ float get(int j) const { return j == 0 ? bits.x : j == 1 ? bits.y : j == 2 ? bits.z : bits.w; }
    __device__ void set(int j, float v) {
        (j == 0 ? bits.x : j == 1 ? bits.y : j == 2 ? bits.z : bits.w) = v;
    }
};

/// What one lane reads: columns x … x+3 of any row.
template <class T> __device__ inline const T* line_pixels(const SpeckleArgs& args, int line) {
    return reinterpret_cast<const T*>(args.input + static_cast<std::int64_t>(line) * args.input_pitch);
}

/// For warps that see nothing but image.
template <class T> class InsideReader {
public:
    __device__ InsideReader(const SpeckleArgs& args, int x)
        : first_(line_pixels<T>(args, 0) + x), pitch_(args.input_pitch) {}
    __device__ Quad<T> row(int y) const {
        return *reinterpret_cast<const Quad<T>*>(advanced(first_, y, pitch_));
    }
    __device__ T sample(int y, int j) const { return advanced(first_, y, pitch_)[j]; }
    __device__ void prefetch(int) const {} // the walk itself asks early enough

private:
    const T* first_;
    int pitch_;
};

/// For all others: rows through the border, and columns too where the lane's own are not all in the image.
template <class T> class BorderReader {
public:
    __device__ BorderReader(const SpeckleArgs& args, int x)
        : args_(args), x_(x), columns_inside_(x >= 0 && x + kColumns <= args.width) {}
    __device__ Quad<T> row(int y) const {
        Quad<T> quad{};
        const int line = mapped(y, args_.height, args_.border);
        if (line < 0)
            return quad;
        const T* pixels = line_pixels<T>(args_, line);
        if (columns_inside_)
            return *reinterpret_cast<const Quad<T>*>(pixels + x_);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const int column = mapped(x_ + j, args_.width, args_.border);
            if (column >= 0)
                quad.set(j, pixels[column]);
        }
        return quad;
    }
    /// Brings the row nearer without holding a register for it.
    __device__ void prefetch(int y) const {
        const T* pixels =
            line_pixels<T>(args_, min(max(y, 0), args_.height - 1)) + min(max(x_, 0), args_.width - 1);
        asm volatile("prefetch.global.L1 [%0];" ::"l"(pixels));
    }
    __device__ T sample(int y, int j) const {
        const int line = mapped(y, args_.height, args_.border);
        const int column = mapped(x_ + j, args_.width, args_.border);
        return line < 0 || column < 0 ? T{} : line_pixels<T>(args_, line)[column];
    }

private:
    const SpeckleArgs& args_;
    int x_;
    bool columns_inside_;
};

// --- the width of the window
// ---------------------------------------------------------------------------------------

/// Sums over columns 4·lane + j − R … 4·lane + j + R for j = 0 … 3, by additions alone: the columns that all
/// four windows share, plus a tail of the three to their left, plus a head of the three to their right.
template <int R, class V> struct Windows {
    V w[kColumns];

    __device__ explicit Windows(const V (&c)[kColumns]) {
        const V a2 = column<2 - R>(c);
        const V a12 = column<1 - R>(c) + a2;
        const V a012 = column<-R>(c) + a12;
        const V b0 = column<R + 1>(c);
        const V b01 = b0 + column<R + 2>(c);
        const V b012 = b01 + column<R + 3>(c);
        if constexpr (R == 1) {
            w[0] = a012;
            w[1] = a12 + b0;
            w[2] = a2 + b01;
            w[3] = b012;
        } else {
            const V m = shared(c);
            w[0] = m + a012;
            w[1] = m + a12 + b0;
            w[2] = m + a2 + b01;
            w[3] = m + b012;
        }
    }

private:
    /// Column I counted from this lane's first.
    template <int I> __device__ static V column(const V (&c)[kColumns]) {
        constexpr int lane = I >= 0 ? I / kColumns : -((-I + kColumns - 1) / kColumns);
        return from_lane<lane>(c[I - lane * kColumns]);
    }
    /// Columns 3 − R … R.
    __device__ static V shared(const V (&c)[kColumns]) {
        if constexpr (R == 2) {
            return c[1] + c[2];
        } else {
            constexpr int whole =
                (R - 3) / kColumns; // neighbours on each side that lie in it with all columns
            constexpr int part = (R - 3) % kColumns; // columns of the next one after those
            const V own = (c[0] + c[1]) + (c[2] + c[3]);
            V sum = own;
            if constexpr (whole == 3) {
                const V two = own + from_lane<-1>(own);
                sum = sum + from_lane<-1>(own) + from_lane<-2>(two) + from_lane<1>(own) + from_lane<3>(two);
            } else {
                if constexpr (whole >= 1)
                    sum = sum + from_lane<-1>(own) + from_lane<1>(own);
                if constexpr (whole >= 2)
                    sum = sum + from_lane<-2>(own) + from_lane<2>(own);
            }
            if constexpr (part == 1)
                sum = sum + from_lane<-whole - 1>(c[3]) + from_lane<whole + 1>(c[0]);
            if constexpr (part == 2)
                sum = sum + from_lane<-whole - 1>(c[2] + c[3]) + from_lane<whole + 1>(c[0] + c[1]);
            if constexpr (part == 3)
                sum = sum + from_lane<-whole - 1>(c[1] + (c[2] + c[3])) +
                      from_lane<whole + 1>((c[0] + c[1]) + c[2]);
            return sum;
        }
    }
};

// --- pixels that need a word beside the picture
// --------------------------------------------------------------------

/// A strip as one warp walks it: results rows first … end − 1 (of the output), columns x … x + 3 of the
/// image.
struct Strip {
    int x, first, end;
    bool serves; ///< this lane's results are stored
};

template <class T> __device__ inline bool at_full_scale(T sample, float full) {
    return full > 0 && static_cast<float>(sample) >= full;
}

/// Counts by a second walk, which only warps that saw something take. Reads the results this lane has just
/// written.
template <class T>
__device__ __noinline__ void count_special(const SpeckleArgs& args, int radius, const Strip strip) {
    const BorderReader<T> reader(args, strip.x);
    const int lane = static_cast<int>(threadIdx.x & 31U);
    int last[kColumns] = {-0x40000000, -0x40000000, -0x40000000,
                          -0x40000000}; // row of the last full-scale sample
    unsigned undefined = 0;
    unsigned infinite = 0;
    unsigned saturated = 0;
    for (int y = strip.first + args.y_offset - radius; y < strip.end + args.y_offset + radius; ++y) {
        for (int j = 0; j < kColumns; ++j)
            if (at_full_scale(reader.sample(y, j), args.full_scale))
                last[j] = y;
        const int middle = y - radius; // the window of this row is complete now
        if (middle < strip.first + args.y_offset)
            continue;
        // Bit 4·lane + j of 128: column j of that lane holds a full-scale sample within the window's rows.
        unsigned bits = 0;
        for (int j = 0; j < kColumns; ++j)
            bits |= (last[j] >= middle - radius ? 1U : 0U) << (kColumns * (lane & 7) + j);
        for (int step = 1; step < 8; step *= 2)
            bits |= __shfl_xor_sync(kAllLanes, bits, step);
        for (int j = 0; j < kColumns; ++j) {
            const int begin = kColumns * lane + j - radius;
            const unsigned low = __shfl_sync(kAllLanes, bits, (begin >> 5) * 8);
            const unsigned high = __shfl_sync(kAllLanes, bits, ((begin >> 5) + 1) * 8);
            const unsigned window = __funnelshift_r(low, high, begin & 31) & ((1U << (2 * radius + 1)) - 1U);
            const int x = strip.x + j - args.x_offset;
            if (!strip.serves || x < 0 || x >= args.out_width)
                continue;
            const float value = args.row(middle - args.y_offset)[x];
            undefined += isnan(value) ? 1U : 0U;
            infinite += isinf(value) ? 1U : 0U;
            saturated += window != 0 ? 1U : 0U;
        }
    }
    static_assert(sizeof(PixelCounts) == 3 * sizeof(unsigned long long));
    auto* const counts = reinterpret_cast<unsigned long long*>(args.counts);
    const unsigned mine[3] = {undefined, infinite, saturated}; // in the order of PixelCounts
    for (int i = 0; i < 3; ++i) {
        unsigned sum = mine[i];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(kAllLanes, sum, step);
        if (lane == 0 && sum != 0)
            atomicAdd(counts + i, static_cast<unsigned long long>(sum));
    }
}

// --- the walk
// ----------------------------------------------------------------------------------------------------

/// Largest sample so far, in the way that is cheapest for the type.
template <class T> struct Peak;
template <> struct Peak<std::uint8_t> {
    std::uint32_t bits = 0;
    __device__ void see(const Quad<std::uint8_t>& quad) {
#if __CUDA_ARCH__ >= 900
        // Two packed maxima of 16 bits over bytes 1 and 3, and 0 and 2: full scale needs the larger byte
        // alone.
        bits = __vmaxu2(bits, quad.bits & 0xff00ff00U);
        low = __vmaxu2(low, quad.bits & 0x00ff00ffU);
#else
        for (int j = 0; j < kColumns; ++j)
            low = max(low, quad.get(j));
#endif
    }
    std::uint32_t low = 0;
    __device__ float value() const {
        return static_cast<float>(max(max(bits >> 24, bits >> 8 & 0xffU), max(low >> 16, low & 0xffffU)));
    }
};
template <> struct Peak<std::uint16_t> {
    std::uint32_t bits = 0;
    __device__ void see(const Quad<std::uint16_t>& quad) {
#if __CUDA_ARCH__ >= 900
        bits = __vmaxu2(bits, __vmaxu2(quad.bits.x, quad.bits.y));
#else
        for (int j = 0; j < kColumns; ++j)
            bits = max(bits, quad.get(j));
#endif
    }
    __device__ float value() const { return static_cast<float>(max(bits >> 16, bits & 0xffffU)); }
};

/// Column sums of integer samples.
template <class T, int R> struct Columns {
    using Sums = typename SumsOf<T, R>::Type;
    Sums c[kColumns] = {};
    Peak<T> peak;
    float lowest = 1; ///< D of all windows, or 1

    template <class Reader>
    __device__ void replace_row(const Quad<T>& enter, const Quad<T>& leave, const Reader&, int) {
        peak.see(enter);
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            replace(c[j], enter.get(j), leave.get(j));
    }
    __device__ void results(const SpeckleArgs& args, float (&out)[kColumns]) {
        const Windows<R, Sums> windows(c);
        Moments m[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            m[j] = moments<R>(windows.w[j]);
            lowest = fminf(lowest, m[j].d);
        }
        results_of(m, args.form, args.coefficient, out);
    }
    /// Was any result of this lane undefined or infinite?
    __device__ bool special() const { return lowest == 0; }
    __device__ bool saturated(float full) const { return peak.value() >= full; }
};

/// Column sums of f32 samples, in f64. Samples that are not finite count apart, so that only their windows
/// turn NaN; and where a sample leaves that dwarfs what remains, the column is summed anew: what it had
/// swallowed comes back.
template <int R> struct Columns<float, R> {
    SumsReal c[kColumns] = {};
    unsigned bad[kColumns] = {};
    float peak = 0;
    bool met = false;

    template <class Reader> __device__ void replace_row(const Quad<float> &enter, const Quad<float> &leave,
                                                        const Reader &reader, int newest) {
        unsigned dwarfed = 0; // one bit a column
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const float e = enter.get(j);
            const float l = leave.get(j);
            const bool e_good = isfinite(e);
            const bool l_good = isfinite(l);
            const double ed = e_good ? static_cast<double>(e) : 0.0;
            const double ld = l_good ? static_cast<double>(l) : 0.0;
            peak = fmaxf(peak, e);
            bad[j] += (e_good ? 0U : 1U) - (l_good ? 0U : 1U);
            c[j].s += ed - ld;
            c[j].q = fma(ed, ed, fma(-ld, ld, c[j].q));
            dwarfed |= (ld * ld > kDwarfs * c[j].q ? 1U : 0U) << j;
        }
        if (dwarfed != 0)
            sum_anew(reader, dwarfed, newest);
    }
    __device__ void results(const SpeckleArgs& args, float (&out)[kColumns]) {
        constexpr double n = (2 * R + 1) * (2 * R + 1);
        const Windows<R, SumsReal> windows(c);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const double s = windows.w[j].s;
            const double nq = n * windows.w[j].q;
            double d = fma(-s, s, nq);
            if (!(d > kNothing * nq))
                d = 0;
            met |= d == 0;
            const bool inverse = args.form == SpeckleForm::inverse;
            const double square = s * s;
            const auto value = static_cast<float>(static_cast<double>(args.coefficient) *
                                                  (inverse ? square : d) / (inverse ? d : square));
            out[j] = args.form == SpeckleForm::root ? copysignf(sqrtf(value), static_cast<float>(s)) : value;
        }
        if (__any_sync(kAllLanes, (bad[0] | bad[1] | bad[2] | bad[3]) != 0)) {
            const Windows<R, unsigned> holes(bad);
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                if (holes.w[j] != 0) {
                    out[j] = __int_as_float(0x7fffffff);
                    met = true;
                }
        }
    }
    __device__ bool special() const { return met; }
    __device__ bool saturated(float full) const { return full > 0 && peak >= full; }

private:
    static constexpr double kDwarfs = 256;
    /// D below this part of N·ΣI² (contrast below 5e-7, a few units in the last place of f32 samples) is
    /// rounding.
    static constexpr double kNothing = 1.0 / (std::uint64_t{1} << 42);

    /// Rare: one copy of the loop for all columns.
    template <class Reader> __device__ void sum_anew(const Reader &reader, unsigned dwarfed, int newest) {
#pragma unroll 1
        for (int column = 0; column < kColumns; ++column) {
            if ((dwarfed >> column & 1U) == 0)
                continue;
            SumsReal sum{};
#pragma unroll 1
            for (int y = newest - 2 * R; y <= newest; ++y) {
                const float v = reader.sample(y, column);
                const double d = isfinite(v) ? static_cast<double>(v) : 0.0;
                sum.s += d;
                sum.q = fma(d, d, sum.q);
            }
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                if (j == column)
                    c[j] = sum;
        }
    }
};

__device__ inline void store_at_border(const SpeckleArgs& args, const Strip& strip, int y,
                                       const float (&out)[kColumns]) {
    float* row = args.row(y);
    const int x = strip.x - args.x_offset;
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
        if (strip.serves && x + j >= 0 && x + j < args.out_width)
            row[x + j] = out[j];
}

/// Down the strip; true if it met anything that is to be counted. Rows are asked for kAhead rows before they
/// are needed, each into registers of its own: copying one that is still on its way would wait for it.
template <class T, int R, bool Inside, class Reader>
__device__ inline bool walk(const SpeckleArgs &args, const Strip &strip, const Reader &reader) {
    constexpr int kAhead = !Inside ? 1 : sizeof(T) == 4 ? 2 : 3;
    constexpr int kPrefetched = 5; ///< rows at the border, into the cache
    constexpr int kBatch = !Inside          ? 2
                           : 2 * R <= 6     ? 2 * R
                           : sizeof(T) == 4 ? 4
                                            : 6; // rows on their way at once
    const int top = strip.first + args.y_offset; // image row of the first result
#pragma unroll 1
    for (int y = top - R; y < top + R + kPrefetched; ++y)
        reader.prefetch(y);
    Quad<T> enter[kAhead];
    Quad<T> leave[kAhead] = {};
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
        if (strip.first + i < strip.end)
            enter[i] = reader.row(top + R + i);
    if constexpr (kAhead > 1)
#pragma unroll
        for (int i = 1; i < kAhead; ++i)
            leave[i] = reader.row(top - R + i - 1);

    Columns<T, R> columns;
#pragma unroll 1
    for (int first = 0; first < 2 * R; first += kBatch) {
        Quad<T> rows[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (first + i < 2 * R)
                rows[i] = reader.row(top - R + first + i);
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (first + i < 2 * R)
                columns.replace_row(rows[i], Quad<T>{}, reader, top - R + first + i);
    }

    auto* const first_result = reinterpret_cast<float4*>(args.row(0) + strip.x);
#pragma unroll 1
    for (int begin = strip.first; begin < strip.end; begin += kAhead) {
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int y = begin + i;
            if (y >= strip.end) // the same for all lanes
                break;
            const int middle = y + args.y_offset;
            reader.prefetch(middle + R + kPrefetched);
            columns.replace_row(enter[i], leave[i], reader, middle + R);
            if (y + kAhead < strip.end) {
                enter[i] = reader.row(middle + R + kAhead);
                leave[i] = reader.row(middle - R + kAhead - 1);
            }
            float out[kColumns];
            columns.results(args, out);
            if constexpr (Inside) {
                if (strip.serves)
                    *advanced(first_result, y, args.output_pitch) =
                        make_float4(out[0], out[1], out[2], out[3]);
            } else {
                store_at_border(args, strip, y, out);
            }
        }
    }
    return (columns.special() && strip.serves) || columns.saturated(args.full_scale);
}

/// Which strip a warp takes; false if there is none left. Rows of strips at the bottom and the top, then the
/// columns at both sides, then what lies inside: strips at the border take longer, so they must not be the
/// last.
__device__ inline bool place_of(const SpeckleArgs& args, int warp, int& across, int& down) {
    const int ends = min(2, args.strips_down) * args.strips_across;
    if (warp < ends) {
        down = warp < args.strips_across ? args.strips_down - 1 : 0;
        across = warp % args.strips_across;
        return true;
    }
    warp -= ends;
    const int rows = max(args.strips_down - 2, 0);
    const int side_columns = min(args.strips_across, 3); // the first and the last two
    if (warp < rows * side_columns) {
        const int i = warp % side_columns;
        across = i == 0 ? 0 : args.strips_across - i;
        down = 1 + warp / side_columns;
        return true;
    }
    warp -= rows * side_columns;
    const int columns = args.strips_across - side_columns;
    if (columns == 0 || warp >= rows * columns)
        return false;
    across = 1 + warp % columns;
    down = 1 + warp / columns;
    return true;
}

template <class T, int R> __global__ void __launch_bounds__(kSpeckleThreads)
    speckle_kernel(const __grid_constant__ SpeckleArgs args) {
    constexpr int halo = kHaloLanes<R>;
    const int lane = static_cast<int>(threadIdx.x & 31U);
    int across = 0;
    int down = 0;
    if (!place_of(args, static_cast<int>(blockIdx.x * (kSpeckleThreads / 32) + threadIdx.x / 32), across,
                  down))
        return;
    const int begin = across * kStripColumns<R> - halo * kColumns; // of the warp's columns
    Strip strip;
    strip.x = begin + lane * kColumns;
    strip.first = down * args.strip_rows;
    strip.end = min(strip.first + args.strip_rows, args.out_height);
    strip.serves = lane >= halo && lane < 32 - halo;

    const bool inside = args.x_offset == 0 && begin >= 0 && begin + 32 * kColumns <= args.width &&
                        strip.first >= R && strip.end + R <= args.height;
    const bool special = inside ? walk<T, R, true>(args, strip, InsideReader<T>(args, strip.x))
                                : walk<T, R, false>(args, strip, BorderReader<T>(args, strip.x));
    if (__any_sync(kAllLanes, special))
        count_special<T>(args, R, strip);
}

} // namespace specklescope::cuda
