// The processing thread's end of the queue: the next frame to be computed, and those that a seek has made
// unwanted. Internal to pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

#include <chrono>
#include <utility>

namespace specklescope {

/// What a frame is computed for.
struct Purpose {
    bool repeated = false;   ///< the picture on show once more
    bool unseen = false;     ///< Queued::unseen
    std::uint64_t lands = 0; ///< the epoch whose first frame it is, of a seek; 0: of none
    std::uint64_t epoch = 0; ///< Queued::epoch
};

class Incoming {
public:
    explicit Incoming(Flow& flow) : flow_(flow) {}

    /// A frame that was sought is on its way: it is shown whatever stands still.
    bool landing() const { return landed_ != flow_.epoch; }
    bool holds() const { return static_cast<bool>(next_.frame); }
    bool empty() const { return !holds() && flow_.frames.size_approx() == 0; }

    /// True if there is a frame to begin. One that a seek has overtaken, or a loop that was set meanwhile, is
    /// let go, counted.
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

    /// The frame that look() found. Numbers tell of drops, so frames that nobody sees have none. It takes one
    /// of the steps of a paused file, unless it was sought.
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

    /// Lets go of the one held; false if there is none.
    bool discard_held() { return static_cast<bool>(std::exchange(next_, {}).frame); }
    /// Lets go of one, held or queued; false if there is none.
    bool discard() {
        const bool any = holds() || flow_.frames.try_dequeue(next_);
        next_ = {};
        return any;
    }

private:
    /// Read ahead before the loop was set, or its end moved.
    bool behind_the_loop() const {
        const std::optional<std::uint64_t> position = next_.frame.info().position;
        const std::optional<LoopRange> loop = position ? flow_.looped() : std::nullopt;
        return loop && beyond(*loop, *position, next_.landed);
    }
    /// One frame, and what was `lost` in front of it: of a place that nobody sees.
    void pass_over(std::uint64_t lost) {
        passed_over_ += 1 + lost;
        flow_.stats.passed_over.fetch_add(1, std::memory_order_relaxed);
    }

    Flow& flow_;
    Queued next_;                   ///< taken from the queue, not yet begun
    std::uint64_t landed_ = 0;      ///< the last seek whose frame was begun
    std::uint64_t passed_over_ = 0; ///< numbers of frames that nobody sees, up to now
    bool cut_ = false;              ///< the next frame does not follow: those in front of it were let go
};

} // namespace specklescope
