// Speckle contrast in one pass from pixels to result. A warp walks down a strip of 128 columns; each lane
// keeps the sums of I and I² of four columns over the rows of the window, adding the row that enters and
// taking off the one that leaves, and gathers the window's width from its neighbours by shuffles. Work per
// pixel hardly depends on the radius. Lanes at both ends of a warp only serve their neighbours.
#pragma once

#include "cuda/speckle_columns.cuh"

namespace specklescope::cuda {

template <int R> inline constexpr int kHaloLanes = halo_lanes(R);
template <int R> inline constexpr int kStripColumns = strip_columns(R);

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
__device__ inline bool walk(const SpeckleArgs& args, const Strip& strip, const Reader& reader) {
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
    if (inside) {
        const InsideReader<T> reader(args, strip.x);
        if (__any_sync(kAllLanes, walk<T, R, true>(args, strip, reader)))
            count_special<T, true>(args, R, strip, reader);
    } else {
        const BorderReader<T> reader(args, strip.x);
        if (__any_sync(kAllLanes, walk<T, R, false>(args, strip, reader)))
            count_special<T, false>(args, R, strip, reader);
    }
}

} // namespace specklescope::cuda
