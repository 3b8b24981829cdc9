// Frames from before the button was pressed: copies of the last raw frames, with which a recording of raw
// frames begins.
#pragma once

#include "recording/record_file.hpp"

#include <deque>
#include <mutex>
#include <vector>

namespace specklescope {

/// A sink that keeps copies of the frames of the last seconds of capture time in its own memory, never more
/// than its limit. Memory is allocated in blocks when necessary. A gap that the source declares, or another
/// size, empties it.
class PreTrigger final : public Sink {
public:
    static constexpr std::uint64_t kBlockBytes = std::uint64_t{16} << 20;

    PreTrigger(double seconds, std::uint64_t most_bytes) : seconds_(seconds), most_(most_bytes) {}

    /// Throws UsageError if frames have no times, RunError if rate and size of the source are known and the
    /// machine has too little memory for them.
    void open(const StreamInfo& stream) override;
    /// Called on the processing thread: copies the raw frame.
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override;
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override { return {}; }

    /// Limits from the next frame on; a smaller one discards all frames.
    void set(double seconds, std::uint64_t most_bytes);

    // For a recorder, on the processing thread.
    /// Moves out the frames of the last seconds before this one, in order. Nothing is kept until resume():
    /// the recorder uses the memory.
    std::deque<RecordedFrame> take(const FrameInfo& before);
    /// Replaces `pixels` by a copy in that memory; false if there is no room.
    bool copy(Frame& pixels);
    void resume();

    struct Fill {
        std::uint64_t frames = 0, bytes = 0;
        double seconds = 0;   ///< from the oldest frame to the newest
        bool limited = false; ///< fewer seconds than wanted: the memory is full
        bool lent = false;    ///< a recording uses the frames
    };
    Fill fill() const; ///< from any thread

private:
    Frame room(const Shape& shape);
    Frame free_slot();
    bool grow(const Shape& shape);
    std::int64_t oldest_for(const FrameInfo& newest) const;
    void forget_older_than(std::int64_t capture_ns);
    void clear();

    mutable std::mutex mutex_;
    double seconds_;
    std::uint64_t most_;
    std::deque<RecordedFrame> frames_;
    int lent_ = 0;
    bool smaller_ = false; ///< a limit became smaller than the allocated blocks
    bool limited_ = false;
    // Used by the processing thread only.
    std::vector<FrameRing> blocks_;
    std::size_t block_ = 0;   ///< the block that last had room
    std::uint64_t taken_ = 0; ///< bytes of all blocks
    Shape shape_;
};

} // namespace specklescope
