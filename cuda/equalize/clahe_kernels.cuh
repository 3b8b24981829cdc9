// Kernels of stage clahe: range of f32 frames, histograms of tiles in shared memory, one block per tile for
// the mappings, and one pass that blends them.
#pragma once

#include "cuda/chunks.cuh"
#include "stages/equalize/clahe.hpp"

#include <cstdint>

namespace specklescope::cuda {

inline constexpr int kClaheThreads = 256; ///< an estimate
inline constexpr int kClaheWarps = kClaheThreads / 32;

struct ClaheArgs {
    const std::byte* input;
    std::byte* output;
    std::size_t input_pitch, output_pitch;
    int width, height;
    ClaheTiling tiling;
    int bins; ///< maximum; also the stride of counts and mappings between tiles
    int limit;
    ClaheLevels levels;         ///< integers
    const std::uint32_t* range; ///< f32: key of the smallest value, complement of the key of the largest
    std::uint32_t* counts;      ///< zero between two frames
    std::byte* mappings;
    const int* columns; ///< cells
    const int* rows;
    int copies; ///< of a block's histogram
};

/// Unsigned numbers in the order of the floats.
__device__ inline std::uint32_t key_of(float value) {
    const std::uint32_t bits = __float_as_uint(value);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ inline float value_of(std::uint32_t key) {
    return __uint_as_float((key >> 31) != 0 ? key & 0x7fffffffU : ~key);
}

template <class T> __device__ ClaheLevels levels_of(const ClaheArgs& args) {
    if constexpr (sizeof(T) < 4)
        return args.levels;
    else
        return clahe_real_levels(value_of(args.range[0]), value_of(~args.range[1]), args.bins,
                                 args.tiling.area());
}

template <class T, int kChannels> __device__ T value_at(const Chunk<T, kChannels>& chunk, int pixel) {
    if constexpr (kChannels == 1)
        return grey_value(chunk.get(pixel));
    else
        return hsv_value(chunk.get(3 * pixel), chunk.get(3 * pixel + 1), chunk.get(3 * pixel + 2));
}

/// Calls f(row, y, chunk) for the chunks of a rectangle's rows, distributed over the block's threads.
template <class T, class F> __device__ void over_chunks(int x0, int x1, int y0, int y1, F&& f) {
    const int first = x0 / kChunkPixels<T>;
    const int across = (x1 + kChunkPixels<T> - 1) / kChunkPixels<T> - first;
    for (int i = static_cast<int>(threadIdx.x); i < across * (y1 - y0); i += kClaheThreads)
        f(y0 + i / across, first + i % across);
}

/// [begin, end) of part blockIdx.x of gridDim.x equal parts.
__device__ inline int2 part_of(int begin, int end) {
    const int rows = end - begin;
    const int part = static_cast<int>(blockIdx.x);
    const int parts = static_cast<int>(gridDim.x);
    return make_int2(begin + static_cast<int>(static_cast<std::int64_t>(rows) * part / parts),
                     begin + static_cast<int>(static_cast<std::int64_t>(rows) * (part + 1) / parts));
}

template <int kChannels> __global__ void __launch_bounds__(kClaheThreads)
    range_kernel(ClaheArgs args, std::uint32_t* range) {
    const int2 rows = part_of(0, args.height);
    const int row_bytes = args.width * kChannels * 4;
    std::uint32_t low = 0xffffffffU;
    std::uint32_t high = 0xffffffffU; // complement
    over_chunks<float>(0, args.width, rows.x, rows.y, [&](int y, int place) {
        Chunk<float, kChannels> chunk;
        chunk.load(args.input + static_cast<std::size_t>(y) * args.input_pitch, place * 16 * kChannels,
                   row_bytes);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float value = value_at(chunk, j);
            if (place * 4 + j < args.width && counts(value)) {
                low = min(low, key_of(value));
                high = min(high, ~key_of(value));
            }
        }
    });
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        low = min(low, __shfl_xor_sync(0xffffffffU, low, step));
        high = min(high, __shfl_xor_sync(0xffffffffU, high, step));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(&range[0], low);
        atomicMin(&range[1], high);
    }
}

