// What traces are compared with: the mean of each region over some seconds, F₀.
#pragma once

#include "analysis/baseline_image.hpp"
#include "analysis/trace_history.hpp"

#include <optional>

namespace specklescope {

class Baseline {
public:
    /// The mean over the last `seconds` of what the history holds whole, as TraceHistory::means(). False, and
    /// what was taken before stays, where no region has a value there.
    bool take(TraceHistory& history, double seconds);
    /// F₀ of each region as the picture has it. False as above, and where the picture is of another map.
    bool take(TraceHistory& history, const BaselineImage& image,
              const std::shared_ptr<const PlacedRegions>& placed);
    void clear() { means_.reset(); }
    /// Over which frames; none before it is taken.
    const std::optional<TraceMeans>& taken() const { return means_; }
    /// F₀, in the unit of the map: finite and not 0. None for a region that had no such mean, was not there,
    /// or whose outline is another now; and for values made with other settings.
    std::optional<double> of(const TraceRegion& region, const MadeWith* with) const;
    /// The same for TraceRegion::newest.
    std::optional<double> of(const TraceRegion& region, const TraceOverview& overview) const;
    /// Why a region has no F₀ for the newest frame: changed_since_baseline(), or its outline. Empty: each has
    /// one.
    std::string changed(const TraceOverview& overview) const;
    /// Its outline is another than it was then.
    bool moved(const TraceRegion& region) const;

private:
    const TraceMean* find(const TraceRegion& region) const;
    std::optional<TraceMeans> means_;
};

} // namespace specklescope
