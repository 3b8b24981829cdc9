// Kernels of stage clahe: range of f32 frames, histograms of tiles in shared memory with the mappings, and
// one pass that blends them.
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
    std::uint32_t* done;        ///< blocks that have counted, by tile; zero between two frames
    std::byte* mappings;
    const int* columns; ///< cells
    const int* rows;
    int copies; ///< of a block's histogram: a power of two

    template <class T> __device__ const T* row(int y) const {
        return reinterpret_cast<const T*>(input + static_cast<std::size_t>(y) * input_pitch);
    }
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

/// Sample of an integer type as 2²³ + sample: conversions between integers and f32 take four times as long as
/// additions.
template <class T> __device__ float based_sample(const std::uint32_t* words, int i) {
    const unsigned bytes = sizeof(T) == 1 ? 0x7540U + static_cast<unsigned>(i % 4)
                           : i % 2 == 0   ? 0x7410U
                                          : 0x7432U;
    std::uint32_t bits;
    // __byte_perm() becomes three instructions.
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(bits)
        : "r"(words[i / (4 / static_cast<int>(sizeof(T)))]), "r"(0x4b000000U), "r"(bytes));
    return __uint_as_float(bits);
}
/// The sample as f32, of any type.
template <class T> __device__ float plain_sample(const std::uint32_t* words, int i) {
    if constexpr (sizeof(T) == 4)
        return __uint_as_float(words[i]);
    else
        return based_sample<T>(words, i) - kByteBase;
}
template <class T> __device__ float float_of(T value) {
    if constexpr (sizeof(T) == 4)
        return value;
    else
        return __uint_as_float(0x4b000000U | value) - kByteBase;
}
/// Rounds to nearest, ties to even; the low bits of the returned ones are the integer. 0 ≤ value < 2²².
__device__ inline std::uint32_t rounded_bits(float value) { return __float_as_uint(value + kByteBase); }

/// clahe_bin(). `value` of an integer type is not negative.
template <class T> __device__ int bin_of_value(float value, const ClaheLevels& levels) {
    if constexpr (sizeof(T) == 4)
        return clahe_bin(value, levels);
    const float at = fminf(product(value, levels.bins_per_value), static_cast<float>(levels.bins - 1));
    return static_cast<int>(__float_as_uint(__fadd_rz(at, kByteBase)) & 0xffffU);
}

template <class T, int kChannels> __device__ T pixel_value(const T* pixel) {
    if constexpr (kChannels == 1)
        return grey_value(pixel[0]);
    else
        return hsv_value(pixel[0], pixel[1], pixel[2]);
}
template <class T, int kChannels> __device__ T value_at(const Chunk<T, kChannels>& chunk, int pixel) {
    if constexpr (kChannels == 1)
        return grey_value(chunk.get(pixel));
    else
        return hsv_value(chunk.get(3 * pixel), chunk.get(3 * pixel + 1), chunk.get(3 * pixel + 2));
}

/// Calls f(y, chunk) for the chunks of a rectangle's rows, distributed over the block's threads.
template <class T, class F> __device__ void over_chunks(int x0, int x1, int y0, int y1, F&& f) {
    const int first = x0 / kChunkPixels<T>;
    const int across = (x1 + kChunkPixels<T> - 1) / kChunkPixels<T> - first;
    const int down = kClaheThreads / across; // a step, without a division in the loop
    const int right = kClaheThreads - down * across;
    int y = y0 + static_cast<int>(threadIdx.x) / across;
    int x = static_cast<int>(threadIdx.x) % across;
    while (y < y1) {
        f(y, first + x);
        x += right;
        y += down;
        if (x >= across) {
            x -= across;
            ++y;
        }
    }
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
    __shared__ std::uint32_t ends[2]; // of the block: atomic operations on one address take turns
    if (threadIdx.x < 2)
        ends[threadIdx.x] = 0xffffffffU;
    __syncthreads();
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
        atomicMin(&ends[0], low);
        atomicMin(&ends[1], high);
    }
    __syncthreads();
    if (threadIdx.x < 2)
        atomicMin(&range[threadIdx.x], ends[threadIdx.x]);
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

