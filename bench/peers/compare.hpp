// Our stage and another library's on the same frames, in turn; rows for `specklescope bench --peers`.
#pragma once

#include "bench/cases.hpp"
#include "bench/timing.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace specklescope::bench {

/// Milliseconds that `calls` take, until their work is done.
using Clock = std::function<double(const std::function<void()>& calls)>;
double wall_ms(const std::function<void()>& calls);

/// OurSide with one instruction set of the host; `simd` is empty where there is no choice, as on a GPU.
struct OurSide {
    std::string simd;
    std::function<void(int)> call;
};

/// `theirs(i)` and ours, the first of which counts as the one to compare, do the work for frame i of those
/// they were given. Rounds of all take turns, so that a change of the machine's pace meets all.
nlohmann::ordered_json compare(const std::string& work, const Shape& shape, const std::string& peer,
                               const std::vector<OurSide>& ours, const std::function<void(int)>& theirs,
                               const Clock& clock = wall_ms);

/// The same for a stage of the host, with each of simd_to_compare(): `make_theirs` gets the frames and an
/// output of the stage's shape.
using HostPeer =
    std::function<std::function<void(int)>(const std::vector<Frame>& inputs, const Frame& output)>;
nlohmann::ordered_json compare_on_host(const std::string& work, const Shape& shape, const std::string& peer,
                                       const HostPeer& make_theirs);

} // namespace specklescope::bench
