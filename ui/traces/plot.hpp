// Axes, curves and marks of traces, drawn into the current window.
#pragma once

#include "analysis/events.hpp"
#include "ui/canvas/view.hpp"
#include "ui/traces/trace_view.hpp"

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

namespace specklescope {

struct PlotArea {
    Rect inner; ///< area between the axes, in window coordinates
    std::int64_t from_ns = 0, to_ns = 1;
    ValueSpan span;
    bool timed = true; ///< false: the axis counts frames, TraceMoment::timed

    double x(std::int64_t time_ns) const {
        return inner.x +
               static_cast<double>(time_ns - from_ns) / static_cast<double>(to_ns - from_ns) * inner.width;
    }
    double y(double value) const {
        return inner.y + (span.high - value) / (span.high - span.low) * inner.height;
    }
    /// Position on the screen as a fraction of the plot (0…1), from the left and from below.
    double part_x(double px) const { return (px - inner.x) / inner.width; }
    double part_y(double py) const { return 1 - (py - inner.y) / inner.height; }
    std::int64_t time(double px) const {
        return from_ns + static_cast<std::int64_t>(part_x(px) * static_cast<double>(to_ns - from_ns));
    }
};

/// Area between the axes within `area`.
Rect plot_inner(const Rect& area);
/// Draws grid, ticks and frame; `title`: the quantity, followed by `unit`.
void draw_axes(const PlotArea& plot, const std::string& title, const std::string& unit);
/// `baseline`: draws values in per cent of it; NaN: unchanged.
void draw_curve(const PlotArea& plot, const std::vector<TraceColumn>& columns, ImU32 color, double baseline);
/// Draws dotted lines with their labels at the bottom. Neighbours with the same label are one mark.
void draw_restarts(const PlotArea& plot, const std::vector<TraceRestart>& restarts);
/// Draws a line with its label at the top; `row`: row of the label. Returns the area of the label for the
/// mouse.
Rect draw_event(const PlotArea& plot, const TimedEvent& event, int row);
/// Draws a line at the frame of a film that the image shows.
void draw_playhead(const PlotArea& plot, std::int64_t time_ns);
/// Draws a line at the frame with its time and number.
void draw_cursor(const PlotArea& plot, const TraceMoment& moment);
/// A sentence at the upper edge.
void draw_warning(const Rect& area, const std::string& sentence);
/// A sentence in the middle.
void draw_empty(const Rect& area, const std::string& sentence);

} // namespace specklescope
