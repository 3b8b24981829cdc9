#include "pipeline/first_frame.hpp"

#include "base/error.hpp"

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
        source.seek(1, 0); // says why not
    const std::uint64_t first = seconds > 0 ? frame_at(seconds, info) : from;
    try {
        source.seek(first, 0);
    } catch (const UsageError& error) {
        if (seconds == 0)
            throw;
        throw UsageError(to_string(seconds) + " s is frame " + std::to_string(first) + ", and " +
                         error.what());
    }
    info.length = source.length(); // it may have been counted
    return first;
}

} // namespace specklescope
