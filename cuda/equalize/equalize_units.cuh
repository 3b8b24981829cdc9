// Pixels for the kernels of stage equalize: a thread has 16 bytes of grey or 48 bytes of colour, a warp has
// 32 such units of one row.
#pragma once

#include "cuda/equalize/equalize_kernels.hpp"

namespace specklescope::cuda {

template <class T, int C> struct Unit {
    static constexpr int kPixels = 16 / static_cast<int>(sizeof(T));
    std::uint32_t words[4 * C];

    __device__ __forceinline__ T sample(int i) const {
        if constexpr (sizeof(T) == 4)
            return __uint_as_float(words[i]);
        else {
            constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
            return static_cast<T>(words[i / kPerWord] >> (i % kPerWord * 8 * static_cast<int>(sizeof(T))));
        }
    }
    __device__ __forceinline__ void pixel(int i, T (&pixel)[C]) const {
#pragma unroll
        for (int c = 0; c < C; ++c)
            pixel[c] = sample(C * i + c);
    }
    /// Pieces that start after the row's last byte are 0; rows are padded, so that all others can be read.
    __device__ __forceinline__ void load(const std::byte* row, int unit, int row_bytes) {
#pragma unroll
        for (int j = 0; j < C; ++j) {
            const int offset = 16 * (C * unit + j);
            const uint4 piece = offset < row_bytes ? __ldg(reinterpret_cast<const uint4*>(row + offset))
                                                   : make_uint4(0, 0, 0, 0);
            words[4 * j] = piece.x;
            words[4 * j + 1] = piece.y;
            words[4 * j + 2] = piece.z;
            words[4 * j + 3] = piece.w;
        }
    }
    __device__ __forceinline__ uint4 piece(int j) const {
        return make_uint4(words[4 * j], words[4 * j + 1], words[4 * j + 2], words[4 * j + 3]);
    }
};

/// Iteration of all warps of a grid over the units of an image.
struct UnitWalk {
    int y, group;
    int step_y, step_group;
    int groups;

    template <class T, int C> __device__ __forceinline__ static UnitWalk begin(const EqualizeArgs& args) {
        constexpr int kGroup = 32 * Unit<T, C>::kPixels;
        const int groups = (args.width + kGroup - 1) / kGroup;
        const int warp = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
        const int warps = static_cast<int>(gridDim.x * blockDim.x / 32);
        return {warp / groups, warp % groups, warps / groups, warps % groups, groups};
    }
    __device__ __forceinline__ void next() {
        y += step_y;
        group += step_group;
        if (group >= groups) {
            group -= groups;
            ++y;
        }
    }
    /// Unit of this lane.
    __device__ __forceinline__ int unit() const { return 32 * group + static_cast<int>(threadIdx.x % 32); }
};

__device__ __forceinline__ void store_piece(std::byte* row, int offset, int row_bytes, const uint4& piece) {
    if (offset + 16 <= row_bytes) {
        // Streaming store: written once and not read here, so that the input stays in the cache.
        __stcs(reinterpret_cast<uint4*>(row + offset), piece);
        return;
    }
    const std::uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 0; i < 16; ++i)
        if (offset + i < row_bytes)
            row[offset + i] = static_cast<std::byte>(words[i / 4] >> (i % 4 * 8));
}

/// Stores a warp's units. Colour passes through `stage` (32·C pieces of the warp), so that each store of the
/// warp is 512 contiguous bytes: units 48 bytes apart would write partial sectors.
template <class T, int C> __device__ __forceinline__ void
store_units(const Unit<T, C>& unit, std::byte* row, int group, int row_bytes, uint4* stage) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int begin = 512 * C * group;
    if constexpr (C == 1) {
        store_piece(row, begin + 16 * lane, row_bytes, unit.piece(0));
    } else {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < C; ++j)
            stage[C * lane + j] = unit.piece(j);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < C; ++j)
            store_piece(row, begin + 512 * j + 16 * lane, row_bytes, stage[32 * j + lane]);
    }
}

} // namespace specklescope::cuda
