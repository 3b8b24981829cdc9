// What came before the button: copies of the last raw frames, which a recording of raw frames begins with.
#pragma once

#include "recording/record_file.hpp"

#include <deque>
#include <mutex>
#include <vector>

namespace specklescope {

/// A sink that keeps the frames of the last seconds, by their capture times, in memory of its own: no slot of
/// the pipeline's ring, and never more than it was given. Memory is taken as it is needed, a block at a time.
/// A gap that the source declares, or another size, empties it.
class PreTrigger final : public Sink {
public:
    static constexpr std::uint64_t kBlockBytes = std::uint64_t{16} << 20;

    PreTrigger(double seconds, std::uint64_t most_bytes) : seconds_(seconds), most_(most_bytes) {}

    /// Throws UsageError where its frames have no times, and RunError where the source's rate and size are
    /// known and the machine has less memory than that takes.
    void open(const StreamInfo& stream) override;
    /// On the processing thread: one copy of the raw frame.
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override;
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override { return {}; }

    /// Other limits from the next frame on; where one is smaller, what was kept goes.
    void set(double seconds, std::uint64_t most_bytes);

    // For a recorder, on the processing thread.
    /// The frames of the last seconds before this one, in order, out of here. From then on nothing is kept
    /// until resume(): the memory is the recorder's.
    std::deque<RecordedFrame> take(const FrameInfo& before);
    /// Puts a copy in that memory in place of `pixels`; false where there is no room.
    bool copy(Frame& pixels);
    void resume();

    struct Fill {
        std::uint64_t frames = 0, bytes = 0;
        double seconds = 0;   ///< from the oldest frame to the newest
        bool limited = false; ///< fewer seconds than asked for: the memory is full
        bool lent = false;    ///< a recording has them
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
    bool smaller_ = false; ///< than what there are blocks for
    bool limited_ = false;
    // Of the processing thread alone.
    std::vector<FrameRing> blocks_;
    std::size_t block_ = 0;   ///< the one that had room last
    std::uint64_t taken_ = 0; ///< bytes of all blocks
    Shape shape_;
};

} // namespace specklescope