/// Mapping of a tile by one block; each thread has a run of neighbouring bins. `heights`: one per bin.
template <class T>
__device__ void map_tile(const ClaheArgs& args, const ClaheLevels& levels, int tile, int* heights) {
    __shared__ int sums[kClaheWarps];
    const auto first_bin = static_cast<std::size_t>(tile) * static_cast<std::size_t>(args.bins);
    std::uint32_t* counts = args.counts + first_bin;
    int clipped = 0;
    for (int i = static_cast<int>(threadIdx.x); i < levels.bins; i += kClaheThreads) {
        const int count = static_cast<int>(__ldcg(counts + i));
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

/// u8 counts levels, the others bins, with one more for pixels that are not finite.
template <class T> __host__ __device__ constexpr int histogram_entries(int bins) {
    return sizeof(T) == 1 ? 256 : bins + 1;
}

/// The copies of an entry are neighbours, so that lanes count in different banks.
template <class T, int kChannels> __global__ void __launch_bounds__(kClaheThreads)
    count_kernel(ClaheArgs args) {
    extern __shared__ uint4 memory[];
    auto* counts = reinterpret_cast<std::uint32_t*>(memory);
    const ClaheLevels levels = levels_of<T>(args);
    const int entries = histogram_entries<T>(levels.bins);
    for (int i = static_cast<int>(threadIdx.x); i < entries * args.copies; i += kClaheThreads)
        counts[i] = 0;
    __syncthreads();

    std::uint32_t* mine = counts + (static_cast<int>(threadIdx.x) & (args.copies - 1));
    const auto add = [&](T value) {
        const int entry = sizeof(T) == 1 ? static_cast<int>(value) : bin_of_value<T>(float_of(value), levels);
        atomicAdd(&mine[entry * args.copies], 1U);
    };
    const int tile = static_cast<int>(blockIdx.y);
    const int x0 = tile % args.tiling.tiles * args.tiling.width;
    const int x1 = x0 + args.tiling.width;
    const int y0 = tile / args.tiling.tiles * args.tiling.height;
    const int2 rows = part_of(y0, y0 + args.tiling.height);
    const int inside = min(x1, args.width);
    const int row_bytes = args.width * kChannels * static_cast<int>(sizeof(T));
    if (x0 < inside)
        over_chunks<T>(x0, inside, rows.x, rows.y, [&](int y, int place) {
            const int line = y < args.height ? y : clahe_mirrored(y, args.height);
            const T* row = args.template row<T>(line);
            Chunk<T, kChannels> chunk;
            chunk.load(reinterpret_cast<const std::byte*>(row), place * 16 * kChannels, row_bytes);
            const int first = place * kChunkPixels<T>;
            if (first >= x0 && first + kChunkPixels<T> <= inside) {
#pragma unroll
                for (int j = 0; j < kChunkPixels<T>; ++j)
                    add(value_at(chunk, j));
            } else {
                for (int j = max(x0 - first, 0); j < min(kChunkPixels<T>, inside - first); ++j)
                    add(pixel_value<T, kChannels>(row + (first + j) * kChannels));
            }
        });
    const int mirrored = max(x0, inside);
    const int across = x1 - mirrored;
    for (int i = static_cast<int>(threadIdx.x); i < across * (rows.y - rows.x); i += kClaheThreads) {
        const int line = clahe_mirrored(rows.x + i / across, args.height);
        add(pixel_value<T, kChannels>(args.template row<T>(line) +
                                      clahe_mirrored(mirrored + i % across, args.width) * kChannels));
    }
    __syncthreads();

    std::uint32_t* all = args.counts + static_cast<std::size_t>(tile) * static_cast<std::size_t>(args.bins);
    for (int i = static_cast<int>(threadIdx.x); i < (sizeof(T) == 1 ? entries : levels.bins);
         i += kClaheThreads) {
        std::uint32_t total = 0;
        for (int copy = 0; copy < args.copies; ++copy) // each lane starts in another bank
            total += counts[i * args.copies + ((copy + i) & (args.copies - 1))];
        if (total != 0)
            atomicAdd(&all[sizeof(T) == 1 ? bin_of_value<T>(static_cast<float>(i), levels) : i], total);
    }

    // The tile's last block sees all additions: each thread fences its own before the ticket.
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&args.done[tile], 1U) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    map_tile<T>(args, levels, tile, reinterpret_cast<int*>(counts));
    if (threadIdx.x == 0)
        args.done[tile] = 0;
}

/// Mapped values of a bin in the tiles above left, above right, below left, below right.
template <class T> union alignas(4 * sizeof(T)) Corners {
    T at[4];
    std::uint32_t words[sizeof(T)];
};

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

template <class T>
__device__ inline float blended(int entry, const Corners<T>* table, float right, float below) {
    constexpr int kWords = static_cast<int>(sizeof(T));
    const Corners<T> corners = table[entry];
    std::uint32_t words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i)
        words[i] = corners.words[i];
    float corner[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        corner[k] = plain_sample<T>(words, k);
    return clahe_blend(corner, right, below);
}

/// Blends a chunk's pixels; right(j) is the weight of the second column for pixel j.
template <class T, int kChannels, class Right>
__device__ Chunk<T, kChannels> blended_chunk(const Chunk<T, kChannels>& in, const Corners<T>* table,
                                             const ClaheLevels& levels, Right&& right, float below) {
    Chunk<T, kChannels> out;
#pragma unroll
    for (int j = 0; j < kChunkPixels<T>; ++j) {
        const T value = value_at(in, j);
        const int bin = sizeof(T) == 1 ? static_cast<int>(value)
                                       : min(bin_of_value<T>(float_of(value), levels), levels.bins - 1);
        const float blend = blended(bin, table, right(j), below);
        T result;
        if constexpr (sizeof(T) == 4)
            result = blend;
        else
            result = static_cast<T>(rounded_bits(blend));
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
            const T sample = in.get(kChannels * j + c);
            T mapped = result;
            if constexpr (kChannels == 3)
                mapped = with_value(sample, result, value);
            out.set(kChannels * j + c, counts(value) ? mapped : sample);
        }
    }
    return out;
}

