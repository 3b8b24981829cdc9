// Inner loop of the region statistics on the host, in the best instruction set of the processor. Used only by
// pipeline/regions/host_regions.cpp.
#pragma once

#include "pipeline/regions/region_sums.hpp"

#include <cstddef>

namespace specklescope {

/// Sums of `count` contiguous values in float64; `inverses`: also Σ1/value. Leaves saturated at 0.
RegionSums sums_of(const float* values, std::size_t count, bool inverses);

} // namespace specklescope
