// Trials on the strip: each region's mean around the events of a label, with its standard error.
#pragma once

#include "analysis/trials.hpp"
#include "ui/canvas/view.hpp"
#include "ui/sources/later.hpp"
#include "ui/traces/plot.hpp"

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
    /// Switches it on and off.
    void button(const Session& session);
    /// Which label, and how much before and after; in the place of the stretch of time.
    void controls(Session& session);
    /// In the place of the traces. `hidden`: regions by their ids.
    void draw(const Rect& inner, const TraceOverview& about, Session& session,
              const std::vector<ImU32>& colours, const std::set<std::uint64_t>& hidden);

private:
    struct Averages {
        std::vector<std::uint64_t> regions; ///< ids
        std::vector<Trials> trials;         ///< of each
    };
    /// The samples are taken here, and averaged beside.
    void measure(const TraceOverview& about, Session& session);
    std::shared_ptr<const Samples> samples_around(std::int64_t event, const TraceOverview& about,
                                                  Session& session);
    std::vector<std::int64_t> times(const Session& session) const;

    bool wanted_ = false;
    std::string label_; ///< of the events; empty: that of the newest
    Later<Averages> averages_;
    std::map<std::int64_t, std::shared_ptr<const Samples>> around_; ///< events whose time after has passed
    std::uint64_t old_ = 0;               ///< events whose frames are not kept whole any more
    std::uint64_t other_ = 0;             ///< events whose frames were made with other settings
    std::uint64_t measured_settings_ = 0; ///< TraceSettings::id of the newest frame
    std::int64_t measured_to_ns_ = -1;
    std::vector<std::int64_t> measured_events_;   ///< their times
    std::vector<std::uint64_t> measured_regions_; ///< their ids
    std::vector<std::uint64_t> measured_outlines_;
    RegionMean measured_mean_ = RegionMean::plain;
    double measured_before_ = 0, measured_after_ = 0;
};

} // namespace specklescope
