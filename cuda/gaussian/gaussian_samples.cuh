// Reading, conversion and writing of samples in the kernels of stage gaussian.
#pragma once

#include "cuda/gaussian/gaussian_launch.hpp"

#include <cstdint>
#include <type_traits>

namespace specklescope::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffU;
inline constexpr float kTwoTo23 = 8388608.0F; ///< above, f32 has no fraction

template <class T> __device__ inline const T* input_row(const BlurImages& images, int y) {
    return reinterpret_cast<const T*>(images.input + static_cast<std::int64_t>(y) * images.input_pitch);
}
template <class T> __device__ inline T* output_row(const BlurImages& images, int y) {
    return reinterpret_cast<T*>(images.output + static_cast<std::int64_t>(y) * images.output_pitch);
}

/// Position of sample `i` of a row; −1: it is 0.
__device__ inline int border_sample(int i, int width, int channels, Border border) {
    const int pixel = i >= 0 ? i / channels : -((channels - 1 - i) / channels);
    const int found = border_index(pixel, width, border);
    return found < 0 ? -1 : found * channels + (i - pixel * channels);
}

/// To nearest, ties to even, then clamped.
template <class T> __device__ inline T to_sample(float value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else
        return static_cast<T>(__float2int_rn(fminf(fmaxf(value, 0.0F), sizeof(T) == 1 ? 255.0F : 65535.0F)));
}

/// Adds the warp's numbers to a count.
__device__ inline void add_of_warp(std::uint64_t& count, int mine) {
    for (int step = 16; step > 0; step /= 2)
        mine += __shfl_xor_sync(kWholeWarp, mine, step);
    if ((threadIdx.x & 31U) == 0 && mine != 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(&count), static_cast<unsigned long long>(mine));
}

/// V contiguous samples in 32-bit words. Conversions work on the bits: 2²³ + v has v in its low bits, and
/// adding 2²³ rounds to nearest, ties to even.
template <class T, int V> struct Samples {
    static constexpr int kWords = V * static_cast<int>(sizeof(T)) / 4;
    std::uint32_t words[kWords];

    __device__ void load(const void* from) {
        if constexpr (kWords == 2) {
            const uint2 two = *static_cast<const uint2*>(from);
            words[0] = two.x;
            words[1] = two.y;
        } else {
#pragma unroll
            for (int i = 0; i < kWords; i += 4) {
                const uint4 four = static_cast<const uint4*>(from)[i / 4];
                words[i] = four.x;
                words[i + 1] = four.y;
                words[i + 2] = four.z;
                words[i + 3] = four.w;
            }
        }
    }
    __device__ void store(void* to) const {
        if constexpr (kWords == 2) {
            *static_cast<uint2*>(to) = make_uint2(words[0], words[1]);
        } else {
#pragma unroll
            for (int i = 0; i < kWords; i += 4)
                static_cast<uint4*>(to)[i / 4] =
                    make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
        }
    }
    __device__ void to_float(float (&values)[V]) const {
        constexpr unsigned kExponent = 0x4b000000U;
#pragma unroll
        for (int i = 0; i < V; ++i) {
            if constexpr (sizeof(T) == 1)
                values[i] = __uint_as_float(__byte_perm(words[i / 4], kExponent, 0x7440U + i % 4)) - kTwoTo23;
            else if constexpr (sizeof(T) == 2)
                values[i] =
                    __uint_as_float(__byte_perm(words[i / 2], kExponent, i % 2 == 0 ? 0x7410U : 0x7432U)) -
                    kTwoTo23;
            else
                values[i] = __uint_as_float(words[i]);
        }
    }
    /// For integers: values from −0.5 to 0.5 above the largest of the type.
    __device__ void from_float(const float (&values)[V]) {
        std::uint32_t bits[V];
#pragma unroll
        for (int i = 0; i < V; ++i)
            bits[i] = __float_as_uint(sizeof(T) == 4 ? values[i] : values[i] + kTwoTo23);
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            if constexpr (sizeof(T) == 1)
                words[w] = __byte_perm(__byte_perm(bits[4 * w], bits[4 * w + 1], 0x0040),
                                       __byte_perm(bits[4 * w + 2], bits[4 * w + 3], 0x0040), 0x5410);
            else if constexpr (sizeof(T) == 2)
                words[w] = __byte_perm(bits[2 * w], bits[2 * w + 1], 0x5410);
            else
                words[w] = bits[w];
        }
    }
    __device__ T get(int i) const {
        if constexpr (sizeof(T) == 1)
            return static_cast<T>(words[i / 4] >> (8 * (i % 4)));
        else if constexpr (sizeof(T) == 2)
            return static_cast<T>(words[i / 2] >> (16 * (i % 2)));
        else
            return __uint_as_float(words[i]);
    }
};

} // namespace specklescope::cuda
