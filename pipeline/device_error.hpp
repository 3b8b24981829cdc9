// Error that is caused by the GPU, not by the request.
#pragma once

#include "base/error.hpp"

namespace specklescope {

/// The run continues on the host. All other exceptions of an executor are caused by a request or a frame.
struct DeviceError : RunError {
    using RunError::RunError;
};

/// Message for a frame whose result found no free memory on the device.
inline constexpr const char* kNoRoomOnDevice = "No room for a result came free in the GPU's memory within 10 "
                                               "s; free frames that are held, or other memory there.";

} // namespace specklescope
