// Speckle contrast in one pass from pixels to result. A warp moves down a strip of 128 columns; each lane
// keeps the sums of I and I² of four columns over the rows of the window, adds the entering row and subtracts
// the leaving one, and collects the window's width from its neighbours by shuffles. The cost per pixel hardly
// depends on the radius. Lanes at both ends of a warp only provide values for their neighbours.
#pragma once

#include "cuda/sequence.hpp"
#include "cuda/speckle/speckle_columns.cuh"

namespace specklescope::cuda {

template <int R> inline constexpr int kHaloLanes = halo_lanes(R);
template <int R> inline constexpr int kStripColumns = strip_columns(R);

/// Stores the results of a lane's columns, from `row` on.
template <bool Inside> __device__ inline void store(const SpeckleArgs& args, const Strip& strip, float* row,
                                                    const float (&out)[kColumns]) {
    if (strip.stored == 0xfU && (Inside || args.x_offset == 0)) {
        *reinterpret_cast<float4*>(row) = make_float4(out[0], out[1], out[2], out[3]);
    } else if constexpr (!Inside) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            if ((strip.stored >> j & 1U) != 0)
                row[j] = out[j];
    }
}

/// The results of row y, from column strip.x on. `row`: that place in the output.
template <bool Inside, class C>
__device__ inline void write_row(const SpeckleArgs& args, const Strip& strip, C& columns, int, float* row) {
    float out[kColumns];
    columns.results(args, out);
    store<Inside>(args, strip, row, out);
}
template <bool Inside, class C> __device__ inline void
write_row(const SpeckleFinishArgs& args, const Strip& strip, C& columns, int y, float*) {
    columns.images(args.finish, [&](int image, const float(&out)[kColumns]) {
        if (image == 0)
#pragma unroll
            for (int j = 0; j < kColumns; ++j)
                columns.lowest = isfinite(out[j]) ? columns.lowest : 0;
        store<Inside>(args, strip, args.row(image, y) + strip.x - (Inside ? 0 : args.x_offset), out);
    });
}

/// Processes a strip. Rows are requested some rows ahead, each into its own registers: copying a pending load
/// would wait for it.
template <class T, int R, bool Inside, class Args, class Reader>
__device__ inline LaneCounts walk(const Args& args, const Strip& strip, const Reader& reader) {
    constexpr int kAhead = kRowsAhead<T> < Reader::kRowsAtOnce ? kRowsAhead<T> : Reader::kRowsAtOnce;
    // Pending rows before the first result: all up to radius 7, which reduced 85.4 to 76.1 µs
    // (docs/performance.md, Speckle contrast); above, an estimate.
    constexpr int kRunUp = R <= 7 ? 2 * R : 8;
    constexpr int kBatch = kRunUp < Reader::kRowsAtOnce ? kRunUp : Reader::kRowsAtOnce;
    const int top = strip.first + args.y_offset; // image row of the first result
    typename Reader::Cursor entering(reader, top + R);
    typename Reader::Cursor leaving(reader, top - R);
    Quad<T> enter[kAhead];
    Quad<T> leave[kAhead] = {};
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
        if (Inside || strip.first + i < strip.end)
            enter[i] = entering.next();
    if constexpr (kAhead > 1)
#pragma unroll
        for (int i = 1; i < kAhead; ++i)
            leave[i] = leaving.next();

    Columns<T, R> columns;
    LaneCounts seen;
    const auto full = static_cast<FullScale<T>>(args.full_scale);
    typename Reader::Cursor above(reader, top - R);
#pragma unroll 1
    for (int first = 0; first < 2 * R; first += kBatch) {
        Quad<T> rows[kBatch];
        Peak<T> peak;
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            rows[i] = first + i < 2 * R ? above.next() : Quad<T>{};
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            rows[i] = reader.taken(rows[i]);
            peak.see(rows[i]);
        }
        columns.enter_rows(rows, reader, top - R + first);
        if (__any_sync(kAllLanes, peak.reaches(full) || seen.rows != 0))
#pragma unroll
            for (int i = 0; i < kBatch; ++i)
                if (first + i < 2 * R)
                    age<R>(seen, full_samples(rows[i], args.full_scale));
    }

    float* row =
        advanced(reinterpret_cast<float*>(args.frames.output()) + strip.x - (Inside ? 0 : args.x_offset),
                 strip.first, args.output_pitch);
