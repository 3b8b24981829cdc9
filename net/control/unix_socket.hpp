// The file of a Unix socket: before it is bound, and as long as it is.
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

/// The file of a socket that has been bound, which ZeroMQ leaves: it goes with this, unless another one has
/// its name by then.
class BoundSocketFile {
public:
    explicit BoundSocketFile(std::string path); ///< "": none
    ~BoundSocketFile();
    BoundSocketFile(const BoundSocketFile&) = delete;
    BoundSocketFile& operator=(const BoundSocketFile&) = delete;

private:
    const std::string path_;
    bool there_ = false;
    dev_t device_ = 0;
    ino_t number_ = 0;
};

} // namespace specklescope
