// Linear filters on the device for images with undefined or infinite samples. Inside cuda/ only.
#pragma once

#include "cuda/counts.hpp"
#include "cuda/device.hpp"
#include "stages/filter_norm.hpp"

namespace specklescope::cuda {

/// In device memory, written before the kernels that read it.
struct FilterGuard {
    PixelCounts found; ///< undefined and infinite results of the plain filter
    float offset;      ///< common_offset()
};

/// One call of a filter.
struct FilterPass {
    const FilterGuard* guard = nullptr; ///< kernels return immediately if skipped(guard); null: they run
    PixelCounts* found = nullptr; ///< kernels set `undefined` to 1 for a non-finite result; null: not checked
};

#ifdef __CUDACC__
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

    /// Calls filter(input, output, pass), which returns whether it set pass.found. Adds undefined results to
    /// `counts`.
    template <class F> void run(ConstDeviceView input, DeviceView output, PixelCounts* counts,
                                cudaStream_t stream, F&& filter) const {
        if (input.shape.type != PixelType::f32)
            return static_cast<void>(filter(input, output, FilterPass{}));
        FilterGuard* const guard = look(input, stream);
        if (!filter(input, output, FilterPass{.found = &guard->found}))
            count_undefined(output, &guard->found, stream);
        split(input, stream);
        filter(ConstDeviceView(values()), output, FilterPass{.guard = guard});
        filter(ConstDeviceView(mask()), weights(), FilterPass{.guard = guard});
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
