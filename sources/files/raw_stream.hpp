// The bytes of headerless frames, out of a file or out of a pipe whose writer may pause.
#pragma once

#include "files/input_file.hpp"
#include "pipeline/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

/// On one thread. Throws RunError naming the path, and Cancelled where a pipe is waited for in vain.
class RawStream {
public:
    void open(const std::string& path);
    void close();
    explicit operator bool() const { return file_ != nullptr; }
    bool regular() const { return regular_; } ///< a file, no pipe
    /// Bytes of what is open, whose name may be another file's by now; 0 of a pipe.
    std::uint64_t size() const;
    /// False: it cannot be read from there. What had come of a frame is forgotten.
    bool go_to(std::uint64_t byte);
    /// Waits for them.
    void skip_header(std::size_t bytes);
    /// Bytes read: a frame's worth, 0 at the end, something between when the last frame is cut short. Nothing
    /// while a pipe's writer pauses: what has come of the frame stays.
    std::optional<std::size_t> read(HostView view);
    std::optional<std::size_t> read(std::span<std::byte> frame); ///< rows without padding

private:
    int descriptor() const;
    bool comes_before(SteadyClock::time_point end) const;
    std::size_t read_some(std::byte* to, std::size_t most) const;

    std::string path_;
    InputFile file_; ///< there to be closed: it would wait for a pipe, and repeats nothing after a signal
    std::vector<std::byte> begun_; ///< of a frame whose rest a pipe has not brought yet
    bool regular_ = false;
};

} // namespace specklescope
