// A Unix socket for its owner alone, and its file as long as it is bound.
#pragma once

#include <string>

#include <sys/types.h>

namespace specklescope {

/// A descriptor that listens at `path`, for ZeroMQ to own. It takes the place of a socket that nobody listens
/// at, and of nothing else. The file is its owner's alone from its first moment on, by its own mode: the
/// process's mask, which other threads make files with, stays as it is. Throws RunError.
int listen_at(const std::string& path);

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
