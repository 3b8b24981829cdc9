// Names that stand for a stream, and the writing end of a pipe or of what else takes a stream. The reader may
// be slow, stand still or go away; nothing is created, renamed or replaced.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// "-", /dev/stdout, /dev/fd/N, a FIFO or /dev/null, with raw: or y4m: in front or without.
struct StreamTarget {
    enum class Kind : std::uint8_t { raw, y4m };
    Kind kind = Kind::raw; ///< without a prefix: y4m where the name ends in .y4m
    std::string text;      ///< as the user wrote it
    std::string path;      ///< without the prefix
    int descriptor = -1;   ///< of this process; -1: `path` is to be opened
};
/// Nothing where `text` names a file. What has a prefix is always a stream, whether or not there is one.
std::optional<StreamTarget> stream_target(const std::string& text);

/// Standard output belongs to streams from here on: what is printed there goes to standard error, whoever
/// prints it. Throws UsageError where it is a terminal, RunError where it is closed. A second call does
/// nothing.
void keep_output_for_streams();

class PipeEnd {
public:
    explicit PipeEnd(StreamTarget target) : target_(std::move(target)) {}
    PipeEnd(const PipeEnd&) = delete;
    PipeEnd& operator=(const PipeEnd&) = delete;
    ~PipeEnd() { close(); }

    enum class Reader : std::uint8_t {
        may_come, ///< it is waited for, as long as work_goes_on() allows it, which is said
        is_there  ///< or it is refused
    };
    /// Throws UsageError (no stream, a terminal), RunError, Cancelled.
    void open(Reader reader = Reader::may_come);
    /// All of it; waits for the reader. Throws RunError with the reason, and never leaves a signal behind.
    /// The parts are used up.
    void write(std::vector<iovec>& parts);
    void write(const std::string& text);
    /// Throws RunError where the reader is known to have gone.
    void check() const;
    /// From here on a reader that takes nothing for a second is not waited for. From any thread.
    void hurry() noexcept;
    void close() noexcept;

    const StreamTarget& target() const { return target_; }
    std::uint64_t bytes() const { return bytes_; } ///< of the writing thread

private:
    /// How a write is kept from waiting inside the system, where nobody could end it.
    enum class Way : std::uint8_t {
        plain,  ///< a file or a device: it waits for nobody
        ours,   ///< opened here, so that it may be set not to wait
        shared, ///< somebody else's pipe: as much as has room for certain
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
    std::int64_t moved_ns_ = 0; ///< when the reader last took something
    std::atomic<std::int64_t> hurried_ns_{0};
};

} // namespace specklescope
