// The histogram of the result or of the raw picture, with the range of colours as two handles.
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
    /// Once per drawn frame: hands pictures to the thread, ten times a second while the section is open,
    /// twice otherwise. `wanted`: somebody looks.
    /// `change`: the change against the baseline is seen, beside the result or (`alone`) in its place.
    void update(const Display& display, bool wanted, bool change, bool alone);
    void clear() { sampler_.clear(); }
    void draw(Session& session, Display& display, bool stretch_raw);
    /// One of the ends of the range by so many fiftieths of it; the range is fixed then. Of the change both,
    /// which lie on either side of 0.
    void nudge(Session& session, bool high, int steps) const;
    /// Of the result or the change, for these ends; nothing before the first sample.
    std::optional<BeyondRange> beyond(HistogramOf of, const ValueRange& range) const;
    bool toggle = false; ///< the section opens or closes in this frame
    bool open() const { return open_; }
    /// In a frame without draw(): nobody sees it, and the next toggle opens it.
    void hide() { open_ = false; }

private:
    struct Plot;
    void axes(const Plot& plot) const;
    void choices(ViewSettings& view);
    /// Of what is counted.
    ValueRange range_of(const ViewSettings& view, const Display& display, bool stretch_raw) const;
    bool handles(const Plot& plot, ValueRange& range, const KeyBindings& keys);
    void numbers(const ViewSettings& view, const Display& display, const ValueRange& range, bool stale) const;

    HistogramSampler sampler_;
    HistogramOf shown_ = HistogramOf::result;
    ValueRange span_;      ///< of the axis
    bool dragged_ = false; ///< one of the handles
    bool open_ = false;
    bool change_ = false, alone_ = false; ///< the change is seen, and nothing else of the result
    SteadyClock::time_point offered_{};
};

/// Below the colour bar: the colours of pixels without a number, and how many there are.
void draw_color_legend(const Rect& area, const PixelCounts& counts);
float color_legend_height();

} // namespace specklescope