/// The lowest byte of each of four words.
__device__ inline std::uint32_t low_bytes(const std::uint32_t* bits) {
    return __byte_perm(__byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
}

template <class Right> __device__ Chunk<std::uint8_t, 1> blended_chunk(const Chunk<std::uint8_t, 1>& in,
                                                                       const Corners<std::uint8_t>* table,
                                                                       const ClaheLevels&, Right&& right,
                                                                       float below) {
    Chunk<std::uint8_t, 1> out;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        std::uint32_t bits[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            bits[i] = rounded_bits(blended(in.get(4 * w + i), table, right(4 * w + i), below));
        out.words[w] = low_bytes(bits);
    }
    return out;
}

/// Approximate, of a number from 1 to 255; __fdividef() also handles large ones.
__device__ inline float reciprocal(float value) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

/// with_value() in f32: the approximate quotient V'/V is near enough for scaled_byte().
template <class Right> __device__ Chunk<std::uint8_t, 3> blended_chunk(const Chunk<std::uint8_t, 3>& in,
                                                                       const Corners<std::uint8_t>* table,
                                                                       const ClaheLevels&, Right&& right,
                                                                       float below) {
    Chunk<std::uint8_t, 3> out;
#pragma unroll
    for (int part = 0; part < 4; ++part) { // 4 pixels, 3 words
        std::uint32_t bits[12];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float pixel[3];
#pragma unroll
            for (int c = 0; c < 3; ++c)
                pixel[c] = plain_sample<std::uint8_t>(in.words, 12 * part + 3 * i + c);
            const float value = fmaxf(fmaxf(pixel[0], pixel[1]), pixel[2]);
            const int level = static_cast<int>(rounded_bits(value) & 0xffU);
            const float blend = blended(level, table, right(4 * part + i), below);
            const float to = __uint_as_float(rounded_bits(blend)) - kByteBase;
            const float ratio = level != 0 ? to * reciprocal(value) : 0.0F;
            const float offset = level != 0 ? kByteGrid : kByteGrid + to;
#pragma unroll
            for (int c = 0; c < 3; ++c)
                bits[3 * i + c] = __float_as_uint(scaled_byte(pixel[c], ratio, offset));
        }
#pragma unroll
        for (int w = 0; w < 3; ++w)
            out.words[3 * part + w] = low_bytes(bits + 4 * w);
    }
    return out;
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
        const float below = sum(clahe_position(y, per_row), static_cast<float>(1 - row));
        const float first_x = static_cast<float>(place * kChunkPixels<T>);
        const auto right = [&](int j) {
            return sum(clahe_position(first_x + static_cast<float>(j), per_column),
                       static_cast<float>(1 - column));
        };
        const Chunk<T, kChannels> out = blended_chunk(in, table, levels, right, below);
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
