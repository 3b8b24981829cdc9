// A small file appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// Writes beside the target and renames. Throws RunError; then nothing is left of the attempt.
void write_atomically(const std::string& path, std::string_view text);
/// Throws RunError now if write_atomically could not succeed later (missing or read-only folder, a folder of
/// that name).
void check_writable(const std::string& path);

} // namespace specklescope
