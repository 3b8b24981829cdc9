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
    /// Call once per drawn frame, before the plot: a click elsewhere and another region end the choice.
    void update(const Session& session);
    enum class On : std::uint8_t { plot, time_line };
    /// After the item of the plot or of the time line. True if the mouse means an interval, not the item.
    /// Ends and labels can be dragged on the plot only.
    bool mouse(const PlotArea& plot, std::vector<Interval>& intervals, On on = On::plot);
    void draw(const PlotArea& plot, const std::vector<Interval>& intervals) const;
    /// Draws a bar for each interval above the time line at `y`.
    void draw_on_line(const PlotArea& plot, double y, const std::vector<Interval>& intervals) const;
    /// Opens the list with the next drawing.
    void edit() { asked_ = true; }
    bool asked() const { return asked_; }
    /// The list: names, ends in seconds, the baseline. A new interval is placed in [from, to].
    void popup(Session& session, std::int64_t from_ns, std::int64_t to_ns);
    void report(const std::vector<Interval>& intervals) const;
    /// The interval that was made, dragged or edited last, which a key deletes.
    std::optional<std::size_t> chosen(const Session& session) const;
    void delete_chosen(Session& session);

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
    int appears_ = 0; ///< frames left in which the list opens
    Grip grip_ = Grip::none;
    On on_ = On::plot; ///< where the drag is
    std::size_t index_ = 0;
    std::optional<std::size_t> chosen_, selected_region_;
    std::int64_t anchor_ns_ = 0;       ///< where the drag began
    Interval before_;                  ///< the interval at that time
    std::optional<std::size_t> focus_; ///< row whose name gets the keyboard
};

} // namespace specklescope