template <class T, int kChannels> __global__ void __launch_bounds__(kClaheThreads)
    count_kernel(ClaheArgs args) {
    extern __shared__ uint4 memory[];
    auto* counts = reinterpret_cast<std::uint32_t*>(memory);
    const ClaheLevels levels = levels_of<T>(args);
    const int entries = levels.bins + 1; // the last: non-finite pixels
    for (int i = static_cast<int>(threadIdx.x); i < entries * args.copies; i += kClaheThreads)
        counts[i] = 0;
    __syncthreads();

    std::uint32_t* mine = counts + static_cast<int>(threadIdx.x) / 32 % args.copies * entries;
    const int tile = static_cast<int>(blockIdx.y);
    const int x0 = tile % args.tiling.tiles * args.tiling.width;
    const int x1 = x0 + args.tiling.width;
    const int y0 = tile / args.tiling.tiles * args.tiling.height;
    const int2 rows = part_of(y0, y0 + args.tiling.height);
    const int inside = min(x1, args.width);
    const int row_bytes = args.width * kChannels * static_cast<int>(sizeof(T));
    if (x0 < inside)
        over_chunks<T>(x0, inside, rows.x, rows.y, [&](int y, int place) {
            const int line = clahe_mirrored(y, args.height);
            Chunk<T, kChannels> chunk;
            chunk.load(args.input + static_cast<std::size_t>(line) * args.input_pitch, place * 16 * kChannels,
                       row_bytes);
#pragma unroll
            for (int j = 0; j < kChunkPixels<T>; ++j) {
                const int x = place * kChunkPixels<T> + j;
                if (x >= x0 && x < inside)
                    atomicAdd(&mine[clahe_bin(static_cast<float>(value_at(chunk, j)), levels)], 1U);
            }
        });
    const int mirrored = max(x0, inside);
    const int across = x1 - mirrored;
    for (int i = static_cast<int>(threadIdx.x); i < across * (rows.y - rows.x); i += kClaheThreads) {
        const int line = clahe_mirrored(rows.x + i / across, args.height);
        const T* pixel =
            reinterpret_cast<const T*>(args.input + static_cast<std::size_t>(line) * args.input_pitch) +
            clahe_mirrored(mirrored + i % across, args.width) * kChannels;
        T value;
        if constexpr (kChannels == 1)
            value = grey_value(pixel[0]);
        else
            value = hsv_value(pixel[0], pixel[1], pixel[2]);
        atomicAdd(&mine[clahe_bin(static_cast<float>(value), levels)], 1U);
    }
    __syncthreads();

    std::uint32_t* all = args.counts + static_cast<std::size_t>(tile) * static_cast<std::size_t>(args.bins);
    for (int i = static_cast<int>(threadIdx.x); i < levels.bins; i += kClaheThreads) {
        std::uint32_t total = 0;
        for (int copy = 0; copy < args.copies; ++copy)
            total += counts[copy * entries + i];
        if (total != 0)
            atomicAdd(&all[i], total);
    }
}

/// Sum over the previous threads; `total` over all. All threads of the block must call it; `sums` is not read
/// after it returns. cub::BlockScan took 11 % longer for 4096 bins (November 2026).
__device__ inline int block_scan(int value, int* sums, int& total) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    int upto = value;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(0xffffffffU, upto, step);
        if (lane >= step)
            upto += before;
    }
    if (lane == 31)
        sums[warp] = upto;
    __syncthreads();
    int base = 0;
    total = 0;
#pragma unroll
    for (int i = 0; i < kClaheWarps; ++i) {
        if (i < warp)
            base += sums[i];
        total += sums[i];
    }
    __syncthreads();
    return base + upto - value;
}

/// One block per tile; each thread has a run of neighbouring bins.
template <class T> __global__ void __launch_bounds__(kClaheThreads) map_kernel(ClaheArgs args) {
    __shared__ int heights[ClaheParams::kMaxBins];
    __shared__ int sums[kClaheWarps];
    const ClaheLevels levels = levels_of<T>(args);
    const auto first_bin = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(args.bins);
    std::uint32_t* counts = args.counts + first_bin;
    int clipped = 0;
    for (int i = static_cast<int>(threadIdx.x); i < levels.bins; i += kClaheThreads) {
        const int count = static_cast<int>(counts[i]);
        counts[i] = 0; // for the next frame
        heights[i] = count;
        clipped += max(0, count - args.limit);
    }
    int all_clipped = 0;
    block_scan(clipped, sums, all_clipped);
    const ClaheShare share = clahe_share(args.limit > 0 ? all_clipped : 0, levels.bins);

    const int run = (levels.bins + kClaheThreads - 1) / kClaheThreads;
    const int begin = min(levels.bins, static_cast<int>(threadIdx.x) * run);
    const int end = min(levels.bins, begin + run);
    int own = 0;
    for (int i = begin; i < end; ++i)
        own += clahe_height(heights[i], i, args.limit, share);
    int total = 0;
    int upto = block_scan(own, sums, total);
    T* mapping = reinterpret_cast<T*>(args.mappings) + first_bin;
    for (int i = begin; i < end; ++i) {
        upto += clahe_height(heights[i], i, args.limit, share);
        mapping[i] = clahe_mapped<T>(upto, levels);
    }
}

