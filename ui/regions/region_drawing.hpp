// Functions shared by the picture and the panel of regions.
#pragma once

#include "analysis/region.hpp"
#include "analysis/region_editor.hpp"
#include "ui/canvas/view.hpp"

#include <imgui.h>

#include <string>
#include <vector>

namespace specklescope {

ImU32 region_colour_value(const Region& region, std::size_t index);
/// Statistics of region `index` of the set; null while the newest result was made with another set.
const RegionStatistics* statistics_of(const RegionValues* values, const std::string& name, std::size_t index);

// Position on the screen of the image in which regions are measured.

struct RegionView {
    Rect area;                            ///< the window area that shows the image
    double x = 0, y = 0;                  ///< centre of the first pixel of the image
    double scale = 1;                     ///< screen pixels per image pixel
    Shape picture;                        ///< output shape of the chain
    const RegionValues* values = nullptr; ///< of this image; null: RegionTools::numbers

    ImVec2 to_screen(const RegionPoint& point) const {
        return {static_cast<float>(x + point.x * scale), static_cast<float>(y + point.y * scale)};
    }
    RegionPoint to_picture(const ImVec2& at) const { return {(at.x - x) / scale, (at.y - y) / scale}; }
};
/// One view, or two side by side; none if the result does not align with the displayed image.
using RegionViews = std::vector<RegionView>;

} // namespace specklescope
