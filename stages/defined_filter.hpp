// Linear filters on the host for images with undefined or infinite samples.
#pragma once

#include "pipeline/counts.hpp"
#include "stages/filter_norm.hpp"

#include <hwy/aligned_allocator.h>

namespace specklescope {

/// Runs a filter according to FilterNorm. Costs only a check of the results while all samples are finite.
class DefinedFilter {
public:
    void prepare(const Shape& input, const Shape& output, const FilterNorm& norm);

    /// Calls filter(input, output) as often as needed and counts undefined results.
    template <class F> void run(ConstHostView input, HostView output, PixelCounts& counts, F&& filter) const {
        if (input.shape.type != PixelType::f32)
            return filter(input, output);
        const float offset = norm_.zeros_outside ? 0 : offset_of(input);
        if (offset == 0) {
            filter(input, output);
            PixelCounts found;
            count_undefined(output, found);
            if (found.undefined == 0 && found.infinite == 0)
                return;
        }
        const bool holes = split(input, offset);
        filter(ConstHostView(values()), output);
        if (holes)
            filter(ConstHostView(mask()), weights());
        combine(output, holes, offset);
        count_undefined(output, counts);
    }

private:
    using Floats = hwy::AlignedFreeUniquePtr<float[]>;

    HostView values() const { return {reinterpret_cast<std::byte*>(values_.get()), input_}; }
    HostView mask() const { return {reinterpret_cast<std::byte*>(mask_.get()), input_}; }
    HostView weights() const { return {reinterpret_cast<std::byte*>(weights_.get()), output_}; }

    static float offset_of(ConstHostView input);
    /// Fills values() and mask(); true if a sample is not finite.
    bool split(ConstHostView input, float offset) const;
    void combine(HostView output, bool holes, float offset) const;

    Shape input_, output_;
    FilterNorm norm_;
    Floats values_, mask_, weights_;
};

} // namespace specklescope
