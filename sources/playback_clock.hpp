// Capture times, gaps and invalid values of frames that are played back.
#pragma once

#include "base/log.hpp"
#include "files/recorded.hpp"
#include "pipeline/source.hpp"
#include "sources/pacer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// Uses the recorded times while they increase. A time that does not is doubtful: its frame is placed one
/// step after the last. The next frame decides: either its own time increases from the last good one, or the
/// clock was set back, and times continue by the difference of the two. At a new round or another file they
/// continue by one step. They never go back and are limited to kTooLate, so that invalid files cause no
/// overflow.
class PlaybackTimes {
public:
    bool any() const { return any_; }
    /// Step between two frames if the file does not state it; call before the first frame.
    void assume_step(double ns) { step_ = std::llround(std::min(ns, kLongestStep)); }
    /// Time of frames before the first recorded time.
    void assume_time(std::int64_t ns) {
        last_ = good_ = within(ns);
        before_ = true;
    }
    /// `follows`: the frame is the next one in its file, so that the difference is a step.
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
    /// True if the last frame's time did not increase.
    bool doubtful() const { return doubtful_; }
    std::int64_t step() const { return step_; }

private:
    static constexpr double kLongestStep = 1e18; ///< ns
    /// Keeps sums and differences of two times from overflowing.
    static std::int64_t within(std::int64_t ns) { return std::clamp(ns, 1 - kTooLate, kTooLate - 1); }
    std::int64_t last_ = 0, offset_ = 0;
    std::int64_t good_ = 0;         ///< the last time that was not doubtful
    std::int64_t back_ = 0;         ///< the previous doubtful time, as recorded
    std::int64_t step_ = 1'000'000; ///< the last difference between two frames
    bool any_ = false, before_ = false, doubtful_ = false, went_back_ = false;
};

/// Finds the frame of a file shown `seconds` after the first.
class TimeSearch {
public:
    explicit TimeSearch(double seconds) : goal_(std::llround(std::min(seconds * 1e9, 4e18)) + kSameTime) {}
    /// Adds the time of the next frame. False: no more are needed.
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
    /// The number of frames if all end earlier; nothing if a frame has no time.
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

/// One thread only. A file without times uses the schedule's.
class PlaybackClock {
public:
    void restart() { *this = PlaybackClock{}; }
    /// The recorded time of the first frame of the file; nothing: it has none. Call when the file is open.
    void starts_at(const std::optional<std::int64_t>& capture_ns) { first_ = capture_ns; }
    /// The next frame is from another file: a gap between the two is no loss.
    void next_file() { sequence_.reset(); }
    /// Call if the next frame is elsewhere in the file: a gap is then not a loss, and the difference is not
    /// a step.
    void jump() {
        sequence_.reset();
        follows_ = false;
    }

    /// Reports frames missing in the recording to the port, and sets the capture time and origin of the next
    /// frame, which the pacer has released. `rate` and `pace`: see Pacer::take. info.position is set already.
    void stamp(FrameInfo& info, const Recorded& recorded, FramePort& port, Pacer& pacer, double rate,
               double pace) {
        const std::uint64_t lost = lost_between(sequence_, recorded);
        if (lost > 0)
            port.lost(lost, "");
        sequence_ = recorded.sequence;
        info.film_ns = time_in_film(info.position.value_or(0), recorded, rate);
        if (!std::exchange(begun_, true) && rate > 0)
            pacer.begin_at(*info.film_ns); // a part of a film has the times of the whole one
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
    std::int64_t time_in_film(std::uint64_t frame, const Recorded& recorded, double rate) const {
        if (recorded.capture_ns && first_)
            return std::clamp(*recorded.capture_ns, -kTooLate, kTooLate) -
                   std::clamp(*first_, -kTooLate, kTooLate);
        const double nominal = rate > 0 ? rate : recorded.rate > 0 ? recorded.rate : 1;
        return std::llround(std::min(static_cast<double>(frame) / nominal * 1e9, 4e18));
    }

    PlaybackTimes times_;
    std::optional<std::int64_t> first_; ///< recorded time of the first frame
    std::optional<std::uint64_t> sequence_;
    bool follows_ = false, begun_ = false;
};

/// Logs invalid values of a recording that are ignored: each kind once, even if it is played repeatedly.
class InvalidValueLog {
public:
    /// `doubts`: RecordedText::doubts() of `file`.
    void log(const std::string& file, const std::vector<std::string_view>& doubts) {
        for (const std::string_view doubt : doubts) {
            if (std::find(logged_.begin(), logged_.end(), doubt) != logged_.end())
                continue;
            logged_.push_back(doubt);
            run_log().warn("'{}' has an impossible value, which is ignored: {}.", file, doubt);
        }
    }

private:
    std::vector<std::string_view> logged_; ///< static texts
};

} // namespace specklescope
