// Limit on the files and connections that the process may have open.
#pragma once

#include <cstddef>

namespace specklescope {

/// Raises the limit to what the system allows, at most 65 536. Call it at program start; the default is low
/// for many connections and files.
void allow_many_files() noexcept;

/// True if the error is caused by too many open files, in this process or in the system.
bool is_of_open_files(int error);
/// Remedy for these errors.
inline constexpr const char* kFewerOpenFiles =
    "let fewer programs connect, or raise the limit (ulimit -n, LimitNOFILE= of a service)";

} // namespace specklescope
