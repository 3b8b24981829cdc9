// What is known of a result, on its buffer: a custom meta, so that nobody needs a header of ours to read it.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

#include <vector>

namespace specklescope::element {

/// gst_buffer_get_custom_meta(buffer, kResultMeta).
inline constexpr const char* kResultMeta = "SpecklescopeResult";
void register_result_meta();

/// How the pixels of video/x-raw stand for values; NaN: they do not.
struct Meaning {
    double scale, offset; ///< of GRAY16_LE: value = offset + scale·level
    double low, high;     ///< of colours: what the first and the last one stand for
};

/// In place of one that came along from a frame. `values`: the exact numbers of a picture; null: none.
void add_result_meta(GstBuffer* buffer, const specklescope_result& result, const Meaning& meaning,
                     const std::vector<specklescope_region>& regions, GstSample* values);
/// A frame that is itself a result, made while a stage filled its history.
bool made_in_warmup(GstBuffer* frame);

} // namespace specklescope::element
