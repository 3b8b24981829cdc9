// A chart as SVG text: lines with marks over logarithmic axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace specklescope::bench {

struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points; ///< both above 0
    bool dashed = false;                           ///< a ceiling, not a measurement of a method
};

struct Plot {
    std::string title;
    std::string x, y; ///< names of the axes with their units
    std::vector<Series> series;
};

/// 720 px wide, on white, with the names of the series below; text is black, so that the chart reads the same
/// on a dark page.
std::string svg(const Plot& plot);

} // namespace specklescope::bench
