// What is told of results: the texts that are published, and what answers to requests have in common with
// them.
#pragma once

#include "pipeline/sink.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace specklescope {

// Lines of JSON without their line's end; numbers that are not finite are null.
std::string stream_message(std::uint64_t n, const StreamInfo& stream);
std::string settings_message(std::uint64_t n, const Result& result, const StreamInfo& stream);
std::string frame_message(std::uint64_t n, const Result& result);
std::string event_message(std::uint64_t n, const EventMark& event);

/// Adds to an object which frame it is, what was counted in it, and, where there are regions, the numbers of
/// each by its name. Those that are not finite become null when it is written.
void add_result(nlohmann::ordered_json& object, const Result& result);
/// Adds what an event is; of one that was removed that it is.
void add_event(nlohmann::ordered_json& object, const EventMark& event);

} // namespace specklescope
