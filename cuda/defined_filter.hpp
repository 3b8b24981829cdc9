// Linear filters on the device for images with undefined or infinite samples. Inside cuda/ only.
#pragma once

#include "cuda/counts.hpp"
#include "cuda/device.hpp"
#include "stages/filter_norm.hpp"

#ifdef __CUDACC__
#include "cuda/chunks.cuh"
#endif

namespace specklescope::cuda {

/// In device memory, written before the kernels that read it.
struct FilterGuard {
    PixelCounts found; ///< undefined and infinite results of the plain filter
    float offset;      ///< common_offset()
};

#ifdef __CUDACC__
/// common_offset() of an f32 image, for a whole warp. Most images show with their first 32 samples that it is
/// 0: more samples are not closer to each other.
__device__ inline float offset_of_warp(const View<const float, Space::device>& image) {
    constexpr int kPlaces = kOffsetPlaces * kOffsetPlaces;
    float low = HUGE_VALF;
    float high = -HUGE_VALF;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x % 32U); i < kPlaces * image.channels; i += 32) {
        const int x = offset_place(i % kOffsetPlaces, image.width);
        const int y = offset_place(i / kOffsetPlaces % kOffsetPlaces, image.height);
        const float sample = row_of(image, y)[x * image.channels + i / kPlaces];
        low = is_sample(sample) ? fminf(low, sample) : low;
        high = is_sample(sample) ? fmaxf(high, sample) : high;
        for (int step = 16; step > 0; step /= 2) {
            low = fminf(low, __shfl_xor_sync(0xffffffffU, low, step));
            high = fmaxf(high, __shfl_xor_sync(0xffffffffU, high, step));
        }
        if (low <= high && common_offset(low, high) == 0)
            return 0;
    }
    return common_offset(low, high);
}

/// True if a kernel has nothing to do. The same for all threads.
__device__ inline bool skipped(const FilterGuard* guard) {
    return guard && guard->found.undefined == 0 && guard->found.infinite == 0;
}
#endif

/// Runs a filter according to FilterNorm. Only the device knows whether a frame needs more than the plain
/// filter, so that the kernels for it are launched for each f32 frame and return immediately while all
/// samples are finite.
class DefinedFilter {
public:
    void prepare(const Shape& input, const Shape& output, const FilterNorm& norm);

    /// Calls filter(input, output, guard), whose kernels return immediately if skipped(guard). Adds undefined
    /// results to `counts`.
    template <class F> void run(ConstDeviceView input, DeviceView output, PixelCounts* counts,
                                cudaStream_t stream, F&& filter) const {
        if (input.shape.type != PixelType::f32)
            return filter(input, output, static_cast<const FilterGuard*>(nullptr));
        FilterGuard* const guard = look(input, stream);
        filter(input, output, static_cast<const FilterGuard*>(nullptr));
        count_undefined(output, &guard->found, stream);
        split(input, stream);
        filter(ConstDeviceView(values()), output, guard);
        filter(ConstDeviceView(mask()), weights(), guard);
        combine(output, counts, stream);
    }

private:
    FilterGuard* look(ConstDeviceView input, cudaStream_t stream) const;
    void split(ConstDeviceView input, cudaStream_t stream) const;
    void combine(DeviceView output, PixelCounts* counts, cudaStream_t stream) const;
    DeviceView values() const { return {values_.as<std::byte>(), input_, input_pitch_}; }
    DeviceView mask() const { return {mask_.as<std::byte>(), input_, input_pitch_}; }
    DeviceView weights() const { return {weights_.as<std::byte>(), output_, output_pitch_}; }

    Shape input_, output_;
    std::size_t input_pitch_ = 0, output_pitch_ = 0;
    FilterNorm norm_;
    Buffer guard_, values_, mask_, weights_;
};

} // namespace specklescope::cuda
