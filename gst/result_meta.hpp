// Facts of a result on its buffer, as a custom meta that needs no header of ours.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

#include <vector>

namespace specklescope::element {

/// gst_buffer_get_custom_meta(buffer, kResultMeta).
inline constexpr const char* kResultMeta = "SpecklescopeResult";
void register_result_meta();

/// Relation of video/x-raw pixels to values; NaN: none.
struct Meaning {
    double scale, offset; ///< for GRAY16_LE: value = offset + scale·level
    double low, high;     ///< for colours: values of the first and the last colour
};

/// Replaces a meta that came with the frame. `values`: exact values of an image; null: none.
void add_result_meta(GstBuffer* buffer, const specklescope_result& result, const Meaning& meaning,
                     const std::vector<specklescope_region>& regions, GstSample* values);
/// True if the frame itself is a result made while a stage filled its history.
bool made_in_warmup(GstBuffer* frame);

} // namespace specklescope::element
