// The texts that are published. Internal to net/.
#pragma once

#include "pipeline/sink.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

// Lines of JSON without their line's end; numbers that are not finite are null.
std::string stream_message(std::uint64_t n, const StreamInfo& stream);
std::string settings_message(std::uint64_t n, const Result& result, const StreamInfo& stream);
std::string frame_message(std::uint64_t n, const Result& result);
std::string event_message(std::uint64_t n, const EventMark& event);

} // namespace specklescope
