// The inner loop of statistics over regions on the host, in the best instruction set that the processor has.
// Used by pipeline/regions/host_regions.cpp alone.
#pragma once

#include "pipeline/regions/region_sums.hpp"

#include <cstddef>

namespace specklescope {

/// Of `count` values that lie side by side, added up in float64; `inverses` as well if asked for. saturated
/// stays 0.
RegionSums sums_of(const float* values, std::size_t count, bool inverses);

} // namespace specklescope
