// Between the structs of C and the types of the pipeline.
#pragma once

#include "library/guard.hpp"
#include "pipeline/param.hpp"
#include "pipeline/result.hpp"

namespace specklescope::library {

/// The shape that an image claims; `which` begins the sentences: "The input". Throws UsageError.
Shape shape_of(const specklescope_image& image, const std::string& which);
/// Pixels on the host or on a device, with the stream in whose order they are used there.
struct Place {
    std::byte* data = nullptr;
    Shape shape;
    std::size_t pitch = 0;
    bool on_device = false;
    void* stream = nullptr;

    HostView host() const { return {data, shape, pitch}; }
    DeviceView device() const { return {data, shape, pitch}; }
    /// Of borrowed memory.
    Frame frame() const;
};
/// Throws UsageError where a pitch, an address or a place of memory is not possible.
Place place_of(const specklescope_image& image, const std::string& which);
/// Of a call that takes none on a device.
HostView view_of(const specklescope_image& image, const std::string& which);
bool overlap(ConstHostView one, ConstHostView other);

specklescope_image to_c(const Shape& shape);
/// For reading only.
specklescope_image to_c(ConstHostView view);
specklescope_image to_c(ConstDeviceView view);
/// Points into `result`.
specklescope_result to_c(const Result& result);
/// Points into `result`. Throws UsageError where there is no such region.
specklescope_region region_of(const Result& result, std::size_t index);

FrameInfo info_of(const specklescope_facts& facts);

/// Points to texts that are never released (describe.cpp). Throws UsageError if there is no such parameter.
specklescope_parameter_info info_of_parameter(const ParamTable& table, std::size_t index);

} // namespace specklescope::library
