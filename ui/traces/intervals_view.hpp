// Intervals on the plot of traces: drawn, dragged, edited as a list.
#pragma once

#include "analysis/interval.hpp"
#include "ui/traces/plot.hpp"

#include <optional>
#include <string>
#include <vector>

namespace specklescope {

class Session;

class IntervalsView {
public:
    /// The button that begins one: the next drag on the plot makes an interval.
    void button(Session& session);
    /// After the item of the plot. True if the mouse means an interval, not the plot.
    bool mouse(const PlotArea& plot, std::vector<Interval>& intervals);
    void draw(const PlotArea& plot, const std::vector<Interval>& intervals) const;
    /// Opens the list with the next drawing.
    void edit() { asked_ = true; }
    bool asked() const { return asked_; }
    /// The list: names, ends in seconds, the baseline. A new interval is placed in [from, to].
    void popup(Session& session, std::int64_t from_ns, std::int64_t to_ns);
    void report(const std::vector<Interval>& intervals) const;
    bool dragging() const { return grip_ != Grip::none; }

private:
    enum class Grip : std::uint8_t { none, begin, from, to, whole };
    struct Hit {
        Grip grip = Grip::none;
        std::size_t index = 0;
    };
    Hit hit(const PlotArea& plot, const std::vector<Interval>& intervals) const;
    void drag(const PlotArea& plot, std::vector<Interval>& intervals);
    bool row(Interval& interval, std::size_t index, std::vector<Interval>& intervals);

    bool armed_ = false; ///< the next drag makes one
    bool asked_ = false;
    Grip grip_ = Grip::none;
    std::size_t index_ = 0;
    std::int64_t anchor_ns_ = 0;       ///< where the drag began
    Interval before_;                  ///< the interval at that time
    std::optional<std::size_t> focus_; ///< row whose name gets the keyboard
};

} // namespace specklescope
