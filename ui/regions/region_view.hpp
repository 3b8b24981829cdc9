// Where the pixels that regions are counted in lie on the screen.
#pragma once

#include "analysis/region.hpp"
#include "ui/canvas/view.hpp"

#include <imgui.h>

#include <vector>

namespace specklescope {

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
