// Panel section "Regions": a table with one row per region, and its controls.
#pragma once

#include "ui/canvas/display.hpp"
#include "ui/regions/region_tools.hpp"

namespace specklescope {

void draw_region_section(Session& session, RegionTools& tools);
/// Reports the regions and the displayed numbers to the probe.
void report_regions(const Session& session, const RegionTools& tools);

// Table of the panel section "Regions": one row per region.

/// Draws the table as wide as the section. Scrolls to a row that is selected or renamed with a key.
void draw_region_table(Session& session, RegionTools& tools);
/// Replaces the name by a field.
void begin_rename(const RegionEditor& editor, RegionTools& tools, std::size_t index);

const char* sentence_of_mean(RegionMean mean);
const char* sentence_of_fit(RegionFit fit); ///< empty: no message
/// Area in µm², without the unit.
std::string area_text(const RegionStatistics& statistics, double um_per_px);

} // namespace specklescope
