// Extra interface of sources whose frames may have their own times.
#pragma once

#include <cstdint>
#include <optional>

namespace specklescope {

class TimedFrames {
public:
    TimedFrames() = default;
    TimedFrames(const TimedFrames&) = delete;
    TimedFrames& operator=(const TimedFrames&) = delete;
    virtual ~TimedFrames() = default;
    /// Frame shown `seconds` after the first frame of a file, by the frames' own times; the number of frames
    /// if all end earlier. Nothing if they have no times. Call between Source::open() and the first seek; may
    /// read the whole file, with progress (WorkWatch). Throws RunError.
    virtual std::optional<std::uint64_t> frame_at(double seconds) = 0;

    /// The same for any source.
    template <class Source> static std::optional<std::uint64_t> find(Source& source, double seconds) {
        auto* timed = dynamic_cast<TimedFrames*>(&source);
        return timed ? timed->frame_at(seconds) : std::nullopt;
    }
};

} // namespace specklescope
