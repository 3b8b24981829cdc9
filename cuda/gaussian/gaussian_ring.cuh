// Prefetched rows of one warp. Each lane copies its V samples of later rows into shared memory, many rows
// ahead and without using registers; samples outside the image are inserted after a row has arrived.
#pragma once

#include "cuda/gaussian/gaussian_samples.cuh"

#include <cuda_pipeline.h>

namespace specklescope::cuda {

inline constexpr int kRingRows = 8; ///< a power of two; an estimate

/// A strip processed by one warp, in image coordinates.
struct WalkStrip {
    int begin;      ///< flat sample of the first lane; may be negative
    int first, end; ///< rows of results
};

template <class T, int V> class RowRing {
public:
    static constexpr int kLaneBytes = V * static_cast<int>(sizeof(T));
    static constexpr int kRowBytes = 32 * kLaneBytes;
    static constexpr int kBytes = kRingRows * kRowBytes;

    /// Inserts `reach` samples on each side of a row (at most 32); `top` is the first requested row.
    __device__ RowRing(std::byte* memory, const WalkArgs& args, const WalkStrip& strip, int channels,
                       int reach, int top)
        : memory_(memory), args_(args), images_(args.images), begin_(strip.begin),
          lane_(static_cast<int>(threadIdx.x & 31U)), top_(top) {
        const BlurImages& images = args.images;
        const int row = images.width * channels;
        const int x = begin_ + lane_ * V;
        within_ = x >= 0 && x < row;
        source_ = args.frames.input() + static_cast<std::int64_t>(x) * static_cast<int>(sizeof(T));
        inside_ = top >= 0 && strip.end + (strip.first - top) <= images.height;
        if (inside_)
            source_ += static_cast<std::int64_t>(top) * images.input_pitch;
        edge_ = begin_ < 0 || begin_ + 32 * V > row;
        if (edge_ && lane_ < reach) {
            left_ = patch(-1 - lane_, channels);
            right_ = patch(row + lane_, channels);
        }
    }

    /// Requests row `top + i`, or nothing; call it for every i in order.
    __device__ void ask(int i, bool wanted) {
        std::byte* const to = slot(i) + lane_ * kLaneBytes;
        if (inside_) {
            if (wanted && within_)
                copy(to, source_);
            source_ += images_.input_pitch;
        } else if (wanted && within_) {
            const int line = border_index(top_ + i, images_.height, images_.border);
            copy(to, source_ + static_cast<std::int64_t>(max(line, 0)) * images_.input_pitch,
                 line < 0 ? kCopy : 0);
        }
        __pipeline_commit();
    }

    /// Waits for row `top + i`, the oldest of the last kRingRows requests, and returns the lane's samples.
    __device__ Samples<T, V> take(int i) {
        __pipeline_wait_prior(kRingRows - 1);
        if (edge_) {
            __syncwarp();
            put(left_, i);
            put(right_, i);
            __syncwarp();
        }
        Samples<T, V> samples;
        samples.load(slot(i) + lane_ * kLaneBytes);
        return samples;
    }

private:
    static constexpr std::size_t kCopy = kLaneBytes < 16 ? kLaneBytes : 16;

    __device__ static void copy(std::byte* to, const std::byte* from, std::size_t zeros = 0) {
#pragma unroll
        for (int byte = 0; byte < kLaneBytes; byte += static_cast<int>(kCopy))
            __pipeline_memcpy_async(to + byte, from + byte, kCopy, zeros);
    }

    struct Patch {
        int to = -1;   ///< sample of the warp's row; −1: none
        int from = -1; ///< flat sample of the image's row; −1: zero
    };

    __device__ Patch patch(int sample, int channels) const {
        const int to = sample - begin_;
        if (to < 0 || to >= 32 * V)
            return {};
        return {to, border_sample(sample, images_.width, channels, images_.border)};
    }
    __device__ void put(const Patch& patch, int i) {
        if (patch.to < 0)
            return;
        T* const row = reinterpret_cast<T*>(slot(i));
        T value{};
        const int near = patch.from - begin_;
        if (patch.from >= 0 && near >= 0 && near < 32 * V) {
            value = row[near];
        } else if (patch.from >= 0) { // the other end of the row
            const int line = border_index(top_ + i, images_.height, images_.border);
            if (line >= 0)
                value = reinterpret_cast<const T*>(
                    args_.frames.input() + static_cast<std::int64_t>(line) * images_.input_pitch)[patch.from];
        }
        row[patch.to] = value;
    }
    __device__ std::byte* slot(int i) const { return memory_ + (i & (kRingRows - 1)) * kRowBytes; }

    std::byte* memory_;
    const WalkArgs& args_;
    const BlurImages& images_;
    const std::byte* source_; ///< the lane's samples in row 0; inside: in the next requested row
    int begin_, lane_, top_;
    bool within_, edge_;
    bool inside_; ///< no row is outside the image
    Patch left_, right_;
};

/// Strip of this warp; false if there is none.
__device__ inline bool strip_of_warp(const WalkArgs& args, int strip_samples, int halo_samples,
                                     WalkStrip& strip) {
    const int warp = static_cast<int>(blockIdx.x * (kWalkThreads / 32) + threadIdx.x / 32);
    const int down = warp / args.strips_across;
    if (down >= args.strips_down)
        return false;
    strip.begin = (warp - down * args.strips_across) * strip_samples - halo_samples;
    strip.first = down * args.strip_rows + args.images.offset;
    strip.end = min(strip.first + args.strip_rows, args.images.out_height + args.images.offset);
    return true;
}

/// Output of a lane's results, row by row of its strip; only existing results are stored.
template <class T, int V, int C> class ResultRows {
public:
    /// `x`: the lane's first sample index; `serves`: it has results.
    __device__ ResultRows(const WalkArgs& args, const WalkStrip& strip, int x, bool serves)
        : row_(args.frames.output() +
               static_cast<std::int64_t>(strip.first - args.images.offset) * args.images.output_pitch),
          first_(x - args.images.offset * C), samples_(args.images.out_width * C),
          whole_(serves && args.images.offset == 0 && first_ + V <= samples_), part_(serves && !whole_),
          pitch_(args.images.output_pitch) {
        row_ += static_cast<std::int64_t>(first_) * static_cast<int>(sizeof(T));
    }
    __device__ void put(const Samples<T, V>& results) {
        if (whole_) {
            results.store(row_);
#pragma unroll
            for (int j = 0; j < V; ++j)
                look(results.get(j));
        }
        if (part_) {
#pragma unroll
            for (int j = 0; j < V; ++j)
                if (exists(j)) {
                    reinterpret_cast<T*>(row_)[j] = results.get(j);
                    look(results.get(j));
                }
        }
        row_ += pitch_;
    }
    /// The stored results of the next row, which put() replaces; 0 where none exist.
    __device__ void get(float (&results)[V]) const {
#pragma unroll
        for (int j = 0; j < V; ++j)
            results[j] = exists(j) ? reinterpret_cast<const float*>(row_)[j] : 0;
    }
    /// Bit j: result j exists and is(result).
    template <class F> __device__ unsigned marks(const float (&results)[V], F&& is) const {
        unsigned marks = 0;
#pragma unroll
        for (int j = 0; j < V; ++j)
            marks |= exists(j) && is(results[j]) ? 1U << j : 0U;
        return marks;
    }
    /// True if all results so far are finite.
    __device__ bool finite() const { return zero_ == 0; }

private:
    __device__ bool exists(int j) const {
        return whole_ || (part_ && first_ + j >= 0 && first_ + j < samples_);
    }
    __device__ void look(T result) {
        if constexpr (std::is_same_v<T, float>)
            zero_ = fmaf(result, 0.0F, zero_);
    }

    std::byte* row_; ///< the lane's first result
    int first_;      ///< flat sample of the output
    int samples_;    ///< of an output row
    bool whole_;     ///< all V exist and are aligned
    bool part_;      ///< some may exist
    float zero_ = 0; ///< f32: NaN after a result that is not finite
    int pitch_;
};

} // namespace specklescope::cuda
