// What the picture and the panel show of a region alike.
#pragma once

#include "analysis/region_editor.hpp"

#include <imgui.h>

#include <string>

namespace specklescope {

ImU32 region_colour_value(const Region& region, std::size_t index);
/// Of the region `index` of the set; null while the newest result was made with another set.
const RegionStatistics* statistics_of(const RegionValues* values, const std::string& name, std::size_t index);

} // namespace specklescope
