// The capture times and the gaps of frames that are played back.
#pragma once

#include "files/recorded.hpp"
#include "pipeline/source.hpp"
#include "sources/pacer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace specklescope {

/// Times are those of the recording as long as they grow. One that does not is doubtful: its frame is one
/// step after the last. The next frame decides: either its own time grows from the last good one, or the
/// clock was set back, and times continue by what lies between the two. At the start of a new round or of
/// another file they continue by one step. They never go back, and end before kTooLate, where they stay: a
/// wrong file does not overflow them.
class PlaybackTimes {
public:
    bool any() const { return any_; }
    /// Between two frames, where the file does not tell; before the first.
    void assume_step(double ns) { step_ = std::llround(std::min(ns, kLongestStep)); }
    /// Before the first one that is recorded, frames have this time.
    void assume_time(std::int64_t ns) {
        last_ = good_ = within(ns);
        before_ = true;
    }
    /// `follows`: the frame is the one behind the last in its file, so that their distance is a step.
    std::int64_t next(const std::optional<std::int64_t>& recorded, bool follows) {
        std::int64_t time = within(last_ + step_);
        doubtful_ = false;
        if (recorded && *recorded == within(*recorded)) {
            const bool begun = any_ || before_;
            const bool back = begun && *recorded + offset_ <= good_;
            doubtful_ = back && any_ && follows && !(went_back_ && *recorded > back_);
            if (doubtful_) {
                back_ = *recorded;
                went_back_ = true;
            } else {
                if (back)
                    offset_ = within(went_back_ && follows ? last_ - back_ : time - *recorded);
                time = within(*recorded + offset_);
                if (begun)
                    time = std::max(time, within(last_ + 1));
                if (any_ && follows && !went_back_)
                    step_ = within(time - last_);
                good_ = time;
                went_back_ = false;
            }
        }
        any_ = true;
        return last_ = time;
    }
    /// The last frame had a time that did not grow.
    bool doubtful() const { return doubtful_; }
    std::int64_t step() const { return step_; }

private:
    static constexpr double kLongestStep = 1e18; ///< ns
    /// So that the sum and the difference of any two do not overflow.
    static std::int64_t within(std::int64_t ns) { return std::clamp(ns, 1 - kTooLate, kTooLate - 1); }
    std::int64_t last_ = 0, offset_ = 0;
    std::int64_t good_ = 0;         ///< the last that was not doubtful
    std::int64_t back_ = 0;         ///< the doubtful one before, as recorded
    std::int64_t step_ = 1'000'000; ///< the last distance of two frames
    bool any_ = false, before_ = false, doubtful_ = false, went_back_ = false;
};

/// Looks for the frame of a file that is shown so many seconds behind the first.
class TimeSearch {
public:
    explicit TimeSearch(double seconds) : goal_(std::llround(std::min(seconds * 1e9, 4e18)) + kSameTime) {}
    /// The time of the next frame. False: no more of them are needed.
    bool add(const std::optional<std::int64_t>& recorded) {
        timeless_ = !recorded;
        if (timeless_)
            return false;
        const std::int64_t time = times_.next(recorded, frames_ > 0);
        if (frames_ == 0)
            first_ = time;
        found_ = time - first_ > goal_;
        if (found_)
            return false;
        ++frames_;
        last_ = time;
        return true;
    }
    /// The number of frames, where all end before; nothing where one says no time.
    std::optional<std::uint64_t> frame() const {
        if (timeless_ || frames_ == 0)
            return std::nullopt;
        const bool behind = !found_ && goal_ - (last_ - first_) >= times_.step();
        return behind ? frames_ : frames_ - 1;
    }

private:
    static constexpr std::int64_t kSameTime = 1000; ///< ns
    PlaybackTimes times_;
    std::int64_t goal_, first_ = 0, last_ = 0;
    std::uint64_t frames_ = 0;
    bool timeless_ = false, found_ = false;
};

/// One thread only. A file without times has the schedule's.
class PlaybackClock {
public:
    void restart() { *this = PlaybackClock{}; }
    /// The next frame is another file's: what lies between the two was not lost.
    void next_file() { sequence_.reset(); }
    /// The next frame lies elsewhere in the file: nor is its distance from the last a step.
    void jump() {
        sequence_.reset();
        follows_ = false;
    }

    /// Tells the port of frames that the recording lacks, and gives the next frame, which the pacer has let
    /// through, its capture time and its origin. `rate` and `pace`: as Pacer::take wants them.
    void stamp(FrameInfo& info, const Recorded& recorded, FramePort& port, Pacer& pacer, double rate,
               double pace) {
        const std::uint64_t lost = lost_between(sequence_, recorded);
        if (lost > 0)
            port.lost(lost, "");
        sequence_ = recorded.sequence;
        const std::int64_t scheduled = pacer.take(rate, pace);
        const bool follows = std::exchange(follows_, true) && lost == 0;
        if (!times_.any() && !recorded.capture_ns) {
            times_.assume_time(scheduled);
            info.capture_ns = scheduled;
            info.time_origin = rate > 0 ? TimeOrigin::parameter : TimeOrigin::none;
            return;
        }
        if (const double nominal = rate > 0 ? rate : recorded.rate; !times_.any() && nominal > 0)
            times_.assume_step(1e9 / nominal);
        info.capture_ns = times_.next(recorded.capture_ns, follows);
        info.time_origin = times_.doubtful() ? TimeOrigin::parameter : TimeOrigin::source;
    }

private:
    PlaybackTimes times_;
    std::optional<std::uint64_t> sequence_;
    bool follows_ = false;
};

} // namespace specklescope
