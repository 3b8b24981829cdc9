// What statistics over regions cost: the rate of frames through the executor with them and without, in turn.
#pragma once

#include "config/settings.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::bench {

/// Rows of speckle:radius=2 on 1392×1040 u16, results left where they are: on the host, unless only the GPU
/// is asked for, and on the GPU if there is one.
nlohmann::ordered_json run_regions(const Settings& settings, bool gpu);

} // namespace specklescope::bench
