// The kernels of stage equalize: range (f32), count and table, map.
#include "cuda/equalize/equalize_kernels.hpp"

#include "cuda/equalize/equalize_scan.cuh"
#include "cuda/equalize/equalize_units.cuh"
#include "stages/equalize/equalize.hpp"

#include <type_traits>

namespace specklescope::cuda {

namespace {

template <class T, int C> __device__ __forceinline__ int row_bytes(const EqualizeArgs& args) {
    return args.width * C * static_cast<int>(sizeof(T));
}

template <int C> __global__ void __launch_bounds__(kEqualizeThreads) range_kernel(EqualizeArgs args) {
    __shared__ std::uint32_t block_low, block_high;
    if (threadIdx.x == 0) {
        block_low = 0xFFFFFFFFU;
        block_high = 0;
    }
    __syncthreads();
    std::uint32_t low = 0xFFFFFFFFU;
    std::uint32_t high = 0;
    for (UnitWalk walk = UnitWalk::begin<float, C>(args); walk.y < args.height; walk.next()) {
        Unit<float, C> unit;
        unit.load(args.input + static_cast<std::size_t>(walk.y) * args.input_pitch, walk.unit(),
                  row_bytes<float, C>(args));
        const int left = args.width - walk.unit() * Unit<float, C>::kPixels;
#pragma unroll
        for (int i = 0; i < Unit<float, C>::kPixels; ++i) {
            float pixel[C];
            unit.pixel(i, pixel);
            if (i < left && finite_pixel<C>(pixel)) {
                const std::uint32_t v = ordered_bits(pixel_v<C>(pixel));
                low = min(low, v);
                high = max(high, v);
            }
        }
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        low = min(low, __shfl_xor_sync(0xFFFFFFFFU, low, d));
        high = max(high, __shfl_xor_sync(0xFFFFFFFFU, high, d));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(&block_low, low);
        atomicMax(&block_high, high);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&args.state->low, block_low);
        atomicMax(&args.state->high, block_high);
    }
}

/// Bin of a pixel; 0xFFFFFFFF: not counted.
template <class T, int C> __device__ __forceinline__ std::uint32_t
pixel_bin(const EqualizeArgs& args, const RealBins& real, const T (&pixel)[C]) {
    if constexpr (std::is_same_v<T, float>)
        return finite_pixel<C>(pixel) ? bin_of(real, pixel_v<C>(pixel)) : 0xFFFFFFFFU;
    else
        return bin_of(args.levels, pixel_v<C>(pixel));
}

/// Counts a pixel in shared memory if its bin is in [first, first + span): bin·copies + copy, so that with 32
/// copies every lane has its own bank. u8 counts levels, always with 32 copies.
template <class T, int C>
__device__ __forceinline__ void count_pixel(const EqualizeArgs& args, const RealBins& real,
                                            std::uint32_t first, std::uint32_t* counters,
                                            const T (&pixel)[C]) {
    if constexpr (sizeof(T) == 1) {
        atomicAdd(&counters[32 * pixel_v<C>(pixel) + threadIdx.x % 32], 1U);
    } else {
        const std::uint32_t bin = pixel_bin<T, C>(args, real, pixel) - first;
        if (bin < args.span)
            atomicAdd(&counters[bin * args.copies + (threadIdx.x & (args.copies - 1))], 1U);
    }
}

template <class T, int C> __device__ __forceinline__ void
count_pixels(const EqualizeArgs& args, const RealBins& real, std::uint32_t first, std::uint32_t* counters) {
    constexpr int kPixels = Unit<T, C>::kPixels;
    for (UnitWalk walk = UnitWalk::begin<T, C>(args); walk.y < args.height; walk.next()) {
        Unit<T, C> unit;
        unit.load(args.input + static_cast<std::size_t>(walk.y) * args.input_pitch, walk.unit(),
                  row_bytes<T, C>(args));
        const int left = args.width - walk.unit() * kPixels;
        T pixel[C];
        if (left >= kPixels) {
#pragma unroll
            for (int i = 0; i < kPixels; ++i) {
                unit.pixel(i, pixel);
                count_pixel<T, C>(args, real, first, counters, pixel);
            }
        } else {
#pragma unroll
            for (int i = 0; i < kPixels; ++i)
                if (i < left) {
                    unit.pixel(i, pixel);
                    count_pixel<T, C>(args, real, first, counters, pixel);
                }
        }
    }
}

/// Adds the block's copies to the frame's counts.
template <class T> __device__ __forceinline__ void add_counts(const EqualizeArgs& args, std::uint32_t first,
                                                              const std::uint32_t* counters) {
    const std::uint32_t bins = sizeof(T) == 1 ? args.span : min(args.span, args.bins - first);
    for (std::uint32_t bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < args.copies; ++i) // each lane starts in another bank
            sum += counters[bin * args.copies + ((i + bin) & (args.copies - 1))];
        if (sum != 0)
            atomicAdd(&args.counts[sizeof(T) == 1 ? bin_of(args.levels, bin) : first + bin], sum);
    }
}

