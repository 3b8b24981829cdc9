// The processing thread's end of the queue: the next frame to process. Discards frames that a seek made
// obsolete. Internal to pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

#include <chrono>
#include <utility>

namespace specklescope {

/// Why a frame is processed.
struct Purpose {
    bool repeated = false;   ///< the displayed image again
    bool unseen = false;     ///< Queued::unseen
    std::uint64_t lands = 0; ///< number of the seek whose first frame it is; 0: none
    std::uint64_t epoch = 0; ///< Queued::epoch
};

class Incoming {
public:
    explicit Incoming(Flow& flow) : flow_(flow) {}

    /// A seek target is pending: it is shown even while paused.
    bool landing() const { return landed_ != flow_.epoch; }
    bool holds() const { return static_cast<bool>(next_.frame); }
    bool empty() const { return !holds() && flow_.frames.size_approx() == 0; }

    /// True if there is a frame to process. Discards and counts one that is obsolete after a seek or a new
    /// loop.
    bool look(std::chrono::milliseconds patience) {
        if (!holds() && !(patience.count() > 0 ? flow_.frames.wait_dequeue_timed(next_, patience)
                                               : flow_.frames.try_dequeue(next_)))
            return false;
        if (next_.epoch == flow_.epoch && !behind_the_loop())
            return true;
        cut_ = cut_ || next_.epoch == flow_.epoch;
        pass_over(std::exchange(next_, {}).lost);
        return false;
    }

    /// Takes the frame found by look(). Sequence numbers reveal drops, so hidden frames have none. Uses one
    /// step of a paused file, unless the frame is a seek target.
    std::pair<Frame, Purpose> begin() {
        Queued taken = std::exchange(next_, {});
        FrameInfo& info = taken.frame.info();
        info.sequence -= passed_over_;
        info.discontinuity = std::exchange(cut_, false) || info.discontinuity;
        Purpose purpose{.unseen = taken.unseen, .epoch = taken.epoch};
        if (taken.unseen) {
            pass_over(taken.lost);
            return {std::move(taken.frame), purpose};
        }
        flow_.stats.lost_by_source.fetch_add(taken.lost, std::memory_order_relaxed);
        if (landed_ != taken.epoch) {
            purpose.lands = landed_ = taken.epoch;
        } else {
            int steps = flow_.steps;
            while (flow_.paused && steps > 0 && !flow_.steps.compare_exchange_weak(steps, steps - 1)) {
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
    bool behind_the_loop() const {
        const std::optional<std::uint64_t> position = next_.frame.info().position;
        const std::optional<LoopRange> loop = position ? flow_.looped() : std::nullopt;
        return loop && beyond(*loop, *position, next_.landed);
    }
    /// Discards one frame and the `lost` frames before it, which are not shown.
    void pass_over(std::uint64_t lost) {
        passed_over_ += 1 + lost;
        flow_.stats.passed_over.fetch_add(1, std::memory_order_relaxed);
    }

    Flow& flow_;
    Queued next_;                   ///< taken from the queue, not yet processed
    std::uint64_t landed_ = 0;      ///< last seek whose frame was started
    std::uint64_t passed_over_ = 0; ///< sequence numbers of hidden frames so far
    bool cut_ = false;              ///< the next frame does not follow: frames before it were discarded
};

} // namespace specklescope
