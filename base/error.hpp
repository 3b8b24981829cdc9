// Errors that a user can meet. Each has one sentence: the thing, what is allowed, what to do.
#pragma once

#include "base/text.hpp"

#include <exception>
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

/// Only this frame is lost; the executor still works.
struct LostFrame : RunError {
    using RunError::RunError;
};

/// All result slots are held and none was released in time.
struct NoSlot : LostFrame {
    NoSlot()
        : NoSlot("No result slot was released within 10 s. A recorder or the window uses all of them.") {}
    explicit NoSlot(const std::string& sentence) : LostFrame(sentence) {}
};

/// Message of an Error; for exceptions of the system or a library, a message that includes what to do.
std::string sentence_of(const std::exception& error);

/// Probes threads, files and memory: "the system gives no more threads" for the first one refused, empty if
/// all are available.
std::string what_lacks();

/// Ending of an error message about an installed component that did not start.
std::string did_not_start();

/// The run continues on the host. All other exceptions of an executor are caused by a request or a frame.
struct DeviceError : RunError {
    using RunError::RunError;
};

/// Message for a frame whose result found no free memory on the device.
inline constexpr const char* kNoRoomOnDevice = "No room for a result came free in the GPU's memory within 10 "
                                               "s; free frames that are held, or other memory there.";

} // namespace specklescope
