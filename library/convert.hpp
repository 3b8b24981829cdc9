// Between the structs of C and the types of the pipeline.
#pragma once

#include "library/guard.hpp"
#include "pipeline/result.hpp"

namespace specklescope::library {

/// The shape that an image claims; `which` begins the sentences: "The input". Throws UsageError.
Shape shape_of(const specklescope_image& image, const std::string& which);
/// Its pixels. Throws UsageError where a pitch, an address or a place of memory is not possible.
HostView view_of(const specklescope_image& image, const std::string& which);
bool overlap(ConstHostView one, ConstHostView other);

specklescope_image to_c(const Shape& shape);
/// For reading only.
specklescope_image to_c(ConstHostView view);
/// Points into `result`.
specklescope_result to_c(const Result& result);
/// Points into `result`. Throws UsageError where there is no such region.
specklescope_region region_of(const Result& result, std::size_t index);

FrameInfo info_of(const specklescope_facts& facts);

} // namespace specklescope::library
