// The files of one recording, in sequence, and their contents: disk space, derived frames, gaps. Used only
// by recorder.cpp, on the recorder's thread.
#pragma once

#include "pipeline/clock/clock_fit.hpp"
#include "recording/record_file.hpp"
#include "recording/screen/screen.hpp"

#include <optional>

namespace specklescope {

/// Free space on the disk of a recording.
class DiskRoom {
public:
    DiskRoom() = default;
    /// Keeps `keep_free` per cent free on the file system of `path`'s folder.
    DiskRoom(const std::string& path, double keep_free);

    /// Called before `bytes` are written into `file`, if it is there, which has `written` bytes so far: some
    /// of them may still be in memory. Reads the free space every 100 ms, or after 64 MiB. Does nothing if
    /// the size of the file system is unknown or `keep_free` is 0. Throws RunError if there is no room.
    void check(std::uint64_t bytes, const std::string& file = {}, std::uint64_t written = 0);
    /// Seconds until there is no room, after `written` bytes since the construction; NaN: not known yet.
    double left_s(std::uint64_t written) const;

private:
    void read();

    std::string path_, folder_;
    double keep_free_ = 0;
    bool known_ = false;
    std::uint64_t free_ = 0, kept_ = 0; ///< bytes, at the last read()
    std::uint64_t since_ = 0;           ///< bytes written since then
    SteadyClock::time_point began_{}, last_read_{};
};

/// Frames computed from others: the change against the baseline (100·(F/F₀ − 1) of each pixel in 32-bit
/// floats), the mask of saturated samples (255 where saturation_threshold() counts a raw sample, else 0),
/// images of the screen. The next call overwrites the pixels of a returned frame.
class DerivedFrames {
public:
    explicit DerivedFrames(const RecordOptions& options) : options_(options), painter_(options.marks) {}
    void begin(const StreamInfo& stream) { painter_.begin(stream); }
    /// `frame` itself if nothing is computed. Throws RunError if the baseline has another size or quantity.
    RecordedFrame of(const RecordedFrame& frame);

private:
    RecordedFrame change(const RecordedFrame& result);
    RecordedFrame mask(const RecordedFrame& raw);
    Frame slot(const Shape& shape);

    const RecordOptions& options_;
    ScreenPainter painter_;
    std::optional<FrameRing> ring_; ///< one slot
};

class RecordedFiles {
public:
    /// Both outlive this.
    RecordedFiles(const RecordOptions& options, const RecordFormat& format)
        : options_(options), format_(format), derived_(options) {}

    /// Resets all counts. Throws UsageError or RunError as in Sink::open().
    void open(const StreamInfo& stream);
    RecordedFrame derived(const RecordedFrame& frame) { return derived_.of(frame); }
    /// True if the recording would exceed its limit of bytes. It always contains at least one frame.
    bool is_full_for(const RecordedFrame& frame) const;
    /// False if the next frame would wait for the disk.
    bool has_room() const { return !writer_ || writer_->has_room(); }
    /// Begins the first or the next file if necessary. Returns the duration of the write in seconds. Throws
    /// RunError.
    double write(RecordedFrame& frame);
    /// Updates the totals in the current file. Throws RunError, also if the file was removed.
    void update(std::uint64_t dropped);
    /// Finishes the current file. `well`: no write has failed. Throws RunError.
    void finish(std::uint64_t dropped, bool well);
    /// Frames that were lost between the last frame in the file and frame `newest`.
    void count_lost_until(std::uint64_t newest, std::uint64_t dropped, std::uint64_t left_out);
    /// After a failed write: counts only frames in existing files.
    void recount() { progress_.written = ended_.written + (present() ? writer_->written() : 0); }

    /// path, before, written, seconds, lost_before, bytes, disk_left_s.
    const SinkStatus& progress() const { return progress_; }
    std::uint64_t last_sequence() const { return last_.sequence; }

private:
    bool present() const { return writer_ && writer_->present(); }
    void check_present() const;
    std::uint64_t bytes_of(const RecordedFrame& frame) const;
    bool is_another_kind(const RecordedFrame& frame) const;
    bool wants_next_file(const RecordedFrame& frame) const;
    void next_file(const RecordedFrame& first);
    void count_lost(std::uint64_t missing, std::uint64_t known);
    void end_file(const std::string& path, std::uint64_t frames, std::uint64_t bytes);
    FileTotals totals(std::uint64_t dropped) const;

    const RecordOptions& options_;
    const RecordFormat& format_;
    StreamInfo stream_;
    DerivedFrames derived_;
    DiskRoom disk_;
    std::unique_ptr<FileWriter> writer_;
    int next_number_ = 0; ///< first name to try for the next file: earlier names are taken
    SinkStatus progress_;
    std::optional<std::int64_t> begin_ns_; ///< time of the first frame written
    GrowingTime time_;
    struct {
        Shape shape;
        Quantity quantity;
        std::int64_t begin_ns = 0, now_ns = 0; ///< times of the first and the current frame
        std::uint64_t lost = 0, in_warmup = 0;
        ClockWatch clock;
    } file_; ///< current file
    struct {
        std::uint64_t written = 0, bytes = 0, dropped = 0;
        SinkFile last;
    } ended_; ///< all previous files
    struct {
        std::uint64_t sequence = 0, dropped = 0, left_out = 0;
        bool any = false;
        bool failed = false; ///< the frame is not in the file
    } last_;                 ///< last frame
};

} // namespace specklescope
