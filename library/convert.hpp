// Conversions between C structs and types of the pipeline.
#pragma once

#include "library/guard.hpp"
#include "pipeline/param.hpp"
#include "pipeline/result.hpp"

namespace specklescope::library {

/// Shape of an image. `which` ("The input") begins the error messages. Throws UsageError.
Shape shape_of(const specklescope_image& image, const std::string& which);
/// Pixels on the host or on a device, and the stream that orders their use.
struct Place {
    std::byte* data = nullptr;
    Shape shape;
    std::size_t pitch = 0;
    bool on_device = false;
    void* stream = nullptr;

    HostView host() const { return {data, shape, pitch}; }
    DeviceView device() const { return {data, shape, pitch}; }
    /// A frame on borrowed memory.
    Frame frame() const;
};
/// Throws UsageError if a pitch, an address or a kind of memory is not possible.
Place place_of(const specklescope_image& image, const std::string& which);
/// View for calls that accept only host memory.
HostView view_of(const specklescope_image& image, const std::string& which);
bool overlap(ConstHostView one, ConstHostView other);

specklescope_image to_c(const Shape& shape);
/// Read-only.
specklescope_image to_c(ConstHostView view);
specklescope_image to_c(ConstDeviceView view);
/// Points into `result`.
specklescope_result to_c(const Result& result);
/// Points into `result`. Throws UsageError if there is no such region.
specklescope_region region_of(const Result& result, std::size_t index);

/// The further images of a result as results of their own, for texts and pixels that live as long as this.
std::vector<Result> results_also(const Result& result);
/// Writes what specklescope_chain_also() gives of number `index`.
void write_also(const std::vector<Result>& also, const Result& of, std::size_t index, const char** name,
                specklescope_image* image, specklescope_result* result);

FrameInfo info_of(const specklescope_facts& facts);

/// Points to texts that are never released (describe.cpp). Throws UsageError if there is no such parameter.
specklescope_parameter_info info_of_parameter(const ParamTable& table, std::size_t index);

} // namespace specklescope::library
