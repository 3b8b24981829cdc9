#include "pipeline/source.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <spdlog/spdlog.h>

namespace specklescope {

void Source::set(std::string_view name, const ParamValue& value) {
    if (!params_.has_table())
        throw UsageError("This source has no options, so '" + std::string(name) + "' cannot be set.");
    if (params_.table().at(name).cost == Cost::rebuild)
        throw UsageError(params_.table().owner() + ": " + std::string(name) +
                         " cannot change while the source is open. Open it again.");
    params_.set(name, value);
}

void Source::seek(std::uint64_t /*frame*/, std::uint64_t /*at_once*/) {
    throw UsageError("No frame of this source can be chosen: that takes a file, or a simulated scene with "
                     "live=false.");
}

void need_seconds(const SourceInfo& source, const std::string& what) {
    if (source.time_origin == TimeOrigin::none)
        throw UsageError(what + " needs seconds, and the frame rate of '" + source.name +
                         "' is unknown. Give it with --rate.");
}

void refuse_frame(const std::string& name, std::uint64_t frame, std::uint64_t length) {
    throw UsageError("'" + name + "' has no frame " + std::to_string(frame) + "; allowed: 0" +
                     (length > 1 ? "…" + std::to_string(length - 1) : std::string()) + ".");
}

std::uint64_t frame_at(double seconds, const SourceInfo& source) {
    if (!(source.rate > 0))
        throw UsageError(source.name + " states no frame rate, so the frame at " + to_string(seconds) +
                         " s is unknown. Set --rate, or use --from.");
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
