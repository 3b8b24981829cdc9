// The processing thread's end of the queue: the next frame to process. Discards frames that a seek made
// obsolete. Internal to pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

#include <chrono>
#include <utility>

namespace specklescope {

/// Why a frame is processed.
struct Purpose {
    bool repeated = false;           ///< the displayed image again
    bool preroll = false;            ///< Queued::preroll
    bool refresh = false;            ///< Queued::refresh: the displayed image again, with filled windows
    std::uint64_t first_of_seek = 0; ///< number of the seek whose first frame it is; 0: none
    std::uint64_t epoch = 0;         ///< Queued::epoch
};

class Incoming {
public:
    explicit Incoming(Flow& flow) : flow_(flow) {}

    /// A seek target is pending: it is shown even while paused.
    bool seek_pending() const { return last_seek_ != flow_.playback.epoch; }
    bool holds() const { return static_cast<bool>(next_.frame); }
    bool empty() const { return !holds() && flow_.frames.size_approx() == 0; }

    /// True if there is a frame to process. Discards and counts one that is obsolete after a seek or a new
    /// loop.
    bool find_next(std::chrono::milliseconds patience) {
        if (!holds() && !(patience.count() > 0 ? flow_.frames.wait_dequeue_timed(next_, patience)
                                               : flow_.frames.try_dequeue(next_)))
            return false;
        if (next_.epoch == flow_.playback.epoch && !beyond_loop())
            return true;
        gap_ = gap_ || next_.epoch == flow_.playback.epoch;
        drop_hidden(std::exchange(next_, {}).lost);
        return false;
    }

    /// Takes the frame found by find_next(). Sequence numbers reveal drops, so hidden frames have none. Uses
    /// one step of a paused file, unless the frame is a seek target.
    std::pair<Frame, Purpose> take() {
        Queued taken = std::exchange(next_, {});
        FrameInfo& info = taken.frame.info();
        info.sequence -= passed_over_;
        info.discontinuity = std::exchange(gap_, false) || info.discontinuity;
        Purpose purpose{.preroll = taken.preroll, .refresh = taken.refresh, .epoch = taken.epoch};
        if (taken.preroll || taken.refresh) {
            drop_hidden(taken.lost);
            if (taken.refresh)
                purpose.first_of_seek = last_seek_ = taken.epoch;
            return {std::move(taken.frame), purpose};
        }
        flow_.stats.lost_by_source.fetch_add(taken.lost, std::memory_order_relaxed);
        if (last_seek_ != taken.epoch) {
            purpose.first_of_seek = last_seek_ = taken.epoch;
        } else {
            Playback& playback = flow_.playback;
            int steps = playback.steps;
            while (playback.paused && steps > 0 && !playback.steps.compare_exchange_weak(steps, steps - 1)) {
            }
        }
        return {std::move(taken.frame), purpose};
    }

    /// Discards the held frame; false if there is none.
    bool discard_held() { return static_cast<bool>(std::exchange(next_, {}).frame); }
    /// Discards one frame, held or queued; false if there is none.
    bool discard() {
        const bool any = holds() || flow_.frames.try_dequeue(next_);
        next_ = {};
        return any;
    }

private:
    /// The frame was read ahead before the loop was set or its end moved.
    bool beyond_loop() const {
        const std::optional<std::uint64_t> position = next_.frame.info().position;
        const std::optional<LoopRange> loop = position ? flow_.looped() : std::nullopt;
        return loop && beyond(*loop, *position, next_.played_from);
    }
    /// Discards one frame and the `lost` frames before it, which are not shown.
    void drop_hidden(std::uint64_t lost) {
        passed_over_ += 1 + lost;
        flow_.stats.passed_over.fetch_add(1, std::memory_order_relaxed);
    }

    Flow& flow_;
    Queued next_;                   ///< taken from the queue, not yet processed
    std::uint64_t last_seek_ = 0;   ///< last seek whose frame was started
    std::uint64_t passed_over_ = 0; ///< sequence numbers of hidden frames so far
    bool gap_ = false;              ///< the next frame does not follow: frames before it were discarded
};

} // namespace specklescope
