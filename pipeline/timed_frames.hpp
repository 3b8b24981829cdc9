// What a source also is whose frames may have times of their own.
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
    /// The frame that is shown so many seconds behind the first one of a file, by the frames' own times; the
    /// number of frames, where all end before. Nothing where they have none. Asked between Source::open() and
    /// the first seek; may read the whole file, as long work. Throws RunError.
    virtual std::optional<std::uint64_t> frame_at(double seconds) = 0;

    /// Of any source.
    template <class Source> static std::optional<std::uint64_t> find(Source& source, double seconds) {
        auto* timed = dynamic_cast<TimedFrames*>(&source);
        return timed ? timed->frame_at(seconds) : std::nullopt;
    }
};

} // namespace specklescope
