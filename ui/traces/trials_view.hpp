// Trials on the strip: each region's mean around the events of a label, with its standard error.
#pragma once

#include "analysis/trials.hpp"
#include "ui/canvas/view.hpp"
#include "ui/traces/plot.hpp"

#include <set>
#include <string>
#include <vector>

namespace specklescope {

class Session;

class TrialsView {
public:
    bool wanted() const { return wanted_; }
    /// Switches it on and off.
    void button(const Session& session);
    /// Which label, and how much before and after; in the place of the stretch of time.
    void controls(Session& session);
    /// In the place of the traces. `hidden`: regions by their ids.
    void draw(const Rect& inner, const TraceOverview& about, Session& session,
              const std::vector<ImU32>& colours, const std::set<std::uint64_t>& hidden);

private:
    void measure(const TraceOverview& about, Session& session);
    std::vector<std::int64_t> times(const Session& session) const;

    bool wanted_ = false;
    std::string label_; ///< of the events; empty: that of the newest
    std::vector<Trials> trials_;
    std::uint64_t old_ = 0; ///< events whose frames are not kept whole any more
    std::int64_t measured_to_ns_ = -1;
    std::size_t measured_events_ = 0;
    double measured_before_ = 0, measured_after_ = 0;
    std::string measured_label_;
    std::size_t measured_regions_ = 0;
};

} // namespace specklescope
