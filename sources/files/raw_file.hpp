// Bytes and metadata of headerless files.
#pragma once

#include "base/parallel.hpp"
#include "files/input_file.hpp"
#include "files/recorded.hpp"
#include "pipeline/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
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
    /// False for a pipe.
    bool seek(std::uint64_t byte);
    /// Waits for the bytes.
    void skip_header(std::size_t bytes);
    /// Bytes read: a frame, 0 at the end, fewer if the last frame is truncated. Nothing while a pipe's writer
    /// pauses; a partial frame is kept.
    std::optional<std::size_t> read(HostView view);
    /// Reads the next frames of a regular file, of equal shape, at the same time. Returns how many are whole
    /// before the first that is not, or that cannot be read; the next read() begins after these.
    std::size_t read_together(std::span<const HostView> frames);
    std::optional<std::size_t> read(std::span<std::byte> frame); ///< rows without padding

private:
    int descriptor() const;
    bool comes_before(SteadyClock::time_point end) const;
    std::size_t read_some(std::byte* to, std::size_t most);
    /// Reads these rows of the frame that begins at byte `frame` of a regular file. Returns the bytes read,
    /// fewer at the end of the file.
    std::size_t read_rows(HostView view, Band rows, std::uint64_t frame) const;
    [[noreturn]] void cannot_read() const; ///< throws the reason in errno

    /// read() of a small frame of a regular file, from a buffer of several.
    std::size_t read_small(HostView view);
    /// Reads at least `least` bytes from at_ on into the buffer, fewer at the end of the file.
    void fill_buffer(std::size_t least);

    static constexpr std::size_t kSmallBytes = std::size_t{1} << 13; ///< of a frame, an estimate
    static constexpr int kMostThreads = 4; ///< that read one frame at once, an estimate

    const int threads_ = std::clamp(parallel_threads() / 2, 2, 8); ///< that read several frames at once
    FewThreads readers_{threads_};
    std::string path_;
    InputFile file_; ///< only used to close it: it would wait for a pipe, and does not retry after a signal
    std::vector<std::byte> begun_; ///< partial frame from a pipe
    bool regular_ = false;
    std::uint64_t at_ = 0;            ///< of a regular file: the next byte
    std::vector<std::byte> buffer_;   ///< of a regular file, for small frames
    std::uint64_t buffered_from_ = 0; ///< place of the buffer in the file
};

// Metadata of a headerless file, from a JSON file next to it.

/// NAME.raw.jsonl next to a recording NAME.raw: a line of JSON for the file, then one per frame.
class RawSidecar {
public:
    /// False if there is none, or if it was not written by this program. Starts at the first frame.
    bool open(const std::string& raw_path);
    void close() { *this = RawSidecar{}; }
    bool is_open() const { return file_.is_open(); }
    const RecordedText& file() const { return text_; }
    /// Metadata of the next frame; unknown after the last line.
    const Recorded& next();
    /// Sets the next frame, from 0.
    void seek(std::uint64_t frame);
    /// Rate of the file, or of its first frames; reads ahead. 0: unknown.
    double measure_rate(const std::string& raw_path) const;
    /// Capture time of its first frame; nothing: it has none.
    std::optional<std::int64_t> first_time(const std::string& raw_path) const;
    /// Source::frame_at() for a file with `frames` frames; reads ahead.
    std::optional<std::uint64_t> frame_at(const std::string& raw_path, double seconds,
                                          std::uint64_t frames) const;

private:
    std::string line(std::uint64_t frame);
    void seek_file(std::streamoff offset);

    std::ifstream file_;
    RecordedText text_;
    std::vector<std::streamoff> lines_; ///< offsets of the complete lines of frames
    std::streamoff next_line_ = 0;      ///< offset of the next of these lines
    std::streamoff here_ = -1;          ///< current read position
    std::uint64_t next_ = 0;            ///< frame
};

} // namespace specklescope