#pragma unroll 1
    for (int begin = strip.first; begin < strip.end; begin += kAhead) {
        const bool more = begin + kAhead < strip.end;
        Peak<T> peak;
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int y = begin + i;
            if (!Inside && y >= strip.end) // the same for all lanes
                break;
            const Quad<T> newest = reader.taken(enter[i]);
            columns.replace_row(newest, reader.taken(leave[i]), reader, y + args.y_offset + R);
            peak.see(newest);
            if (Inside ? more : y + kAhead < strip.end) {
                enter[i] = entering.next();
                leave[i] = leaving.next();
            }
            write_row<Inside>(args, strip, columns, y, row);
            row = next_row(row, args.output_pitch);
        }
        const bool entered = peak.reaches(full);
        const bool special = columns.lowest == 0 && strip.stored != 0;
        if (__any_sync(kAllLanes, entered || special || seen.rows != 0)) {
            count_rows<T, R>(
                args, strip, reader, begin, min(kAhead, strip.end - begin),
                {.full = __any_sync(kAllLanes, entered) != 0, .special = __any_sync(kAllLanes, special) != 0},
                seen);
            columns.lowest = 1;
        }
    }
    return seen;
}

/// Prefetches the first rows into the L2 cache while the previous kernel ends; later writes to them go there
/// too.
template <class T, int R> __device__ inline void ask_ahead(const SpeckleArgs& args, const Strip& strip) {
#if __CUDA_ARCH__ >= 900
    const T* at = advanced(line_pixels<T>(args, 0) + strip.x, strip.first - R, args.input_pitch);
#pragma unroll 4
    for (int i = 0; i < 2 * R + kRowsAhead<T>; ++i) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
        at = next_row(at, args.input_pitch);
    }
#endif
}

/// Strips of a block are vertical neighbours, so that rows at their boundaries are cached. Strips at the
/// border are slower, so that they must not be last: in a row of blocks the first column and the last two
/// come first, and in a column the strips at the bottom and the top.
__device__ inline int across_of(const SpeckleArgs& args, int block) {
    return block == 0 ? 0 : block <= 2 ? args.strips_across - block : block - 2;
}
__device__ inline int down_of(const SpeckleArgs& args, int warp) {
    return warp == 0 ? args.strips_down - 1 : warp - 1;
}

/// Resident blocks per multiprocessor: the fastest numbers on an H200. More would spill registers to memory.
template <class T, int R> inline constexpr int kSpeckleBlocks = 4; // f32
template <int R> inline constexpr int kSpeckleBlocks<std::uint8_t, R> = R <= 4 ? 8 : R <= 7 ? 7 : 6;
template <int R> inline constexpr int kSpeckleBlocks<std::uint16_t, R> = R <= 3   ? 8
                                                                         : R == 4 ? 7
                                                                         : R <= 7 ? 6
                                                                                  : 5;

/// Args: SpeckleArgs or SpeckleFinishArgs; the latter with fewer readers, since it compiles slowly.
template <class T, int R, class Args>
__global__ void __launch_bounds__(kSpeckleThreads, std::is_same_v<Args, SpeckleArgs> ? kSpeckleBlocks<T, R>
                                                   : sizeof(T) == 1                  ? 4
                                                                                     : 3)
    speckle_kernel(const __grid_constant__ Args args) {
    let_next_begin();
    constexpr int halo = kHaloLanes<R>;
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int warp = static_cast<int>(blockIdx.y * (kSpeckleThreads / 32) + threadIdx.x / 32);
    if (warp >= args.strips_down)
        return;
    const int across = across_of(args, static_cast<int>(blockIdx.x));
    const int down = down_of(args, warp);
    const int begin = across * kStripColumns<R> - halo * kColumns; // first column of the warp
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
                        strip.first >= R &&
                        strip.end + R <= args.height; // it then has all its rows: whole steps
    const bool edge = std::is_same_v<Args, SpeckleArgs> && args.width >= EdgeReader<T>::kLeastWidth &&
                      (begin + 32 * kColumns <= args.width || args.width % kColumns == 0);
    if (inside)
        ask_ahead<T, R>(args, strip);
    wait_for_previous();
    LaneCounts seen;
    if (inside)
        seen = walk<T, R, true>(args, strip, InsideReader<T>(args, strip.x));
    else if (edge)
        seen = walk<T, R, false>(args, strip, EdgeReader<T>(args, strip.x));
    else
        seen = walk<T, R, false>(args, strip, AnyReader<T>(args, strip.x));
    add_counts(args, seen);
}

} // namespace specklescope::cuda
