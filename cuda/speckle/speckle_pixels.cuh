// Reading of rows in the speckle kernel, inside the image, across its border and anywhere, and counting of
// special pixels.
#pragma once

#include "cuda/speckle/speckle_sums.cuh"
#include "pipeline/stage.hpp"

namespace specklescope::cuda {

// --- rows and columns ---

/// Four contiguous samples, as loaded.
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

/// Order of a quad's samples for a lane.
enum class Turn : std::uint8_t { none, reversed, first, last };

__device__ inline Quad<std::uint8_t> turned(const Quad<std::uint8_t>& quad, Turn turn) {
    const std::uint32_t order = turn == Turn::none       ? 0x3210U
                                : turn == Turn::reversed ? 0x0123U
                                : turn == Turn::first    ? 0x0000U
                                                         : 0x3333U;
    return {__byte_perm(quad.bits, 0, order)};
}
__device__ inline Quad<std::uint16_t> turned(const Quad<std::uint16_t>& quad, Turn turn) {
    const std::uint32_t low = turn == Turn::none       ? 0x3210U
                              : turn == Turn::reversed ? 0x5476U
                              : turn == Turn::first    ? 0x1010U
                                                       : 0x7676U;
    const std::uint32_t high = turn == Turn::none ? 0x7654U : turn == Turn::reversed ? 0x1032U : low;
    return {{__byte_perm(quad.bits.x, quad.bits.y, low), __byte_perm(quad.bits.x, quad.bits.y, high)}};
}
__device__ inline Quad<float> turned(const Quad<float>& quad, Turn turn) {
    const float4& q = quad.bits;
    return turn == Turn::none       ? quad
           : turn == Turn::reversed ? Quad<float>{make_float4(q.w, q.z, q.y, q.x)}
           : turn == Turn::first    ? Quad<float>{make_float4(q.x, q.x, q.x, q.x)}
                                    : Quad<float>{make_float4(q.w, q.w, q.w, q.w)};
}

/// Columns x … x+3 of any row, as read by one lane.
template <class T> __device__ inline const T* line_pixels(const SpeckleArgs& args, int line) {
    return reinterpret_cast<const T*>(args.frames.input() +
                                      static_cast<std::int64_t>(line) * args.input_pitch);
}

// A reader loads a lane's four samples in row y of the image, which may be outside, or, with a cursor, row
// after row. Loads become samples when they are `taken`, so that `kRowsAtOnce` can be pending.

/// For warps that only see the image.
template <class T> class InsideReader {
public:
    static constexpr int kRowsAtOnce = sizeof(T) == 4 ? 4 : 14;
    __device__ InsideReader(const SpeckleArgs& args, int x)
        : first_(line_pixels<T>(args, 0) + x), pitch_(args.input_pitch) {}
    __device__ Quad<T> row(int y) const {
        return *reinterpret_cast<const Quad<T>*>(advanced(first_, y, pitch_));
    }
    __device__ Quad<T> taken(const Quad<T>& quad) const { return quad; }
    __device__ T sample(int y, int j) const { return advanced(first_, y, pitch_)[j]; }

    class Cursor {
    public:
        __device__ Cursor(const InsideReader& reader, int y)
            : at_(advanced(reader.first_, y, reader.pitch_)), pitch_(reader.pitch_) {}
        __device__ Quad<T> next() {
            const Quad<T> quad = *reinterpret_cast<const Quad<T>*>(at_);
            at_ = next_row(at_, pitch_);
            return quad;
        }

    private:
        const T* at_;
        int pitch_;
    };

private:
    const T* first_;
    int pitch_;
};

/// For readers without a running address.
template <class Reader> class RowCursor {
public:
    __device__ RowCursor(const Reader& reader, int y) : reader_(reader), y_(y) {}
    __device__ auto next() { return reader_.row(y_++); }

private:
    const Reader& reader_;
    int y_;
};

/// For warps across the border whose right side is inside the image, or at an edge at a multiple of four
/// columns: the samples of a lane outside are four columns of the image in another order.
template <class T> class EdgeReader {
public:
    static constexpr int kRowsAtOnce = sizeof(T) == 4 ? 4 : 7; ///< more would exceed the registers
    static constexpr int kLeastWidth = 4 * kMaxHaloLanes;      ///< maximum extent of windows outside
    using Cursor = RowCursor<EdgeReader>;

    __device__ EdgeReader(const SpeckleArgs& args, int x)
        : pitch_(args.input_pitch), height_(args.height), rows_zero_(args.border == Border::zero),
          nothing_(rows_zero_ && (x < 0 || x >= args.width)) {
        const bool left = x < 0;
        const bool right = x >= args.width;
        const bool mirror = args.border == Border::reflect;
        if (mirror)
            x = left ? -kColumns - x : right ? 2 * args.width - kColumns - x : x;
        if (left || right)
            turn_ = mirror ? Turn::reversed : left ? Turn::first : Turn::last;
        first_ = line_pixels<T>(args, 0) + min(max(x, 0), args.width - kColumns);
        before_ = mirror ? -1 : -kFar;
        behind_ = mirror ? 2 * args.height - 1 : kFar;
    }
    __device__ Quad<T> row(int y) const {
        Quad<T> quad{};
        if (!nothing(y))
            quad = *reinterpret_cast<const Quad<T>*>(advanced(first_, line(y), pitch_));
        return quad;
    }
    __device__ Quad<T> taken(const Quad<T>& quad) const { return turned(quad, turn_); }
    __device__ T sample(int y, int j) const {
        const int column = turn_ == Turn::none       ? j
                           : turn_ == Turn::reversed ? kColumns - 1 - j
                           : turn_ == Turn::first    ? 0
                                                     : kColumns - 1;
        return nothing(y) ? T{} : advanced(first_, line(y), pitch_)[column];
    }

private:
    static constexpr int kFar = 1 << 29;
    __device__ bool nothing(int y) const {
        return nothing_ || (rows_zero_ && static_cast<unsigned>(y) >= static_cast<unsigned>(height_));
    }
    /// A cheaper form of border_index().
    __device__ int line(int y) const {
        y = max(y, before_ - y);
        y = min(y, behind_ - y);
        return min(max(y, 0), height_ - 1);
    }

    const T* first_;
    int pitch_, height_;
    int before_, behind_; ///< row y outside maps to before_ − y, behind_ − y
    bool rows_zero_, nothing_;
    Turn turn_ = Turn::none;
};

/// For all others, sample by sample. The position of each column in a row is computed once.
template <class T> class AnyReader {
public:
    static constexpr int kRowsAtOnce = 1;
    using Cursor = RowCursor<AnyReader>;
    __device__ AnyReader(const SpeckleArgs& args, int x) : args_(args) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const int column = border_index(x + j, args.width, args.border);
            outside_ |= (column < 0 ? 1U : 0U) << j;
            column_[j] = max(column, 0);
        }
    }
    __device__ Quad<T> row(int y) const {
        Quad<T> quad{};
        const int line = border_index(y, args_.height, args_.border);
        if (line < 0)
            return quad;
        const T* pixels = line_pixels<T>(args_, line);
        T samples[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            samples[j] = pixels[column_[j]];
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            quad.set(j, (outside_ >> j & 1U) != 0 ? T{} : samples[j]);
        return quad;
    }
    __device__ Quad<T> taken(const Quad<T>& quad) const { return quad; }
    __device__ T sample(int y, int j) const { return row(y).get(j); }

private:
    const SpeckleArgs& args_;
    int column_[kColumns];
    unsigned outside_ = 0; ///< one bit per column; border zero
};

