// The file of a Unix socket that is about to be bound.
#pragma once

#include <string>

#include <sys/types.h>

namespace specklescope {

/// ZeroMQ takes away whatever has the name of a socket that it binds: here it is seen to that this is nothing
/// but a socket that nobody listens at. While this lives, the file that is made is for its owner alone.
class UnixSocketPlace {
public:
    /// "": no such socket, nothing is done. Throws RunError.
    explicit UnixSocketPlace(const std::string& path);
    ~UnixSocketPlace();
    UnixSocketPlace(const UnixSocketPlace&) = delete;
    UnixSocketPlace& operator=(const UnixSocketPlace&) = delete;

private:
    const bool there_;
    mode_t mask_ = 0;
};

} // namespace specklescope
