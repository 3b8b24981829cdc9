// Opening files for reading, with the errors that a user can act on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace specklescope {

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using InputFile = std::unique_ptr<std::FILE, CloseFile>;

/// Throws RunError: no such file, a folder, no permission; a pipe, unless those serve. Opening a pipe waits,
/// as long work that can be stopped, until somebody writes into it.
enum class Pipes : std::uint8_t { refused, taken };
InputFile open_input(const std::string& path, Pipes pipes = Pipes::refused);

/// All of a file, or of what a pipe brings until it is closed, as long work that can be stopped. Throws
/// RunError as open_input() does, where it cannot be read to its end, and where it is larger than `most`
/// bytes: then it is no `kind`, "file of regions", which may go on with a remedy.
std::string whole_text(const std::string& path, std::size_t most, const std::string& kind,
                       Pipes pipes = Pipes::refused);

/// Bytes in a regular file; 0 for anything else (pipe, device).
std::uint64_t input_size(const std::string& path);

/// Throws RunError unless something of this name exists.
void check_exists(const std::string& path);

} // namespace specklescope