// --- special pixels: undefined, infinite, saturated ---

/// A strip processed by one warp: result rows first … end − 1, image columns x … x + 3.
struct Strip {
    int x, first, end;
    unsigned stored; ///< bit j: the lane's column j is part of the output
};

/// Bit j: column j of this lane has a full-scale sample in its window; `active` has the same bits for single
/// columns over the rows of the window.
__device__ inline unsigned saturated_windows(unsigned active, int radius) {
    const int lane = static_cast<int>(threadIdx.x & 31U);
    // Bit 4·lane + j of 128: column j of that lane.
    unsigned bits = active << (kColumns * (lane & 7));
    for (int step = 1; step < 8; step *= 2)
        bits |= __shfl_xor_sync(kAllLanes, bits, step);
    unsigned found = 0;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
        const int begin = kColumns * lane + j - radius;
        const unsigned low = __shfl_sync(kAllLanes, bits, (begin >> 5) * 8);
        const unsigned high = __shfl_sync(kAllLanes, bits, ((begin >> 5) + 1) * 8);
        const unsigned window = __funnelshift_r(low, high, begin & 31) & ((1U << (2 * radius + 1)) - 1U);
        found |= (window != 0 ? 1U : 0U) << j;
    }
    return found;
}

/// Bit j: sample j is at full scale.
template <class T> __device__ inline unsigned full_samples(const Quad<T>& quad, float full) {
    unsigned bits = 0;
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
        bits |= static_cast<float>(quad.get(j)) >= full ? 1U << j : 0U;
    return bits;
}

