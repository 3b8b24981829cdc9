// Several runs on one machine: the newest word on each piece of work.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace specklescope::bench {

/// Takes from each of the named `reports` what a later one of a machine of the same name measured too:
/// kernels and rows beside others by work, image and processor, published work by work and image. How many
/// rows went, and when they were measured again, becomes a fact of the machine, so that its page says so.
void keep_newest(std::vector<std::pair<std::string, nlohmann::ordered_json>>& reports);

} // namespace specklescope::bench
