// The strip under the picture: what the regions measure against time, with the baseline and the events.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "analysis/pulse.hpp"
#include "ui/canvas/view.hpp"
#include "ui/traces/plot.hpp"
#include "ui/traces/trials_view.hpp"

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace specklescope {

class Session;

class TraceStrip {
public:
    /// Once a drawn frame, in front of everything else here: takes in what has been measured.
    void update(Session& session);
    bool has_regions() const { return !about_.regions.empty(); }

    /// The window under the picture.
    void draw(const Rect& area, Session& session);
    /// For the probe: what is shown, also while nothing is drawn.
    void report() const;

    // What keys and buttons share.
    void take_baseline(Session& session);
    /// The frames have times: somebody states them.
    bool timed() const;
    /// Absolute units, or per cent of the baseline; without one it is taken.
    void toggle_relative(Session& session);
    void follow();
    void show_whole();
    /// The field for its label opens with the next drawing.
    void ask_label(const EventMark& event);
    /// An event at the newest frame, with the n-th label that was given before, from 0; nothing where there
    /// is none.
    static void mark_remembered(Session& session, std::size_t n);

private:
    void buttons(Session& session);
    void range_choice(Session& session);
    void legend(const Rect& area, Session& session, const std::vector<ImU32>& colours);
    void draw_plot(const Rect& area, Session& session, const std::vector<ImU32>& colours);
    void draw_events(const PlotArea& plot, Session& session);
    void mouse(const PlotArea& plot);
    void event_popup(Session& session);
    bool assumed() const; ///< nobody gave the exposure that the values scale with
    std::optional<MadeWith> relative_with(const Session& session) const;
    /// Leaves out what was made with other settings.
    void keep_comparable(std::vector<TraceColumn>& curve, const std::optional<MadeWith>& with) const;
    void measure(Session& session, const Rect& plot);
    /// Once a second, of the region that is selected, or the first that is shown: over what is seen.
    void measure_pulse(Session& session);
    void draw_pulse(const Rect& plot) const;

    TraceOverview about_;
    TraceView view_;
    std::set<std::uint64_t> hidden_; ///< by TraceRegion::id
    bool relative_ = false;
    std::optional<ValueSpan> fixed_; ///< none: automatic
    Quantity quantity_;              ///< which fixed_ is of
    ValueSpan span_;                 ///< as drawn
    std::vector<std::vector<TraceColumn>> curves_;
    std::optional<TraceValues> cursor_;
    std::uint64_t edited_event_ = 0; ///< whose label is in the popup
    std::string edited_label_;
    bool open_event_ = false, focus_event_ = false, names_event_ = false;
    bool drags_values_ = false;
    double drawing_ms_ = 0;

    struct ShownPulse {
        std::uint64_t id = 0; ///< TraceRegion::id
        std::string name;
        std::int64_t seen_from_ns = 0, to_ns = 0;
        Pulse pulse;
    };
    TrialsView trials_;
    bool pulse_wanted_ = false;
    std::optional<ShownPulse> pulse_;
    std::chrono::steady_clock::time_point pulse_at_{}; ///< when it was measured
};

} // namespace specklescope
