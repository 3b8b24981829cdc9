// Trials on the strip: mean of each region around the events of a label, with its standard error.
#pragma once

#include "analysis/trials.hpp"
#include "ui/canvas/view.hpp"
#include "ui/sources/later.hpp"
#include "ui/traces/plot.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

class Session;

class TrialsView {
public:
    /// Times and values of each region.
    using Samples = std::vector<std::vector<std::pair<std::int64_t, double>>>;

    bool wanted() const { return wanted_; }
    bool offered(const Session& session) const; ///< there is an event
    /// Draws the button that toggles the view.
    void button();
    /// Draws the controls for the label and the time before and after; they replace the controls of the time
    /// range.
    void controls(Session& session);
    /// Draws the trials instead of the traces. `hidden`: regions by their ids.
    void draw(const Rect& inner, const TraceOverview& about, Session& session,
              const std::vector<ImU32>& colours, const std::set<std::uint64_t>& hidden);

private:
    struct Averages {
        std::vector<std::uint64_t> regions;
        std::vector<Trials> trials; ///< for each region
    };
    /// Takes the samples here and averages them in the background.
    void measure(const TraceOverview& about, Session& session);
    std::shared_ptr<const Samples> samples_around(std::int64_t event, const TraceOverview& about,
                                                  Session& session);
    std::vector<std::int64_t> times(const Session& session) const;

    bool wanted_ = false;
    std::string label_; ///< of the events; empty: label of the newest event
    Later<Averages> averages_;
    std::map<std::int64_t, std::shared_ptr<const Samples>> around_; ///< events with all their samples
    std::uint64_t old_ = 0;               ///< events whose frames are no longer stored completely
    std::uint64_t other_ = 0;             ///< events whose frames were made with other settings
    std::uint64_t measured_settings_ = 0; ///< TraceSettings::id of the newest frame
    std::int64_t measured_to_ns_ = -1;
    std::uint64_t axis_ = 0, measured_changes_ = 0;
    std::chrono::steady_clock::time_point measured_at_{};
    std::vector<std::int64_t> measured_events_;   ///< times of the measured events
    std::vector<std::uint64_t> measured_regions_; ///< ids of the measured regions
    std::vector<std::uint64_t> measured_outlines_;
    RegionMean measured_mean_ = RegionMean::plain;
    double measured_before_ = 0, measured_after_ = 0;
};

} // namespace specklescope