/// Mapped values of a bin in the tiles above left, above right, below left, below right.
template <class T> struct alignas(4 * sizeof(T)) Corners { T at[4]; };

/// Corners by value for u8, by bin for the others.
template <class T> __host__ __device__ constexpr int table_entries(int bins) {
    return sizeof(T) == 1 ? 256 : bins;
}

template <class T> __device__ void fill_table(const ClaheArgs& args, const ClaheLevels& levels, int column,
                                              int row, Corners<T>* table) {
    const int last = args.tiling.tiles - 1;
    const T* mappings[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int x = min(max(column - 1 + k % 2, 0), last);
        const int y = min(max(row - 1 + k / 2, 0), last);
        mappings[k] =
            reinterpret_cast<const T*>(args.mappings) +
            static_cast<std::size_t>(y * args.tiling.tiles + x) * static_cast<std::size_t>(args.bins);
    }
    for (int i = static_cast<int>(threadIdx.x); i < table_entries<T>(levels.bins); i += kClaheThreads) {
        const int bin = sizeof(T) == 1 ? clahe_bin(static_cast<float>(i), levels) : i;
        Corners<T> corners;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            corners.at[k] = mappings[k][bin];
        table[i] = corners;
    }
}

template <class T> __device__ inline T blended(T value, const Corners<T>* table, const ClaheLevels& levels,
                                               float right, float below) {
    int index;
    if constexpr (sizeof(T) == 1)
        index = value;
    else
        index = min(clahe_bin(static_cast<float>(value), levels), levels.bins - 1);
    const Corners<T> corners = table[index];
    const float corner[4] = {static_cast<float>(corners.at[0]), static_cast<float>(corners.at[1]),
                             static_cast<float>(corners.at[2]), static_cast<float>(corners.at[3])};
    const float result = clahe_blend(corner, right, below);
    if constexpr (sizeof(T) == 4)
        return result;
    else
        return static_cast<T>(rintf(result));
}

template <class T, int kChannels> __global__ void __launch_bounds__(kClaheThreads)
    apply_kernel(ClaheArgs args) {
    extern __shared__ uint4 memory[];
    auto* table = reinterpret_cast<Corners<T>*>(memory);
    const int across = args.tiling.tiles + 1;
    const int column = static_cast<int>(blockIdx.y) % across;
    const int row = static_cast<int>(blockIdx.y) / across;
    const int x0 = args.columns[column];
    const int x1 = args.columns[column + 1];
    const int2 lines = part_of(args.rows[row], args.rows[row + 1]);
    if (x0 == x1 || lines.x == lines.y)
        return;
    const ClaheLevels levels = levels_of<T>(args);
    fill_table(args, levels, column, row, table);
    __syncthreads();

    const float per_column = 1.0F / static_cast<float>(args.tiling.width);
    const float per_row = 1.0F / static_cast<float>(args.tiling.height);
    const int row_bytes = args.width * kChannels * static_cast<int>(sizeof(T));
    over_chunks<T>(x0, x1, lines.x, lines.y, [&](int y, int place) {
        const int offset = place * 16 * kChannels;
        Chunk<T, kChannels> in;
        in.load(args.input + static_cast<std::size_t>(y) * args.input_pitch, offset, row_bytes);
        Chunk<T, kChannels> out;
        const float below = sum(clahe_position(y, per_row), static_cast<float>(1 - row));
#pragma unroll
        for (int j = 0; j < kChunkPixels<T>; ++j) {
            const T value = value_at(in, j);
            const float right =
                sum(clahe_position(place * kChunkPixels<T> + j, per_column), static_cast<float>(1 - column));
            const T result = blended(value, table, levels, right, below);
#pragma unroll
            for (int c = 0; c < kChannels; ++c) {
                const T sample = in.get(kChannels * j + c);
                T mapped = result;
                if constexpr (kChannels == 3)
                    mapped = with_value(sample, result, value);
                out.set(kChannels * j + c, counts(value) ? mapped : sample);
            }
        }
        std::byte* to = args.output + static_cast<std::size_t>(y) * args.output_pitch;
        const int first = place * kChunkPixels<T>;
        if (first >= x0 && first + kChunkPixels<T> <= x1) {
            out.store(to, offset, row_bytes);
            return;
        }
#pragma unroll
        for (int j = 0; j < kChunkPixels<T>; ++j) // the rest of the chunk belongs to the next cell
            if (first + j >= x0 && first + j < x1)
#pragma unroll
                for (int c = 0; c < kChannels; ++c)
                    reinterpret_cast<T*>(to)[kChannels * (first + j) + c] = out.get(kChannels * j + c);
    });
}

} // namespace specklescope::cuda
