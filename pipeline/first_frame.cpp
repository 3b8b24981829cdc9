#include "pipeline/first_frame.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/timed_frames.hpp"

#include <spdlog/spdlog.h>

namespace specklescope {

std::uint64_t frame_at(double seconds, const SourceInfo& source) {
    if (!(source.rate > 0))
        throw UsageError(source.name + " does not say how many frames a second it has, so that " +
                         to_string(seconds) +
                         " s of it are unknown; say it with --rate, or give frames (--from).");
    constexpr double kRounding = 1e-6; // of a frame
    return static_cast<std::uint64_t>(seconds * source.rate + kRounding);
}

std::uint64_t begin_at(Source& source, std::uint64_t from, double seconds, SourceInfo& info) {
    if (from == 0 && seconds == 0)
        return 0;
    if (!info.seekable)
        source.seek(1, 0); // throws the reason
    std::uint64_t first = from;
    if (seconds > 0) {
        const std::optional<std::uint64_t> found = TimedFrames::find(source, seconds);
        first = found ? *found : frame_at(seconds, info);
        if (!found)
            run_log().info(
                "The frames of '{}' have no times of their own: at {:.6g} frames/s {} s is frame {}.",
                info.name, info.rate, to_string(seconds), first);
    }
    try {
        source.seek(first, 0);
    } catch (const UsageError& error) {
        if (seconds == 0)
            throw;
        throw UsageError(to_string(seconds) + " s is frame " + std::to_string(first) + ", and " +
                         error.what());
    }
    info.length = source.length(); // may have been counted now
    return first;
}

} // namespace specklescope