template <class T, int C> __global__ void __launch_bounds__(kEqualizeThreads)
    count_kernel(EqualizeArgs args) {
    extern __shared__ std::uint32_t counters[];
    __shared__ bool last;
    const std::uint32_t first = blockIdx.y * args.span;
    for (std::uint32_t i = threadIdx.x; i < args.span * args.copies; i += blockDim.x)
        counters[i] = 0;
    RealBins real{};
    if constexpr (std::is_same_v<T, float>)
        real = real_bins(from_ordered_bits(args.state->low), from_ordered_bits(args.state->high), args.bins);
    __syncthreads();
    count_pixels<T, C>(args, real, first, counters);
    __syncthreads();
    add_counts<T>(args, first, counters);

    // The last block sees all additions: each thread fences its own before the ticket.
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&args.state->done, 1U) == gridDim.x * gridDim.y - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    make_table<T, C>(args, real);
}

/// Byte i of a unit as kByteBase + byte.
__device__ __forceinline__ float based_sample(const Unit<std::uint8_t, 3>& unit, int i) {
    return __uint_as_float(__byte_perm(unit.words[i / 4], 0x4B000000U, 0x7540U + i % 4));
}

/// 8-bit colour in f32, where a multiprocessor adds and multiplies twice as fast as in integers. ratios[256]
/// is the offset for black.
__device__ __forceinline__ Unit<std::uint8_t, 3> map_unit(const Unit<std::uint8_t, 3>& in,
                                                          const float* ratios) {
    Unit<std::uint8_t, 3> out;
    const float black = ratios[256];
#pragma unroll
    for (int part = 0; part < 4; ++part) { // 4 pixels, 3 words
        std::uint32_t bytes[12];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float pixel[3];
#pragma unroll
            for (int c = 0; c < 3; ++c)
                pixel[c] = based_sample(in, 12 * part + 3 * i + c);
            const std::uint32_t v = __float_as_uint(fmaxf(fmaxf(pixel[0], pixel[1]), pixel[2])) & 0xFFU;
            const float ratio = ratios[v];
            const float offset = v == 0 ? black : byte_offset(ratio);
#pragma unroll
            for (int c = 0; c < 3; ++c)
                bytes[3 * i + c] = __float_as_uint(scaled_byte(pixel[c], ratio, offset));
        }
#pragma unroll
        for (int w = 0; w < 3; ++w) { // the lowest byte of each
            const std::uint32_t low = __byte_perm(bytes[4 * w], bytes[4 * w + 1], 0x0040);
            const std::uint32_t high = __byte_perm(bytes[4 * w + 2], bytes[4 * w + 3], 0x0040);
            out.words[3 * part + w] = __byte_perm(low, high, 0x5410);
        }
    }
    return out;
}

