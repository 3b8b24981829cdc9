// What tells that a GPU, and not what was asked of it, has failed.
#pragma once

#include "base/error.hpp"

namespace specklescope {

/// The run goes on on the host. Whatever else an executor throws is the fault of a request or of a frame.
struct DeviceError : RunError {
    using RunError::RunError;
};

} // namespace specklescope
