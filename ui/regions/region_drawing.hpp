// What the picture and the panel show of a region alike.
#pragma once

#include "analysis/region.hpp"
#include "analysis/region_editor.hpp"
#include "ui/canvas/view.hpp"

#include <imgui.h>

#include <string>
#include <vector>

namespace specklescope {

ImU32 region_colour_value(const Region& region, std::size_t index);
/// Of the region `index` of the set; null while the newest result was made with another set.
const RegionStatistics* statistics_of(const RegionValues* values, const std::string& name, std::size_t index);

// Where the pixels that regions are counted in lie on the screen.

struct RegionView {
    Rect area;           ///< of the window that shows the picture
    double x = 0, y = 0; ///< the centre of the picture's first pixel
    double scale = 1;    ///< pixels of the screen for one of the picture
    Shape picture;       ///< what the chain gives

    ImVec2 to_screen(const RegionPoint& point) const {
        return {static_cast<float>(x + point.x * scale), static_cast<float>(y + point.y * scale)};
    }
    RegionPoint to_picture(const ImVec2& at) const { return {(at.x - x) / scale, (at.y - y) / scale}; }
};
/// One, or two side by side; none where the result cannot be laid on what is shown.
using RegionViews = std::vector<RegionView>;

} // namespace specklescope
