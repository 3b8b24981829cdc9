// A small plot of measured points and a fitted curve, both axes from 0.
#pragma once

#include <imgui.h>

#include <string>
#include <utility>
#include <vector>

namespace specklescope {

struct SmallPlot {
    std::string name; ///< for the probe
    std::string x, y; ///< quantity and unit
    std::vector<std::pair<double, double>> points, curve;
};
/// Draws it as an item of this size.
void draw_small_plot(const SmallPlot& plot, const ImVec2& size);

} // namespace specklescope
