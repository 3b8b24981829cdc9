// The two kinds of failure a user can meet. Both carry one sentence: the thing, what is allowed, what to do.
#pragma once

#include "base/one_line.hpp"

#include <stdexcept>
#include <string>

namespace specklescope {

/// On one line, whatever a file's name or a library put into it.
struct Error : std::runtime_error {
    explicit Error(const std::string& sentence) : std::runtime_error(one_line(sentence)) {}
};

/// The request itself is wrong (flag, key, range, name): exit status 2.
struct UsageError : Error {
    using Error::Error;
};

/// The request was fine and the world was not (file, camera, disk, device): exit status 1.
struct RunError : Error {
    using Error::Error;
};

/// Results are held and none comes home: one frame is lost, and whoever computes is well.
struct NoSlot : RunError {
    NoSlot() : NoSlot("No result slot came free within 10 s; a recorder or the viewer holds them all.") {}
    explicit NoSlot(const std::string& sentence) : RunError(sentence) {}
};

} // namespace specklescope
