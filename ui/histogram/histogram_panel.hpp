// Histogram of the result or of the raw image, with two handles for the colour range.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/display.hpp"
#include "ui/histogram/sampler.hpp"

#include <optional>
#include <utility>

namespace specklescope {

class HistogramPanel {
public:
    /// Call once per drawn frame. Passes images to the thread ten times a second while the section is open,
    /// otherwise twice. `wanted`: the histogram is visible. `change`: the change against the baseline is
    /// visible, next to the result or (`alone`) instead of it.
    void update(const Display& display, bool wanted, bool change, bool alone);
    void clear() { sampler_.clear(); }
    void draw(Session& session, Display& display, bool stretch_raw);
    /// Moves an end of the range by `steps` fiftieths of the range and fixes the range. For a change it
    /// moves both ends, symmetric to 0.
    void nudge(Session& session, bool high, int steps) const;
    /// Fractions of the result or the change outside this range; nullopt before the first sample.
    std::optional<BeyondRange> beyond(HistogramOf of, const ValueRange& range) const;
    bool toggle = false; ///< opens or closes the section in this frame
    bool open() const { return open_; }
    /// Call in a frame without draw(): the histogram is invisible, and the next toggle opens it.
    void hide() { open_ = false; }

private:
    struct Plot;
    void axes(const Plot& plot) const;
    void choices(ViewSettings& view);
    /// Range of the counted values.
    ValueRange range_of(const ViewSettings& view, const Display& display, bool stretch_raw) const;
    bool handles(const Plot& plot, ValueRange& range, const KeyBindings& keys);
    void numbers(const ViewSettings& view, const Display& display, const ValueRange& range, bool stale) const;

    HistogramSampler sampler_;
    HistogramOf shown_ = HistogramOf::result;
    ValueRange span_;      ///< of the axis
    bool dragged_ = false; ///< one of the handles
    bool open_ = false;
    bool change_ = false, alone_ = false; ///< the change is visible; without the result
    SteadyClock::time_point offered_{};
};

/// Draws the legend below the colour bar: colours of pixels without a value, and their number.
void draw_color_legend(const Rect& area, const PixelCounts& counts);
float color_legend_height();

} // namespace specklescope