__device__ __forceinline__ Unit<std::uint8_t, 1> map_unit(const Unit<std::uint8_t, 1>& in,
                                                          const std::uint8_t* levels) {
    Unit<std::uint8_t, 1> out;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        out.words[w] = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            out.words[w] |= static_cast<std::uint32_t>(levels[in.sample(4 * w + i)]) << (8 * i);
    }
    return out;
}

template <int C> __device__ __forceinline__ Unit<std::uint16_t, C>
map_unit(const Unit<std::uint16_t, C>& in, const std::uint16_t* levels, std::uint32_t full) {
    std::uint16_t samples[8 * C];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        std::uint16_t pixel[C];
        in.pixel(i, pixel);
        map_pixel<C>(pixel, samples + C * i, levels, full);
    }
    Unit<std::uint16_t, C> out;
#pragma unroll
    for (int w = 0; w < 4 * C; ++w)
        out.words[w] = samples[2 * w] | static_cast<std::uint32_t>(samples[2 * w + 1]) << 16;
    return out;
}

template <int C> __device__ __forceinline__ Unit<float, C>
map_unit(const Unit<float, C>& in, const float* values, const RealBins& real, std::uint32_t weight) {
    Unit<float, C> out;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float pixel[C];
        float mapped[C];
        in.pixel(i, pixel);
        map_pixel<C>(pixel, mapped, values, real, weight);
#pragma unroll
        for (int c = 0; c < C; ++c)
            out.words[C * i + c] = __float_as_uint(mapped[c]);
    }
    return out;
}

template <class T, int C> __global__ void __launch_bounds__(kEqualizeThreads) map_kernel(EqualizeArgs args) {
    using Entry = std::conditional_t<sizeof(T) == 1 && C == 3, float, T>;
    constexpr unsigned kNear = sizeof(T) != 1 ? 1 : C == 3 ? 257 : 256;
    __shared__ Entry near_table[kNear];
    __shared__ uint4 stages[C == 1 ? 1 : kEqualizeThreads * C];
    const auto* table = static_cast<const Entry*>(args.table);
    RealBins real{};
    bool unchanged = false;
    if constexpr (sizeof(T) == 1) {
        for (unsigned i = threadIdx.x; i < kNear; i += blockDim.x)
            near_table[i] = table[i];
        __syncthreads();
    }
    if constexpr (std::is_same_v<T, float>) {
        real = args.state->real;
        unchanged = args.state->unchanged != 0;
    }
    uint4* stage = stages + (C == 1 ? 0 : threadIdx.x / 32 * 32 * C);
    for (UnitWalk walk = UnitWalk::begin<T, C>(args); walk.y < args.height; walk.next()) {
        Unit<T, C> unit;
        unit.load(args.input + static_cast<std::size_t>(walk.y) * args.input_pitch, walk.unit(),
                  row_bytes<T, C>(args));
        if constexpr (sizeof(T) == 1)
            unit = map_unit(unit, near_table);
        else if constexpr (sizeof(T) == 2)
            unit = map_unit<C>(unit, table, args.levels.full);
        else if (!unchanged)
            unit = map_unit<C>(unit, table, real, args.weight);
        store_units(unit, args.output + static_cast<std::size_t>(walk.y) * args.output_pitch, walk.group,
                    row_bytes<T, C>(args), stage);
    }
}

template <class T, int C> EqualizeKernels kernels_of() {
    EqualizeKernels kernels{nullptr, count_kernel<T, C>, map_kernel<T, C>};
    if constexpr (std::is_same_v<T, float>)
        kernels.range = range_kernel<C>;
    return kernels;
}

} // namespace

EqualizeKernels equalize_kernels(PixelType type, int channels) {
    return dispatch(type, [&](auto zero) {
        using T = decltype(zero);
        return channels == 3 ? kernels_of<T, 3>() : kernels_of<T, 1>();
    });
}

} // namespace specklescope::cuda
