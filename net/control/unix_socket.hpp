// A Unix socket for its owner alone.
#pragma once

#include <string>

namespace specklescope {

/// A descriptor that listens at `path`, for ZeroMQ to own. It takes the place of a socket that nobody listens
/// at, and of nothing else. The file is its owner's alone from its first moment on, by its own mode: the
/// process's mask, which other threads make files with, stays as it is. Throws RunError.
int listen_at(const std::string& path);

} // namespace specklescope
