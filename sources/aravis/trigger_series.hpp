// When to send software triggers, and which of them no frame has answered.
#pragma once

#include "pipeline/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace specklescope {

/// Frames answer triggers in the order in which those were sent. One thread only; outlives a camera that
/// goes away and comes back.
class TriggerSeries {
public:
    using Time = SteadyClock::time_point;
    using Duration = SteadyClock::duration;

    TriggerSeries() = default;
    /// `rate`: triggers/s, 0: on request only. `count`: of them, 0: without end.
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
    /// Until one is due, at most `longest`.
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
        // Behind a pause no burst makes up for it.
        next_ = now - next_ > kBurst ? now + period_ : next_ + period_;
    }
    /// So many frames came, or are known to be lost. Returns how many of them, the first ones, answer
    /// triggers that had been given up: whoever did that has counted them.
    std::uint64_t answered(std::uint64_t frames) {
        const std::uint64_t some = std::min<std::uint64_t>(frames, waiting_.size());
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(some));
        const std::uint64_t late = std::min(frames - some, given_up_);
        given_up_ -= late;
        return late;
    }
    /// Gives up those that have waited longer than `patience`; returns their number.
    std::uint64_t give_up(Time now, Duration patience) {
        std::uint64_t count = 0;
        for (; !waiting_.empty() && now - waiting_.front() > patience; ++count)
            waiting_.pop_front();
        given_up_ += count;
        return count;
    }
    /// Gives up all: the camera has gone, and answers none of them.
    std::uint64_t give_up_all() {
        const std::uint64_t count = waiting_.size();
        waiting_.clear();
        given_up_ = 0;
        return count;
    }
    /// All that were wanted are sent, and each is answered or given up.
    bool finished() const { return count_ > 0 && sent_ >= count_ && waiting_.empty(); }

private:
    bool going() const { return running_ && (count_ == 0 || sent_ < count_); }

    static constexpr Duration kBurst = std::chrono::milliseconds(100);
    Duration period_{};
    std::uint64_t count_ = 0, sent_ = 0, requested_ = 0;
    bool running_ = false;
    Time next_{};
    std::deque<Time> waiting_;   ///< when those were sent that no frame has answered
    std::uint64_t given_up_ = 0; ///< of those that this camera may yet answer
};

} // namespace specklescope
