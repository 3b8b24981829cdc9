// Results as other/tensors of NNStreamer: one tensor per buffer, innermost dimension first.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

#include <optional>
#include <string>
#include <utility>

namespace specklescope::element {

inline constexpr const char* kTensors = "other/tensors";

/// Template caps for all results, without dimensions and framerate.
std::string tensors_template();
/// `image` as a tensor. Its dimensions have two equivalent spellings: channels:width:height:1, and without
/// the 1. The caller owns the structure.
GstStructure* tensors_of(const specklescope_image& image);
/// Nullopt unless the structure is one complete and fixed tensor of this form.
std::optional<specklescope_image> shape_of_tensors(const GstStructure* structure);
/// Width and height if the dimensions contain them; the rest may be open.
std::optional<std::pair<int, int>> size_of_tensors(const GstStructure* structure);

} // namespace specklescope::element
