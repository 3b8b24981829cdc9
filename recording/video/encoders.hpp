// Which encoders of video are installed.
#pragma once

#include "recording/recorder.hpp"

namespace specklescope {

/// Also brings the element's library into memory: not while the first frames wait.
bool gst_element_exists(const char* element);

/// What is seen is encoded for the eye; numbers stay as they are.
bool shows_colors(RecordWhat what);

} // namespace specklescope
