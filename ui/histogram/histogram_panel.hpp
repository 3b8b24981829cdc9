// The histogram of the result or of the raw picture, with the range of colours as two handles.
#pragma once

#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/display.hpp"
#include "ui/histogram/sampler.hpp"
#include "ui/session.hpp"

#include <string>
#include <utility>

namespace specklescope {

class HistogramPanel {
public:
    /// Once per drawn frame: hands pictures to the thread, at most ten times a second.
    void update(const Display& display, bool wanted);
    void clear() { sampler_.clear(); }
    void draw(Session& session, Display& display, bool stretch_raw);
    /// One of the ends of the range by so many fiftieths of it; the range is fixed then.
    static void nudge(Session& session, bool high, int steps);
    /// Of the result, for these ends.
    BeyondRange beyond(const ValueRange& range) const;
    bool toggle = false; ///< the section opens or closes in this frame
    bool open() const { return open_; }

private:
    struct Plot;
    void axes(const Plot& plot) const;
    bool handles(const Plot& plot, ValueRange& range);
    void numbers(const ViewSettings& view, const Display& display, const ValueRange& range) const;

    HistogramSampler sampler_;
    HistogramOf shown_ = HistogramOf::result;
    ValueRange span_; ///< of the axis
    int dragged_ = 0; ///< −1 the low end, 1 the high one
    bool open_ = false;
    SteadyClock::time_point offered_{};
};

/// Below the colour bar: the colours of pixels without a number, and how many there are.
void draw_color_legend(const Rect& area, const PixelCounts& counts);
float color_legend_height();

} // namespace specklescope
