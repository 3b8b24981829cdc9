// The two kinds of failure that a user can meet. Both hold one sentence: the thing, what is allowed, what to
// do.
#pragma once

#include "base/one_line.hpp"

#include <stdexcept>
#include <string>

namespace specklescope {

/// The message is reduced to one line, since it may contain file names and text of libraries.
struct Error : std::runtime_error {
    explicit Error(const std::string& sentence) : std::runtime_error(one_line(sentence)) {}
};

/// The request itself is wrong (flag, key, range, name): exit status 2.
struct UsageError : Error {
    using Error::Error;
};

/// The request was valid but something else failed (file, camera, disk, device): exit status 1.
struct RunError : Error {
    using Error::Error;
};

/// All result slots are held and none was released in time. Only this frame is lost; the executor still
/// works.
struct NoSlot : RunError {
    NoSlot() : NoSlot("No result slot came free within 10 s; a recorder or the viewer holds them all.") {}
    explicit NoSlot(const std::string& sentence) : RunError(sentence) {}
};

} // namespace specklescope
