// Our stage and another library's on the same frames, in turn; rows for `specklescope bench --peers`.
#pragma once

#include "bench/cases.hpp"
#include "bench/timing.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace specklescope::bench {

/// `theirs(i)` does the work for frame i of those it was given. Rounds of both take turns, so that a change
/// of the machine's pace meets both.
nlohmann::ordered_json compare(const std::string& work, const Shape& shape, const std::string& peer,
                               const std::function<void(int)>& ours, const std::function<void(int)>& theirs);

/// The same for a stage of the host: `make_theirs` gets the frames and an output of the stage's shape.
using HostPeer =
    std::function<std::function<void(int)>(const std::vector<Frame>& inputs, const Frame& output)>;
nlohmann::ordered_json compare_on_host(const std::string& work, const Shape& shape, const std::string& peer,
                                       const HostPeer& make_theirs);

} // namespace specklescope::bench
