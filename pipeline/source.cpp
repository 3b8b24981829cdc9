#include "pipeline/source.hpp"

#include "base/error.hpp"

namespace specklescope {

void Source::set(std::string_view name, const ParamValue& value) {
    if (!params_.has_table())
        throw UsageError("This source has no options, so '" + std::string(name) + "' cannot be set.");
    params_.set(name, value);
}

void Source::seek(std::uint64_t /*frame*/, std::uint64_t /*at_once*/) {
    throw UsageError("No frame of this source can be chosen: that takes a file, or a simulated scene with "
                     "live=false.");
}

void need_seconds(const SourceInfo& source, const std::string& what) {
    if (source.time_origin == TimeOrigin::none)
        throw UsageError(what + " needs seconds, and nobody states how fast the frames of '" + source.name +
                         "' came. Give their rate with --rate.");
}

void refuse_frame(const std::string& name, std::uint64_t frame, std::uint64_t length) {
    throw UsageError("'" + name + "' has no frame " + std::to_string(frame) + "; allowed: 0" +
                     (length > 1 ? "…" + std::to_string(length - 1) : std::string()) + ".");
}

} // namespace specklescope
