// Bytes of headerless frames, from a file or from a pipe whose writer may pause.
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

/// One thread only. Throws RunError naming the path, and Cancelled while waiting for a pipe.
class RawStream {
public:
    void open(const std::string& path);
    void close();
    explicit operator bool() const { return file_ != nullptr; }
    bool regular() const { return regular_; } ///< a file, not a pipe
    /// Size of the open file, whose name may refer to another file by now; 0 for a pipe.
    std::uint64_t size() const;
    /// False if it cannot seek there. Discards a partial frame.
    bool go_to(std::uint64_t byte);
    /// Waits for the bytes.
    void skip_header(std::size_t bytes);
    /// Bytes read: a frame, 0 at the end, fewer if the last frame is truncated. Nothing while a pipe's writer
    /// pauses; a partial frame is kept.
    std::optional<std::size_t> read(HostView view);
    std::optional<std::size_t> read(std::span<std::byte> frame); ///< rows without padding

private:
    int descriptor() const;
    bool comes_before(SteadyClock::time_point end) const;
    std::size_t read_some(std::byte* to, std::size_t most) const;

    std::string path_;
    InputFile file_; ///< only used to close it: it would wait for a pipe, and does not retry after a signal
    std::vector<std::byte> begun_; ///< partial frame from a pipe
    bool regular_ = false;
};

} // namespace specklescope
