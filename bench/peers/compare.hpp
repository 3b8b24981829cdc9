// Compares our stage with another library's on the same frames; rows for `specklescope bench --peers`.
#pragma once

#include "bench/cases.hpp"
#include "bench/report.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace specklescope::bench {

/// Milliseconds for `calls`, including completion of the work.
using Clock = std::function<double(const std::function<void()>& calls)>;
double wall_ms(const std::function<void()>& calls);

/// Our stage with one instruction set of the host; `simd` is empty without a choice, as on a GPU.
struct OurSide {
    std::string simd;
    std::function<void(int)> call;
};

/// Runs each candidate on frame i; the first of ours is the reference. Rounds alternate, so that changes of
/// the machine's speed affect all candidates.
nlohmann::ordered_json compare(const std::string& work, const Shape& shape, const std::string& peer,
                               const std::vector<OurSide>& ours, const std::function<void(int)>& theirs,
                               const Clock& clock = wall_ms);

/// The same for a host stage with each of simd_to_compare(): `make_theirs` gets the frames and an output of
/// the stage's shape.
using HostPeer =
    std::function<std::function<void(int)>(const std::vector<Frame>& inputs, const Frame& output)>;
nlohmann::ordered_json compare_on_host(const std::string& work, const Shape& shape, const std::string& peer,
                                       const HostPeer& make_theirs);

} // namespace specklescope::bench
