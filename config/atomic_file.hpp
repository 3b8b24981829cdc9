// A small file appears whole or not at all.
#pragma once

#include "files/whole_file.hpp"
#include "pipeline/stats.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace specklescope {

/// Writes a file without a name and gives it that of the target. Throws RunError; then nothing is left of the
/// attempt. `mode` 0: as the umask says; else these permissions, from the first byte on.
void write_atomically(const std::string& path, std::string_view text, mode_t mode = 0);
/// Throws RunError now if write_atomically could not succeed later (missing or read-only folder; a folder, a
/// pipe or a device of that name).
void check_writable(const std::string& path);
/// The same, and refuse_other_kind().
void check_replaceable(const std::string& path, const ReplaceableKind& kind);

/// Throws RunError if statistics could not be written there later, or if a file of that name holds anything
/// else than statistics of an earlier run: that is never replaced.
void check_statistics_file(const std::string& path);
/// Writes the statistics, whole or not at all. Where that cannot be they go to standard error, with the
/// reason: a run is not done again because a disk is full. False then. An empty path: nothing is asked for.
bool keep_statistics(const std::string& path, const std::string& json) noexcept;

} // namespace specklescope
