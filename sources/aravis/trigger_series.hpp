// Schedule of software triggers, and triggers without a frame.
#pragma once

#include "pipeline/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace specklescope {

/// Frames answer triggers in order. One thread only; outlives reconnections.
class TriggerSeries {
public:
    using Time = SteadyClock::time_point;
    using Duration = SteadyClock::duration;

    TriggerSeries() = default;
    /// `rate`: triggers/s, 0: only on request. `count`: number of triggers, 0: unlimited.
    TriggerSeries(double rate, std::uint64_t count) : count_(count) {
        if (rate > 0)
            period_ = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / rate));
    }

    void start(Time now) {
        running_ = period_ > Duration::zero();
        next_ = now;
    }
    void stop() { running_ = false; }
    void request() { ++requested_; }

    bool due(Time now) const { return requested_ > 0 || (going() && now >= next_); }
    /// Time until the next trigger, at most `longest`.
    Duration wait(Time now, Duration longest) const {
        if (due(now))
            return Duration::zero();
        return going() ? std::min(longest, next_ - now) : longest;
    }
    void sent(Time now) {
        waiting_.push_back(now);
        if (requested_ > 0) {
            --requested_;
            return;
        }
        ++sent_;
        // After a pause there is no burst to catch up.
        next_ = now - next_ > kBurst ? now + period_ : next_ + period_;
    }
    /// Call for `frames` received or lost frames. Returns how many of them, the first ones, answer triggers
    /// that were already counted as lost after a timeout.
    std::uint64_t answered(std::uint64_t frames) {
        const std::uint64_t some = std::min<std::uint64_t>(frames, waiting_.size());
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(some));
        const std::uint64_t late = std::min(frames - some, expired_);
        expired_ -= late;
        return late;
    }
    /// Counts triggers as lost that have waited longer than `patience`; returns their number.
    std::uint64_t expire(Time now, Duration patience) {
        std::uint64_t count = 0;
        for (; !waiting_.empty() && now - waiting_.front() > patience; ++count)
            waiting_.pop_front();
        expired_ += count;
        return count;
    }
    /// Counts all pending triggers as lost, since the camera is gone; returns their number.
    std::uint64_t abort_all() {
        const std::uint64_t count = waiting_.size();
        waiting_.clear();
        expired_ = 0;
        return count;
    }
    /// All requested triggers are sent, and each is answered or counted as lost.
    bool finished() const { return count_ > 0 && sent_ >= count_ && waiting_.empty(); }

private:
    bool going() const { return running_ && (count_ == 0 || sent_ < count_); }

    static constexpr Duration kBurst = std::chrono::milliseconds(100);
    Duration period_{};
    std::uint64_t count_ = 0, sent_ = 0, requested_ = 0;
    bool running_ = false;
    Time next_{};
    std::deque<Time> waiting_;  ///< send times of unanswered triggers
    std::uint64_t expired_ = 0; ///< timed-out triggers that this camera may still answer
};

} // namespace specklescope
