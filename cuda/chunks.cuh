// Rows in chunks of 16 bytes per channel, inside kernels: a thread loads and stores whole vectors and
// extracts samples at positions known at compile time.
#pragma once

#include "pipeline/image.hpp"

#include <cstddef>
#include <cstdint>

namespace specklescope::cuda {

/// Pixels per chunk.
template <class T> inline constexpr int kChunkPixels = 16 / static_cast<int>(sizeof(T));

template <class T, int kChannels> struct Chunk {
    static constexpr int kWords = 4 * kChannels;
    static constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
    std::uint32_t words[kWords] = {};

    __device__ T get(int i) const {
        if constexpr (sizeof(T) == 4)
            return __uint_as_float(words[i]);
        else
            return static_cast<T>(words[i / kPerWord] >> (i % kPerWord * 8 * static_cast<int>(sizeof(T))));
    }
    /// Call clear() first if a sample was set before.
    __device__ void set(int i, T value) {
        if constexpr (sizeof(T) == 4)
            words[i] = __float_as_uint(value);
        else
            words[i / kPerWord] |= static_cast<std::uint32_t>(value)
                                   << (i % kPerWord * 8 * static_cast<int>(sizeof(T)));
    }

    /// Loads vectors that start in [0, row_bytes); the end of the last one may be padding, which every row of
    /// a device image has up to a multiple of 16 bytes.
    __device__ void load(const std::byte* row, int offset, int row_bytes) {
#pragma unroll
        for (int k = 0; k < kChannels; ++k)
            if (offset + 16 * k < row_bytes) {
                const uint4 v = *reinterpret_cast<const uint4*>(row + offset + 16 * k);
                words[4 * k] = v.x;
                words[4 * k + 1] = v.y;
                words[4 * k + 2] = v.z;
                words[4 * k + 3] = v.w;
            }
    }
    /// The last vector of a row overwrites its padding.
    __device__ void store(std::byte* row, int offset, int row_bytes) const {
#pragma unroll
        for (int k = 0; k < kChannels; ++k)
            if (offset + 16 * k < row_bytes)
                *reinterpret_cast<uint4*>(row + offset + 16 * k) =
                    make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
    }
    /// Stores the first 16·kChannels/kParts bytes, in words of 16/kParts bytes.
    template <int kParts> __device__ void store_part(std::byte* row, int offset, int row_bytes) const {
        static_assert(kParts == 2 || kParts == 4);
        constexpr int bytes = 16 / kParts;
#pragma unroll
        for (int k = 0; k < kChannels; ++k)
            if (offset + bytes * k < row_bytes) {
                if constexpr (kParts == 2)
                    *reinterpret_cast<uint2*>(row + offset + bytes * k) =
                        make_uint2(words[2 * k], words[2 * k + 1]);
                else
                    *reinterpret_cast<std::uint32_t*>(row + offset + bytes * k) = words[k];
            }
    }

    /// Loads bytes from any position, also before the row (zeros). `offset` & 15 should be the same for all
    /// threads.
    __device__ void load_anywhere(const std::byte* row, int offset, int row_bytes) {
        const int aligned = offset & ~15;
        std::uint32_t around[kWords + 4] = {};
#pragma unroll
        for (int k = 0; k <= kChannels; ++k) {
            const int at = aligned + 16 * k;
            if (at >= 0 && at < row_bytes && (k < kChannels || at < offset + 16 * kChannels)) {
                const uint4 v = *reinterpret_cast<const uint4*>(row + at);
                around[4 * k] = v.x;
                around[4 * k + 1] = v.y;
                around[4 * k + 2] = v.z;
                around[4 * k + 3] = v.w;
            }
        }
        if ((offset & 8) != 0)
#pragma unroll
            for (int i = 0; i < kWords + 2; ++i)
                around[i] = around[i + 2];
        if ((offset & 4) != 0)
#pragma unroll
            for (int i = 0; i < kWords + 1; ++i)
                around[i] = around[i + 1];
#pragma unroll
        for (int i = 0; i < kWords; ++i)
            words[i] = __funnelshift_r(around[i], around[i + 1], 8U * (static_cast<unsigned>(offset) & 3U));
    }
};

/// View::row for kernels.
template <class T> __device__ __forceinline__ T* row_of(const View<T, Space::device>& view, int y) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(view.data) +
                                static_cast<std::size_t>(y) * view.pitch);
}

} // namespace specklescope::cuda
