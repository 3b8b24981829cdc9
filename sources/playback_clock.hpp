// The capture times and the gaps of frames that are played back.
#pragma once

#include "files/recorded.hpp"
#include "pipeline/source.hpp"
#include "sources/pacer.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace specklescope {

/// One thread only. Times are those of the recording as long as they grow. Where they do not, at the start of
/// a new round or of another file, the clock goes on by one step. A file without times has the schedule's.
class PlaybackClock {
public:
    void restart() { *this = PlaybackClock{}; }
    /// The next frame is another file's: what lies between the two was not lost.
    void next_file() { sequence_.reset(); }

    /// Tells the port of frames that the recording lacks, and returns the time in ns of the next frame, which
    /// the pacer has let through. `rate`: the schedule's, as Pacer::take wants it.
    std::int64_t take(const Recorded& recorded, FramePort& port, Pacer& pacer, double rate) {
        if (const std::uint64_t lost = lost_between(sequence_, recorded); lost > 0)
            port.lost(lost, "");
        sequence_ = recorded.sequence;
        return time_of(recorded, pacer.take(rate), rate);
    }

private:
    std::int64_t time_of(const Recorded& recorded, std::int64_t scheduled, double rate) {
        if (!any_ && !recorded.capture_ns)
            return scheduled;
        const double nominal = rate > 0 ? rate : recorded.rate;
        if (!any_ && nominal > 0)
            step_ = std::llround(1e9 / nominal);
        std::int64_t time = last_ + step_;
        if (recorded.capture_ns) {
            if (any_ && *recorded.capture_ns + offset_ <= last_)
                offset_ = time - *recorded.capture_ns;
            time = *recorded.capture_ns + offset_;
            if (any_)
                step_ = time - last_;
        }
        any_ = true;
        last_ = time;
        return time;
    }

    std::optional<std::uint64_t> sequence_;
    std::int64_t last_ = 0, offset_ = 0;
    std::int64_t step_ = 1'000'000; ///< the last distance of two frames
    bool any_ = false;
};

} // namespace specklescope
