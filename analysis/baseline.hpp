// What traces are compared with: the mean of each region over some seconds, F₀.
#pragma once

#include "analysis/trace_history.hpp"

#include <optional>

namespace specklescope {

/// 100·(F/F₀ − 1), in %.
inline double relative_change(double value, double baseline) { return 100 * (value / baseline - 1); }

class Baseline {
public:
    /// The mean over the last `seconds` of what the history holds whole, as TraceHistory::means(). False, and
    /// what was taken before stays, where no region has a value there.
    bool take(TraceHistory& history, double seconds);
    void clear() { means_.reset(); }
    /// Over which frames; none before it is taken.
    const std::optional<TraceMeans>& taken() const { return means_; }
    /// F₀, in the unit of the map: finite and not 0. None for a region that had no such mean, or was not
    /// there.
    std::optional<double> of(const TraceRegion& region) const;
    /// Its outline is another than it was then.
    bool moved(const TraceRegion& region) const;

private:
    const TraceMean* find(const TraceRegion& region) const;
    std::optional<TraceMeans> means_;
};

} // namespace specklescope
