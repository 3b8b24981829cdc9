// Trace strip below the picture: region values against time, with the baseline and the events.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "analysis/pulse.hpp"
#include "recording/draw/plot.hpp"
#include "ui/canvas/view.hpp"
#include "ui/regions/region_tools.hpp"
#include "ui/traces/intervals_view.hpp"
#include "ui/traces/plot.hpp"
#include "ui/traces/response_view.hpp"
#include "ui/traces/trials_view.hpp"

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace specklescope {

class Session;

class TraceStrip {
public:
    /// Call once per drawn frame, before the other functions: takes the new values.
    void update(Session& session);
    bool has_regions() const { return !about_.regions.empty(); }

    /// Draws the window below the picture. `numbers`: shown for the newest frame, as by the other parts.
    void draw(const Rect& area, Session& session, const RegionNumbers& numbers);
    /// Reports the displayed values to the probe, also while the strip is hidden.
    void report() const;

    // Actions of keys and buttons.
    void take_baseline(Session& session);
    /// True if the frames have times.
    bool timed() const;
    /// Switches between absolute units and per cent of the baseline; takes a baseline if there is none.
    void toggle_relative(Session& session);
    /// Opens the list of intervals, and the strip if it is hidden.
    void edit_intervals(Session& session);
    IntervalsView& intervals() { return intervals_; }
    const IntervalsView& intervals() const { return intervals_; }
    void toggle_response() { responses_.toggle(); }
    void follow();
    void show_whole();
    /// Begins to process the whole film, whose trace is then seen from end to end, or cancels it.
    void toggle_whole_film(Session& session);
    /// Why that is not possible; empty: it is.
    static std::string why_no_whole_film(const Session& session);
    /// Writes the curves as they are shown as .pdf, .png and .svg.
    void save_plot(Session& session);
    /// Copies the shown values to the clipboard, a row for each frame.
    void copy(Session& session) const;
    /// Opens the field for the event's label in the next frame.
    void ask_label(const EventMark& event);
    /// Marks an event at the newest frame, with the n-th remembered label (from 0); does nothing if there is
    /// no such label.
    static void mark_remembered(Session& session, std::size_t n);

private:
    float buttons(Session& session);
    void baseline_button(Session& session);
    void whole_film_button(Session& session, float width);
    void stretch_choice(Session& session, float width);
    void follow_button(Session& session);
    void auto_button();
    void pulse_button();
    std::int64_t end_ns(const Session& session) const; ///< of the axis
    void legend(const Rect& area, Session& session, const std::vector<ImU32>& colours,
                const RegionNumbers& numbers);
    void draw_plot(const Rect& area, Session& session, const std::vector<ImU32>& colours);
    void draw_events(const PlotArea& plot, Session& session);
    void mouse(const PlotArea& plot, Session& session);
    void event_popup(Session& session);
    bool assumed() const; ///< the values scale with an assumed exposure
    std::optional<MadeWith> relative_with(const Session& session) const;
    /// Removes values that were made with other settings.
    void keep_comparable(std::vector<TraceColumn>& curve, const std::optional<MadeWith>& with) const;
    void measure(Session& session, const Rect& plot);
    TracePlot shown_plot(Session& session);
    /// Measures the pulse in the visible stretch once a second, for the selected region or the first visible
    /// one.
    void measure_pulse(Session& session);
    void draw_pulse(const Rect& plot) const;

    TraceOverview about_;
    std::optional<std::uint64_t> film_axis_; ///< TraceOverview::axis, if it is a film's
    std::int64_t end_ns_ = 0;
    TraceView view_;
    std::set<std::uint64_t> hidden_; ///< by TraceRegion::id
    bool relative_ = false;
    std::optional<ValueSpan> fixed_; ///< none: automatic
    Quantity quantity_;              ///< quantity of fixed_
    ValueSpan span_;                 ///< as drawn in the last frame
    std::vector<std::vector<TraceColumn>> curves_;
    std::optional<TraceValues> cursor_;
    std::uint64_t edited_event_ = 0; ///< event whose label is edited in the popup
    std::string edited_label_;
    bool open_event_ = false, focus_event_ = false, names_event_ = false;
    bool drags_values_ = false;
    double drawing_ms_ = 0;

    struct ShownPulse {
        std::uint64_t id = 0; ///< TraceRegion::id
        std::string name;
        std::int64_t seen_from_ns = 0, to_ns = 0;
        Pulse pulse;
        std::uint64_t changes = 0; ///< TraceOverview::changes
    };
    IntervalsView intervals_;
    ResponseView responses_;
    TrialsView trials_;
    bool pulse_wanted_ = false;
    std::optional<ShownPulse> pulse_;
    std::chrono::steady_clock::time_point pulse_at_{}; ///< time of the measurement
};

} // namespace specklescope
