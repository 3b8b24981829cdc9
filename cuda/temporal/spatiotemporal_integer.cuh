// Spatiotemporal contrast of integers: a block moves down a strip of columns, each thread with the sums of
// one column over the rows of the window; every four rows the block synchronises, and each warp adds the
// windows of one row, four neighbours per lane. For .cu files only.
#pragma once

#include "cuda/contrast_results.cuh"
#include "cuda/temporal/spatiotemporal_box.cuh"

namespace specklescope::cuda {

inline constexpr int kBoxThreads = 128; ///< columns per block, including those used only by neighbours
inline constexpr int kBoxRows = kBoxThreads / 32; ///< between two synchronisations
/// Result columns per block: lanes store four at once.
SPECKLESCOPE_BOTH constexpr int box_columns(int radius) { return (kBoxThreads - 2 * radius) / 4 * 4; }

static_assert((2ULL * SpatiotemporalParams::kMaxRadius + 1) * SpatiotemporalParams::kMaxFrames << 16U <
              std::uint64_t{1} << 30);
/// Position above the sums: ΣI of a column < 31·500·2¹⁶ < 2³⁰. Counts the columns of a window with a
/// saturated sample.
inline constexpr int kFlagBit = 48;
inline constexpr std::uint64_t kFlag = std::uint64_t{1} << kFlagBit;

/// ΣI with flags and ΣI² of the block's columns in one row, without bank conflicts for 32 neighbours and for
/// 32 columns with a distance of four.
class ColumnSums {
public:
    struct Sums {
        std::uint64_t s, q;
    };
    __device__ void put(int column, const Sums& sums) {
        s_[slot(column)] = sums.s;
        q_[slot(column)] = sums.q;
    }
    /// Undefined beyond the block's columns.
    __device__ Sums at(int column) const { return {s_[slot(column)], q_[slot(column)]}; }

private:
    static constexpr int kStride = kBoxThreads / 4 + 4;
    static constexpr int kSlots = 4 * kStride + 8;
    __device__ static int slot(int column) { return column % 4 * kStride + column / 4; }
    std::uint64_t s_[kSlots], q_[kSlots];
};

/// Contribution of one pixel of a column. Loaded unconditionally, so that many loads can be pending.
template <class State> struct BoxSample {
    IntegerSums sums;
    std::uint32_t oldest; ///< of the pixel's tile: 0 if none is saturated
    std::size_t age;      ///< position of its age
    bool exists;

    __device__ static BoxSample load(const BoxArgs& args, int column, int y) {
        const int row = border_index(y, args.height, args.border);
        const Pixel pixel(args.history.tiles, max(column, 0), max(row, 0));
        return {sums_at(args, pixel, State{}), args.history.saturation.of_tiles[pixel.tile],
                static_cast<std::size_t>(pixel.tile) * kTileSamples + pixel.lane * kLaneSamples + pixel.j,
                column >= 0 && row >= 0};
    }
    __device__ ColumnSums::Sums flagged(const BoxArgs& args) const {
        if (!exists)
            return {0, 0};
        const bool saturated = oldest != 0 && args.history.saturation.ages[age] != 0;
        return {sums.s + (saturated ? kFlag : 0), sums.q};
    }
};

/// Running sums of a column over the rows of the window. Border pixels repeat pixels of the same window:
/// counting their saturated samples twice changes no flag.
struct RunningColumn {
    ColumnSums::Sums all{0, 0};

