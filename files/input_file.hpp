// Opens files for reading, with helpful errors.
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

/// Throws RunError if there is no such file, for a folder, without permission, and for a pipe unless
/// allowed. Opening a pipe waits for a writer and can be cancelled.
enum class Pipes : std::uint8_t { refused, taken };
InputFile open_input(const std::string& path, Pipes pipes = Pipes::refused);

/// Contents of a file, or of a pipe until it is closed; can be cancelled. Throws RunError like open_input(),
/// if it cannot be read to its end, and if it is larger than `most` bytes. The message then states that it is
/// no `kind`, such as "file of regions", optionally with a remedy.
std::string whole_text(const std::string& path, std::size_t most, const std::string& kind,
                       Pipes pipes = Pipes::refused);

/// Bytes of a regular file; 0 for anything else (pipe, device).
std::uint64_t input_size(const std::string& path);

/// Throws RunError unless the path exists.
void check_exists(const std::string& path);

} // namespace specklescope
