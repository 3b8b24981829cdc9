// The panel's section "Regions": a table with a row for each, and what can be done with them.
#pragma once

#include "ui/canvas/display.hpp"
#include "ui/regions/region_tools.hpp"

namespace specklescope {

void draw_region_section(Session& session, RegionTools& tools);
/// For the probe: what is there, and the numbers as they are shown.
void report_regions(const Session& session, const RegionTools& tools);

// The table of the panel's section "Regions": a row for each.

/// As wide as the section; a row that is selected or renamed by a key is scrolled to.
void draw_region_table(Session& session, RegionTools& tools);
/// Its name becomes a field.
void begin_rename(const RegionEditor& editor, RegionTools& tools, std::size_t index);

const char* sentence_of_mean(RegionMean mean);
const char* sentence_of_fit(RegionFit fit); ///< empty: there is nothing to say
/// In µm², without the unit.
std::string area_text(const RegionStatistics& statistics, double um_per_px);

} // namespace specklescope
