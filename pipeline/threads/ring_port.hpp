// The acquisition thread's end of the queue: lends slots to the source and counts refused frames. Internal to
// pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

#include <chrono>
#include <cmath>
#include <new>
#include <utility>

namespace specklescope {

class RingPort final : public FramePort {
public:
    explicit RingPort(Flow& flow) : flow_(flow) {
        const std::scoped_lock lock(flow.mutex);
        ring_ = flow.ring;
        spare_ = ring_ ? flow.status.source.lends : 0;
        played_from_ = flow.playback.begins_at;
    }

    Frame acquire(const Shape& shape) override {
        check_shape(shape, "The frame from the source");
        const bool live = flow_.live;
        const bool room = provide(shape, 0);
        Frame frame = room ? ring_->try_acquire() : Frame();
        if (!frame && live) {
            if (!stopping()) {
                flow_.stats.no_slot.fetch_add(1, std::memory_order_relaxed);
                flow_.stats.acquisition.tick();
                ++sequence_;
            }
            return {};
        }
        while (room && !frame && may_wait())
            frame = ring_->acquire(std::chrono::milliseconds(50));
        return frame;
    }

    std::shared_ptr<FrameRing> ring(const Shape& shape, int more) override {
        check_shape(shape, "The frame from the source");
        return provide(shape, more) ? ring_ : nullptr;
    }

    void copied(std::string_view why) override { flow_.stats.copied(why); }

    void submit(Frame frame) override {
        if (frame.lent())
            flow_.stats.in_place.fetch_add(1, std::memory_order_relaxed);
        frame.info().sequence = sequence_++;
        frame.info().arrival = SteadyClock::now();
        frame.info().discontinuity = std::exchange(discontinuity_, false);
        if (ExposureOrigin& origin = frame.info().exposure_origin;
            origin == ExposureOrigin::unknown && std::isfinite(frame.info().exposure_ms))
            origin = flow_.live ? ExposureOrigin::camera : ExposureOrigin::file;
        flow_.stats.acquisition.tick(frame.info().arrival);
        position_ = frame.info().position;
        if (flow_.own_clock)
            flow_.stats.arrived(frame.info());
        Queued next{.frame = std::move(frame),
                    .epoch = flow_.playback.epoch,
                    .preroll = preroll(),
                    .refresh = refresh_ && !preroll(),
                    .played_from = played_from_,
                    .lost = std::exchange(lost_, 0)};
        if (!next.preroll) {
            target_ = 0;
            seeking_ = refresh_ = false;
        }
        delivered_ += next.preroll ? 0 : 1;
        if (!flow_.frames.try_enqueue(std::move(next))) { // does not move the frame when the queue is full
            flow_.stats.queue_grown.fetch_add(1, std::memory_order_relaxed);
            if (!flow_.frames.enqueue(std::move(next))) { // NOLINT(bugprone-use-after-move)
                flow_.stats.no_slot.fetch_add(1, std::memory_order_relaxed);
                throw std::bad_alloc();
            }
        }
        const int depth = static_cast<int>(flow_.frames.size_approx());
        if (depth > flow_.stats.queue_peak.load(std::memory_order_relaxed))
            flow_.stats.queue_peak.store(depth, std::memory_order_relaxed);
    }

    void lost(std::uint64_t frames, std::string_view why) override {
        if (preroll()) // between two hidden frames, or before the seek target
            return;
        if (flow_.live)
            flow_.stats.lost(frames, why);
        else // a later seek may discard the place where they were lost
            lost_ += frames;
        sequence_ += frames;
    }

    void settling(std::uint64_t frames) override {
        flow_.stats.settling.fetch_add(frames, std::memory_order_relaxed);
    }

    void discontinuity() override { discontinuity_ = true; }
    bool stopping() const override { return flow_.stop.load(); }

    /// Of the frame submitted last; nothing: not from a file.
    std::optional<std::uint64_t> position() const { return position_; }
    /// The source continues at `target`: frames before it only fill windows, and queued frames become
    /// obsolete.
    void begin_seek(std::uint64_t target, std::uint64_t seek, bool refresh) {
        begin_round(target);
        target_ = target;
        seeking_ = true;
        refresh_ = refresh;
        delivered_ = 0;
        flow_.playback.epoch = seek;
    }
    /// Pending seek target, until it is submitted.
    std::optional<std::uint64_t> seek_target() const {
        return seeking_ ? std::optional(played_from_) : std::nullopt;
    }
    /// Starts the next round of a loop: queued frames are still shown.
    void begin_round(std::uint64_t first) {
        discontinuity_ = true;
        played_from_ = first;
        target_ = 0;
        seeking_ = refresh_ = false;
        sequence_ -= std::exchange(lost_, 0); // lost before a frame that does not come
        position_.reset();
    }
    /// Last seek target, or first frame of the loop.
    std::uint64_t played_from() const { return played_from_; }
    /// Number of frames since the beginning or the last seek.
    std::uint64_t delivered() const { return delivered_; }

private:
    /// The frame submitted last precedes the seek target.
    bool preroll() const { return position_.value_or(target_) < target_; }
    /// False if a wait for a slot must end: at stop, before a seek (which frees the frames of a paused file)
    /// and before an edit of the source.
    bool may_wait() const {
        return !stopping() && !flow_.playback.seek_waits && flow_.source_edits.size_approx() == 0;
    }

    /// Makes ring_ fit this shape with `more` spare slots; false if memory is not available now.
    bool provide(const Shape& shape, int more) {
        if (ring_ && ring_->shape() == shape && more <= spare_)
            return true;
        if (ring_ && !room_for_another_ring(flow_.live))
            return false;
        renew(shape, more);
        return true;
    }

    /// A new size needs a new ring, while queued frames keep the old one. To limit the memory of a source
    /// whose size keeps changing, a file waits until the queue is empty, and a live source drops frames when
    /// the queue is as long as the ring.
    bool room_for_another_ring(bool live) {
        if (live)
            return flow_.frames.size_approx() < static_cast<std::size_t>(ring_->slots());
        while (flow_.frames.size_approx() > 0 && may_wait())
            flow_.sleep(std::chrono::milliseconds(1));
        return may_wait();
    }

    void renew(const Shape& shape, int more) {
        ring_.reset(); // frames in flight keep the old memory until released
        ring_ = make_ring(flow_, shape, more);
        spare_ = more;
    }

    Flow& flow_;
    std::shared_ptr<FrameRing> ring_;
    int spare_ = 0; ///< slots of ring_ beyond the pipeline's needs
    std::uint64_t sequence_ = 0;
    std::uint64_t delivered_ = 0;
    bool discontinuity_ = true;
    std::optional<std::uint64_t> position_;
    std::uint64_t target_ = 0; ///< of the last seek, until its frame arrives
    std::uint64_t lost_ = 0;   ///< frames of a file lost before the next frame
    bool seeking_ = false;
    bool refresh_ = false; ///< of the seek in progress
    std::uint64_t played_from_ = 0;
};

} // namespace specklescope
