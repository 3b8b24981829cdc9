// How the speckle kernel reads rows, at the border and within, and counts pixels that need a word beside the
// picture.
#pragma once

#include "cuda/speckle_sums.cuh"
#include "pipeline/stage.hpp"

namespace specklescope::cuda {

// --- rows and columns ---

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

// --- pixels that need a word beside the picture ---

/// A strip as one warp walks it: results rows first … end − 1 (of the output), columns x … x + 3 of the
/// image.
struct Strip {
    int x, first, end;
    bool serves; ///< this lane's results are stored
};

template <class V> __device__ inline bool at_full_scale(V sample, float full) {
    return full > 0 && static_cast<float>(sample) >= full;
}

/// The results of this lane in row y, as it has just written them; 1 where there is none.
template <bool Inside>
__device__ inline float4 results_at(const SpeckleArgs& args, const Strip& strip, int y) {
    if (!strip.serves)
        return make_float4(1, 1, 1, 1);
    const float* row = args.row(y);
    const int x = strip.x - args.x_offset;
    if constexpr (Inside) {
        return *reinterpret_cast<const float4*>(row + x);
    } else {
        const auto at = [&](int column) {
            return column >= 0 && column < args.out_width ? row[column] : 1.0F;
        };
        return make_float4(at(x), at(x + 1), at(x + 2), at(x + 3));
    }
}

/// Bit j: column j of this lane has a full-scale sample in its window, where `active` says the same of single
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

/// Counts by a second walk, which only warps that saw something take. Several rows are on their way at once.
template <class T, bool Inside, class Reader> __device__ __noinline__ void
count_special(const SpeckleArgs& args, int radius, const Strip strip, const Reader& reader) {
    constexpr int kBatch = 4;
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int x = strip.x - args.x_offset;
    const int first = strip.first + args.y_offset; // image row of the first result
    const int end = strip.end + args.y_offset + radius;
    int last[kColumns] = {-0x40000000, -0x40000000, -0x40000000,
                          -0x40000000}; // row of the last full-scale sample
    unsigned undefined = 0;
    unsigned infinite = 0;
    unsigned saturated = 0;
#pragma unroll 1
    for (int begin = first - radius; begin < end; begin += kBatch) {
        Quad<T> rows[kBatch];
        float4 results[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (begin + i < end) {
                rows[i] = reader.row(begin + i);
                if (begin + i - radius >= first) // the window of this row is complete then
                    results[i] = results_at<Inside>(args, strip, begin + i - radius - args.y_offset);
            }
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            const int y = begin + i;
            if (y >= end) // the same for all lanes
                break;
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                if (at_full_scale(rows[i].get(j), args.full_scale))
                    last[j] = y;
            const int middle = y - radius;
            if (middle < first)
                continue;
            unsigned active = 0;
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                active |= (last[j] >= middle - radius ? 1U : 0U) << j;
            const unsigned windows =
                __any_sync(kAllLanes, active != 0) ? saturated_windows(active, radius) : 0;
            const float values[kColumns] = {results[i].x, results[i].y, results[i].z, results[i].w};
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
                if (!strip.serves || x + j < 0 || x + j >= args.out_width)
                    continue;
                undefined += isnan(values[j]) ? 1U : 0U;
                infinite += isinf(values[j]) ? 1U : 0U;
                saturated += windows >> j & 1U;
            }
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

} // namespace specklescope::cuda