/// Counts of a lane in its strip, and for each column the number of further saturated rows.
struct LaneCounts {
    std::uint32_t rows = 0;   ///< one byte per column
    std::uint32_t counts = 0; ///< undefined, infinite, saturated: 10 bits each (at most 4 · 255)
};

/// Call when a row with full-scale samples (`full`) enters the window; other rows are not passed.
template <int R> __device__ inline void age(LaneCounts& seen, unsigned full) {
    // Bytes are at most 31: 0x7f stops the borrow.
    seen.rows -= (seen.rows + 0x7f7f7f7fU) >> 7 & 0x01010101U;
    constexpr std::uint32_t kRows = 2 * R + 1;
    if (full == 0)
        return;
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
        if ((full >> j & 1U) != 0)
            seen.rows = (seen.rows & ~(0xffU << (8 * j))) | kRows << (8 * j);
}

/// Reason for examining some rows again.
struct Reason {
    bool full;    ///< a full-scale sample has entered
    bool special; ///< a result is undefined or infinite
};

/// Counts in `rows` rows of results from row `first` on, just written.
template <class T, int R, class Args, class Reader>
__device__ inline void count_rows(const Args& args, const Strip& strip, const Reader& reader, int first,
                                  int rows, Reason reason, LaneCounts& seen) {
    unsigned known = ~0U; // the saturated columns of `windows`
    unsigned windows = 0;
#pragma unroll 1
    for (int y = first; y < first + rows; ++y) {
        age<R>(seen, reason.full
                         ? full_samples(reader.taken(reader.row(y + args.y_offset + R)), args.full_scale)
                         : 0U);
        const std::uint32_t some = (seen.rows + 0x7f7f7f7fU) >> 7; // bits 0, 8, 16, 24
        const unsigned active = (some & 1U) | (some >> 7 & 2U) | (some >> 14 & 4U) | (some >> 21 & 8U);
        if (__any_sync(kAllLanes, active != known)) {
            known = active;
            windows = __popc(saturated_windows(active, R) & strip.stored);
        }
        seen.counts += windows << 20;
        if (!reason.special)
            continue;
        const float* results = args.row(y) + strip.x - args.x_offset;
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const float value = (strip.stored >> j & 1U) != 0 ? results[j] : 1.0F;
            seen.counts += (isnan(value) ? 1U : 0U) + (isinf(value) ? 1U << 10 : 0U);
        }
    }
}

/// Adds the counts of this warp's lanes.
__device__ inline void add_counts(const SpeckleArgs& args, const LaneCounts& seen) {
    if (!__any_sync(kAllLanes, seen.counts != 0))
        return;
    auto* const counts = reinterpret_cast<unsigned long long*>(args.frames.counts[blockIdx.z]);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        unsigned sum = seen.counts >> (10 * i) & 1023U;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(kAllLanes, sum, step);
        if ((threadIdx.x & 31U) == 0 && sum != 0)
            atomicAdd(counts + i, static_cast<unsigned long long>(sum));
    }
}

} // namespace specklescope::cuda
