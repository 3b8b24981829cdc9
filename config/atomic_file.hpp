// A small file appears whole or not at all.
#pragma once

#include "files/whole_file.hpp"
#include "pipeline/stats.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace specklescope {

/// Writes an unnamed file and then gives it the name of the target. Throws RunError without leaving a file.
/// `mode` 0: permissions from the umask; else these permissions, from the first byte on.
void write_atomically(const std::string& path, std::string_view text, mode_t mode = 0);
/// The same without replacing a file: `path`, or the first numbered name that is free. Returns the name.
std::string write_new(const std::string& path, std::string_view text);
/// Throws RunError now if write_atomically() would fail later (missing or read-only folder; a folder, a pipe
/// or a device with that name).
void check_writable(const std::string& path);
/// The same, and refuse_other_kind().
void check_replaceable(const std::string& path, const ReplaceableKind& kind);

/// Throws RunError if statistics could not be written there later, or if an existing file is not a
/// statistics file: such a file is never replaced.
void check_statistics_file(const std::string& path);
/// Writes the statistics, completely or not at all. If that fails, it returns false and prints them to
/// standard error with the reason, since a run should not be repeated because of a full disk. Does nothing
/// if the path is empty.
bool keep_statistics(const std::string& path, const std::string& json) noexcept;

} // namespace specklescope
