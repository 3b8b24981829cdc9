// How many files and connections the process may have open at once.
#pragma once

#include <cstddef>

namespace specklescope {

/// A program's beginning: as many as the system lets it have, 65 536 at most. Those that it is given are few
/// where connections and files come together.
void allow_many_files() noexcept;

/// The reason is that too many are open, here or in the whole system, not the file.
bool is_of_open_files(int error);
/// What helps then.
inline constexpr const char* kFewerOpenFiles =
    "let fewer programs connect, or raise the limit (ulimit -n, LimitNOFILE= of a service)";

} // namespace specklescope
