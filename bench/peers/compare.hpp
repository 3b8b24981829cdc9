// Our stage and another library's on the same frames, in turn; rows for `specklescope bench --peers`.
#pragma once

#include "bench/cases.hpp"
#include "bench/timing.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace specklescope::bench {

/// Milliseconds that `calls` take, until their work is done.
using Clock = std::function<double(const std::function<void()>& calls)>;
double wall_ms(const std::function<void()>& calls);

/// `theirs(i)` does the work for frame i of those it was given. Rounds of both take turns, so that a change
/// of the machine's pace meets both.
nlohmann::ordered_json compare(const std::string& work, const Shape& shape, const std::string& peer,
                               const std::function<void(int)>& ours, const std::function<void(int)>& theirs,
                               const Clock& clock = wall_ms);

/// The same for a stage of the host: `make_theirs` gets the frames and an output of the stage's shape.
using HostPeer =
    std::function<std::function<void(int)>(const std::vector<Frame>& inputs, const Frame& output)>;
nlohmann::ordered_json compare_on_host(const std::string& work, const Shape& shape, const std::string& peer,
                                       const HostPeer& make_theirs);

} // namespace specklescope::bench
