// What tells that a GPU, and not what was asked of it, has failed.
#pragma once

#include "base/error.hpp"

namespace specklescope {

/// The run goes on on the host. Whatever else an executor throws is the fault of a request or of a frame.
struct DeviceError : RunError {
    using RunError::RunError;
};

/// Of a frame whose result found no room: whoever holds results there makes some.
inline constexpr const char* kNoRoomOnDevice = "No room for a result came free in the GPU's memory within 10 "
                                               "s; free frames that are held, or other memory there.";

} // namespace specklescope
