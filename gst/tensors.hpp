// Results as other/tensors, as NNStreamer has them: one tensor a buffer, its innermost dimension first.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

#include <optional>
#include <string>
#include <utility>

namespace specklescope::element {

inline constexpr const char* kTensors = "other/tensors";

/// All that a result may be, without dimensions and framerate: of a pad's template.
std::string tensors_template();
/// `image` as a tensor; its dimensions are two spellings of the same, channels:width:height:1 and without
/// the 1. The caller ends it.
GstStructure* tensors_of(const specklescope_image& image);
/// Empty where the structure is not one of a tensor like these, whole and fixed.
std::optional<specklescope_image> shape_of_tensors(const GstStructure* structure);
/// Width and height where the dimensions say them; the rest may be open.
std::optional<std::pair<int, int>> size_of_tensors(const GstStructure* structure);

} // namespace specklescope::element
