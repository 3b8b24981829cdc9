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

} // namespace specklescope::cuda
