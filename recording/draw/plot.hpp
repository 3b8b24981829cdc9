// Curves of regions over time with axes, marks and legend: the plots of a report, and those that the window
// saves.
#pragma once

#include "analysis/interval.hpp"
#include "analysis/region.hpp"
#include "analysis/trace_history.hpp"
#include "recording/record_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

class Canvas;
struct PaperRect;

struct PlotCurve {
    std::string name;
    std::string colour; ///< "#rrggbb"; drawn darker, for paper
    int repeat = 0;     ///< curves of the same colour get other dashes
    std::vector<TraceColumn> columns;
    std::optional<double> f0{}; ///< the curve is drawn as the change from it in %; none: as it is
};

struct PlotMark {
    std::int64_t time_ns = 0;
    std::string text;
};

struct TracePlot {
    std::string symbol, unit; ///< of the values
    std::int64_t from_ns = 0, to_ns = 0;
    std::int64_t zero_ns = 0; ///< time of the axis' 0
    std::string time_title{}; ///< "time since the first frame"; its unit follows
    bool timed = true;        ///< false: the axis counts frames
    double low = 0, high = 1; ///< range of values
    std::vector<PlotCurve> curves{};
    std::vector<PlotMark> events{}, restarts{};
    std::vector<Interval> intervals{}; ///< shaded, with their names
};

/// A curve without columns, in the colour of the region of this name.
PlotCurve curve_of(const std::vector<Region>& regions, const std::string& name);

/// Draws axes and curves into an area of this height, and the legend below it. Returns the lower edge of the
/// legend.
double draw_trace_plot(Canvas& canvas, const PaperRect& area, const TracePlot& plot);

struct PlotFiles {
    std::string pdf, png, svg;
};
/// Writes the plot as .pdf, .png and .svg under one name, the first that is free for all three. `path` ends
/// in .pdf. Throws RunError or UsageError; then none of them exists.
PlotFiles write_plot(const std::string& path, const TracePlot& plot);

} // namespace specklescope