    __device__ void add(const ColumnSums::Sums& sample) {
        all.s += sample.s;
        all.q += sample.q;
    }
    __device__ void take_off(const ColumnSums::Sums& sample) {
        all.s -= sample.s;
        all.q -= sample.q;
    }
    /// The flag is set if any sample is saturated.
    __device__ ColumnSums::Sums sums() const {
        return {(all.s & (kFlag - 1)) | (all.s >> kFlagBit != 0 ? kFlag : 0), all.q};
    }
};

/// Stores the first `valid` of four results.
__device__ inline void store_four(float* results, int valid, const float (&out)[4]) {
    if (valid == 4) {
        *reinterpret_cast<float4*>(results) = make_float4(out[0], out[1], out[2], out[3]);
    } else {
#pragma unroll
        for (int j = 0; j < 3; ++j)
            if (j < valid)
                results[j] = out[j];
    }
}

/// All images of four results from column x on.
__device__ inline void write_images(const BoxArgs& args, const WindowSums (&sums)[4], std::uint32_t n, int x,
                                    int y, int valid, ThreadCounts& counts) {
#pragma unroll 1
    for (int i = 0; i < args.finish.count; ++i) {
        const ContrastForm form = args.finish.images[i].form;
        const double c = args.finish.images[i].c;
        float out[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            out[j] = args.finish.corrects
                         ? finished(args.finish, form, c, n, sums[j])
                         : finished(args.finish, form, static_cast<float>(c), n,
                                    static_cast<float>(sums[j].s), static_cast<float>(sums[j].d));
            if (i == 0 && j < valid)
                counts.add(out[j]);
        }
        store_four(args.finish.row(i, y) + x, valid, out);
    }
}

/// The lane's four results of row y, from column x on, which is 4·lane in the block; `valid` of them exist.
template <bool kFinish> __device__ inline void write_windows(const BoxArgs& args, const ColumnSums& columns,
                                                             int x, int y, int valid, ThreadCounts& counts) {
    const int first = static_cast<int>(threadIdx.x % 32U) * 4;
    const int window = 2 * args.radius + 1;
    const auto n = static_cast<std::uint32_t>(window * window * args.history.step.held);
    ColumnSums::Sums sums{};
    for (int k = 0; k < window; ++k) {
        const ColumnSums::Sums column = columns.at(first + k);
        sums.s += column.s;
        sums.q += column.q;
    }
    Moments inexact[4];
    WindowSums exact[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const float part = 1.0F / static_cast<float>(n);
        const auto moments = window_moments<float>(sums.s & (kFlag - 1), sums.q, n, part);
        if constexpr (kFinish) {
            const auto precise = window_moments<double>(sums.s & (kFlag - 1), sums.q, n, part);
            exact[j] = args.finish.corrects ? corrected(args.finish, n, {precise.s, precise.d})
                                            : WindowSums{moments.s, moments.d};
        } else {
            inexact[j] = {moments.s, moments.d};
        }
        if (j < valid)
            counts.saturated += sums.s >> kFlagBit != 0 ? 1U : 0U;
        if (j < 3) {
            const ColumnSums::Sums enters = columns.at(first + j + window);
            const ColumnSums::Sums leaves = columns.at(first + j);
            sums.s += enters.s - leaves.s;
            sums.q += enters.q - leaves.q;
        }
    }
    if constexpr (kFinish) {
        write_images(args, exact, n, x, y, valid, counts);
    } else {
        float out[4];
        results_of(inexact, args.form, static_cast<float>(args.c), out);
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (j < valid)
                counts.add(out[j]);
        store_four(reinterpret_cast<float*>(args.output + static_cast<std::size_t>(y) * args.output_pitch) +
                       x,
                   valid, out);
    }
}

template <class State, bool kFinish> __global__ void __launch_bounds__(kBoxThreads)
    integer_box_kernel(const __grid_constant__ BoxArgs args) {
    __shared__ ColumnSums rows[kBoxRows];
    const int thread = static_cast<int>(threadIdx.x);
    const int columns = box_columns(args.radius);
    const int left = static_cast<int>(blockIdx.x) * columns; // of the results
    const int first = static_cast<int>(blockIdx.y) * kWalkRows;
    const int end = min(first + kWalkRows, args.out_height);
    const int valid = min(max(min(columns, args.out_width - left) - thread % 32 * 4, 0), 4);

    const int column = border_index(left + thread - args.margin, args.width, args.border);
    RunningColumn running;
    for (int begin = 0; begin < 2 * args.radius; begin += kBoxRows) {
        BoxSample<State> enter[kBoxRows];
#pragma unroll
        for (int i = 0; i < kBoxRows; ++i)
            enter[i] = BoxSample<State>::load(args, column, first - args.margin + begin + i);
#pragma unroll
        for (int i = 0; i < kBoxRows; ++i)
            if (begin + i < 2 * args.radius)
                running.add(enter[i].flagged(args));
    }
    ThreadCounts counts;
    for (int begin = first; begin < end; begin += kBoxRows) {
        BoxSample<State> enter[kBoxRows];
        BoxSample<State> leave[kBoxRows];
#pragma unroll
        for (int i = 0; i < kBoxRows; ++i) {
            enter[i] = BoxSample<State>::load(args, column, begin + i - args.margin + 2 * args.radius);
            leave[i] = BoxSample<State>::load(args, column, begin + i - args.margin);
        }
#pragma unroll
        for (int i = 0; i < kBoxRows; ++i) { // rows after the last are ignored
            running.add(enter[i].flagged(args));
            rows[i].put(thread, running.sums());
            running.take_off(leave[i].flagged(args));
        }
        __syncthreads();
        const int y = begin + thread / 32;
        if (y < end && valid > 0)
            write_windows<kFinish>(args, rows[thread / 32], left + thread % 32 * 4, y, valid, counts);
        __syncthreads();
    }
    count_in_block(*args.counts, counts);
}

} // namespace specklescope::cuda
