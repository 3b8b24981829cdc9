// Speckle contrast in one pass from pixels to result. A warp walks down a strip of 128 columns; each lane
// keeps the sums of I and I² of four columns over the rows of the window, adding the row that enters and
// taking off the one that leaves, and gathers the window's width from its neighbours by shuffles. Work per
// pixel hardly depends on the radius. Lanes at both ends of a warp only serve their neighbours.
#pragma once

#include "cuda/sequence.hpp"
#include "cuda/speckle_columns.cuh"

namespace specklescope::cuda {

template <int R> inline constexpr int kHaloLanes = halo_lanes(R);
template <int R> inline constexpr int kStripColumns = strip_columns(R);

template <bool Inside> __device__ inline void store(const SpeckleArgs& args, const Strip& strip, int y,
                                                    const float (&out)[kColumns]) {
    float* const row = advanced(
        reinterpret_cast<float*>(args.output) + strip.x - (Inside ? 0 : args.x_offset), y, args.output_pitch);
    if (strip.stored == 0xfU && (Inside || args.x_offset == 0)) {
        *reinterpret_cast<float4*>(row) = make_float4(out[0], out[1], out[2], out[3]);
    } else if constexpr (!Inside) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            if ((strip.stored >> j & 1U) != 0)
                row[j] = out[j];
    }
}

/// Down the strip. Rows are asked for some rows before they are needed, each into registers of its own:
/// copying one that is still on its way would wait for it.
template <class T, int R, bool Inside, class Reader>
__device__ inline Tally walk(const SpeckleArgs& args, const Strip& strip, const Reader& reader) {
    constexpr int kAhead = kRowsAhead<T> < Reader::kRowsAtOnce ? kRowsAhead<T> : Reader::kRowsAtOnce;
    constexpr int kRunUp = R <= 3   ? 2 * R
                           : R <= 7 ? R
                                    : 4; // rows on their way at once before the first result
    constexpr int kBatch = kRunUp < Reader::kRowsAtOnce ? kRunUp : Reader::kRowsAtOnce;
    const int top = strip.first + args.y_offset; // image row of the first result
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
    Tally tally;
    const auto full = static_cast<FullScale<T>>(args.full_scale);
#pragma unroll 1
    for (int first = 0; first < 2 * R; first += kBatch) {
        Quad<T> rows[kBatch];
        Peak<T> peak;
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (first + i < 2 * R)
                rows[i] = reader.row(top - R + first + i);
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (first + i < 2 * R) {
                rows[i] = reader.taken(rows[i]);
                columns.replace_row(rows[i], Quad<T>{}, reader, top - R + first + i);
                peak.see(rows[i]);
            }
        if (__any_sync(kAllLanes, peak.reaches(full) || tally.rows != 0))
#pragma unroll
            for (int i = 0; i < kBatch; ++i)
                if (first + i < 2 * R)
                    age<R>(tally, full_samples(rows[i], args.full_scale));
    }

#pragma unroll 1
    for (int begin = strip.first; begin < strip.end; begin += kAhead) {
        Peak<T> peak;
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int y = begin + i;
            if (y >= strip.end) // the same for all lanes
                break;
            const int middle = y + args.y_offset;
            const Quad<T> newest = reader.taken(enter[i]);
            columns.replace_row(newest, reader.taken(leave[i]), reader, middle + R);
            peak.see(newest);
            if (y + kAhead < strip.end) {
                enter[i] = reader.row(middle + R + kAhead);
                leave[i] = reader.row(middle - R + kAhead - 1);
            }
            float out[kColumns];
            columns.results(args, out);
            store<Inside>(args, strip, y, out);
        }
        const bool entered = peak.reaches(full);
        const bool special = columns.lowest == 0 && strip.stored != 0;
        if (__any_sync(kAllLanes, entered || special || tally.rows != 0)) {
            count_rows<T, R>(
                args, strip, reader, begin, min(kAhead, strip.end - begin),
                {.full = __any_sync(kAllLanes, entered) != 0, .special = __any_sync(kAllLanes, special) != 0},
                tally);
            columns.lowest = 1;
        }
    }
    return tally;
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

/// Blocks that a multiprocessor is to hold: more would need registers that the compiler then puts in memory.
template <class T, int R> inline constexpr int kSpeckleBlocks = sizeof(T) == 4 ? 4 : R <= 7 ? 8 : 5;

template <class T, int R> __global__ void __launch_bounds__(kSpeckleThreads, kSpeckleBlocks<T, R>)
    speckle_kernel(const __grid_constant__ SpeckleArgs args) {
    let_next_begin();
    wait_for_previous();
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
    strip.stored = 0;
    if (lane >= halo && lane < 32 - halo)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const int x = strip.x - args.x_offset + j;
            strip.stored |= (x >= 0 && x < args.out_width ? 1U : 0U) << j;
        }

    const bool inside = args.x_offset == 0 && begin >= 0 && begin + 32 * kColumns <= args.width &&
                        strip.first >= R && strip.end + R <= args.height;
    const bool edge = args.width >= EdgeReader<T>::kLeastWidth &&
                      (begin + 32 * kColumns <= args.width || args.width % kColumns == 0);
    Tally tally;
    if (inside)
        tally = walk<T, R, true>(args, strip, InsideReader<T>(args, strip.x));
    else if (edge)
        tally = walk<T, R, false>(args, strip, EdgeReader<T>(args, strip.x));
    else
        tally = walk<T, R, false>(args, strip, AnyReader<T>(args, strip.x));
    add_counts(args, tally);
}

} // namespace specklescope::cuda
