// The acquisition thread's end of the queue: lends slots to the source, and counts what it must refuse.
// Internal to pipeline/.
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
        landed_ = flow.begins_at;
    }

    Frame acquire(const Shape& shape) override {
        check_shape(shape, "The frame from the source");
        const bool live = flow_.live();
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
        while (room && !frame && wanted())
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
            origin = flow_.live() ? ExposureOrigin::camera : ExposureOrigin::file;
        flow_.stats.acquisition.tick(frame.info().arrival);
        position_ = frame.info().position;
        if (flow_.own_clock())
            flow_.stats.arrived(frame.info());
        Queued next{.frame = std::move(frame),
                    .epoch = flow_.epoch,
                    .unseen = unseen(),
                    .landed = landed_,
                    .lost = std::exchange(lost_, 0)};
        if (!next.unseen) {
            target_ = 0;
            landing_ = false;
        }
        delivered_ += next.unseen ? 0 : 1;
        if (!flow_.frames.try_enqueue(std::move(next))) { // leaves the frame alone when there is no room
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
        if (unseen()) // between two that nobody sees, or before the one that was sought
            return;
        if (flow_.live())
            flow_.stats.lost(frames, why);
        else // a seek may yet take the place away where they were lost
            lost_ += frames;
        sequence_ += frames;
    }

    void discontinuity() override { discontinuity_ = true; }
    bool stopping() const override { return flow_.stop.load(); }

    /// Of the frame submitted last; nothing: of no file.
    std::optional<std::uint64_t> position() const { return position_; }
    /// The source goes on elsewhere: frames in front of `target` are for histories, those queued now for
    /// nobody.
    void landed(std::uint64_t target, std::uint64_t seek) {
        begins_again(target);
        target_ = target;
        landing_ = true;
        delivered_ = 0;
        flow_.epoch = seek;
    }
    /// The frame that was sought last, until it is submitted.
    std::optional<std::uint64_t> landing() const { return landing_ ? std::optional(landed_) : std::nullopt; }
    /// The next round of a loop: what is queued is to be seen.
    void begins_again(std::uint64_t first) {
        discontinuity_ = true;
        landed_ = first;
        target_ = 0;
        landing_ = false;
        sequence_ -= std::exchange(lost_, 0); // in front of a frame that does not come
        position_.reset();
    }
    /// The frame sought last, or the first of the loop.
    std::uint64_t landed() const { return landed_; }
    /// Since the beginning, or the last seek.
    std::uint64_t delivered() const { return delivered_; }

private:
    /// The frame submitted last was in front of the one that was sought.
    bool unseen() const { return position_.value_or(target_) < target_; }
    /// A frame, by whoever waits: not at the stop, nor before a seek, which frees what a paused file holds,
    /// nor before an edit of the source, which takes effect meanwhile.
    bool wanted() const { return !stopping() && !flow_.seek_waits && flow_.source_edits.size_approx() == 0; }

    /// Makes ring_ one of this shape that can spare `more` slots; false if there is no room for it now.
    bool provide(const Shape& shape, int more) {
        if (ring_ && ring_->shape() == shape && more <= spare_)
            return true;
        if (ring_ && !room_for_another_ring(flow_.live()))
            return false;
        renew(shape, more);
        return true;
    }

    /// A new size brings a new ring of free slots. What is queued keeps the old ones, so that a source whose
    /// size keeps changing would never run out: a file waits until the queue is empty, a live source drops
    /// when it is as long as the ring.
    bool room_for_another_ring(bool live) {
        if (live)
            return flow_.frames.size_approx() < static_cast<std::size_t>(ring_->slots());
        while (flow_.frames.size_approx() > 0 && wanted())
            flow_.sleep(std::chrono::milliseconds(1));
        return wanted();
    }

    void renew(const Shape& shape, int more) {
        ring_.reset(); // frames in flight keep the old memory until they are home
        ring_ = make_ring(flow_, shape, more);
        spare_ = more;
    }

    Flow& flow_;
    std::shared_ptr<FrameRing> ring_;
    int spare_ = 0; ///< slots of ring_ beyond what the pipeline needs
    std::uint64_t sequence_ = 0;
    std::uint64_t delivered_ = 0;
    bool discontinuity_ = true;
    std::optional<std::uint64_t> position_;
    std::uint64_t target_ = 0; ///< of the last seek, until that frame is there
    std::uint64_t lost_ = 0;   ///< in front of the next frame, of a file
    bool landing_ = false;
    std::uint64_t landed_ = 0;
};

} // namespace specklescope
