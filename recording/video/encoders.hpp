// Which encoders of video are installed.
#pragma once

#include "recording/recorder.hpp"

namespace specklescope {

/// Also brings the element's library into memory: not while the first frames wait. Throws RunError where it
/// is installed and cannot be loaded.
bool gst_element_exists(const char* element);

/// What is seen is encoded for the eye; numbers stay as they are.
bool shows_colors(RecordWhat what);

/// RecordFormat::refuses of .mkv and .mp4: sizes that an encoder or a muxer does not take, or does not give
/// back as they were.
std::string mkv_refuses(RecordWhat what, const Shape& shape);
std::string mp4_refuses(RecordWhat what, const Shape& shape);

} // namespace specklescope
