// The panel's section "Regions": a table with a row for each, and what can be done with them.
#pragma once

#include "ui/canvas/display.hpp"
#include "ui/regions/region_tools.hpp"

namespace specklescope {

void draw_region_section(Session& session, RegionTools& tools);
/// For the probe: what is there, and the numbers as they are shown.
void report_regions(const Session& session, const RegionTools& tools);

} // namespace specklescope
