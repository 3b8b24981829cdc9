// Names of streams, and the writing end of a pipe or of another file that takes a stream. The reader may be
// slow, stop or exit; nothing is created, renamed or replaced.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// "-", /dev/stdout, /dev/fd/N, a FIFO or /dev/null, with or without the prefix raw: or y4m:.
struct StreamTarget {
    enum class Kind : std::uint8_t { raw, y4m };
    Kind kind = Kind::raw; ///< without a prefix: y4m if the name ends in .y4m
    std::string text;      ///< as the user wrote it
    std::string path;      ///< without the prefix
    int descriptor = -1;   ///< descriptor of this process; -1: open `path`
};
/// None if `text` names a file. A name with a prefix is always a stream, even if it does not exist.
std::optional<StreamTarget> stream_target(const std::string& text);

/// Reserves standard output for streams: text printed there goes to standard error from now on. Throws
/// UsageError if it is a terminal, RunError if it is closed. A second call does nothing.
void keep_output_for_streams();

class PipeEnd {
public:
    explicit PipeEnd(StreamTarget target) : target_(std::move(target)) {}
    PipeEnd(const PipeEnd&) = delete;
    PipeEnd& operator=(const PipeEnd&) = delete;
    ~PipeEnd() { close(); }

    enum class Reader : std::uint8_t {
        may_come, ///< open() waits for a reader, with a message, until cancelled
        is_there  ///< open() throws if there is no reader
    };
    /// Throws UsageError (no stream, a terminal), RunError, Cancelled.
    void open(Reader reader = Reader::may_come);
    /// Writes everything and waits for the reader. Throws RunError with the reason and raises no signal.
    /// Modifies the parts.
    void write(std::vector<iovec>& parts);
    void write(const std::string& text);
    /// Throws RunError if the reader has exited.
    void check() const;
    /// From now on, write() fails if the reader reads nothing for a second. From any thread.
    void hurry() noexcept;
    void close() noexcept;

    const StreamTarget& target() const { return target_; }
    std::uint64_t bytes() const { return bytes_; } ///< used by the writing thread

private:
    /// Ways to keep a write from blocking in the system, where it could not be cancelled.
    enum class Way : std::uint8_t {
        plain,  ///< a file or a device: does not block
        ours,   ///< opened here as non-blocking
        shared, ///< a shared pipe: writes only as much as fits for certain
        socket
    };
    void open_descriptor();
    void open_path(Reader reader);
    void take_fifo() const;
    void refuse_terminal() const;
    long put(iovec* parts, std::size_t count) const;
    void wait_for_room();
    [[noreturn]] void fail(int error) const;

    const StreamTarget target_;
    int fd_ = -1;
    Way way_ = Way::plain;
    std::uint64_t bytes_ = 0;
    std::int64_t moved_ns_ = 0; ///< time at which the reader last took data
    std::atomic<std::int64_t> hurried_ns_{0};
};

} // namespace specklescope
