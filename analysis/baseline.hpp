// Baseline of traces: the mean of each region over some seconds, F₀.
#pragma once

#include "analysis/baseline_image.hpp"
#include "analysis/interval.hpp"
#include "analysis/trace_history.hpp"

#include <optional>
#include <string>
#include <utility>

namespace specklescope {

/// "mean of 10 frames, number 5 to 14".
std::string baseline_text(const TraceMeans& means);

class Baseline {
public:
    /// Takes the mean over the last `seconds` of the history's full-resolution part, like
    /// TraceHistory::means(). False, and the previous baseline stays, if no region has a value there.
    bool take(TraceHistory& history, double seconds) { return take(history.means(seconds)); }
    /// The same; these seconds become the baseline interval.
    bool take(TraceHistory& history, double seconds, std::vector<Interval>& intervals);
    /// Takes F₀ of each region from the image. False as above, and if the image is of another map.
    bool take(TraceHistory& history, const BaselineImage& image,
              const std::shared_ptr<const PlacedRegions>& placed);
    /// Takes F₀ over the baseline interval if this or its frames changed. Call regularly.
    void follow(TraceHistory& history, const TraceOverview& about, const std::vector<Interval>& intervals);
    void clear() { restore({}, {}); }
    /// `means`: as taken() gave it. `over`: the baseline interval.
    void restore(std::optional<TraceMeans> means, std::optional<Interval> over) {
        means_ = std::move(means);
        over_ = std::move(over);
    }
    /// The frames it was taken over; none before it is taken.
    const std::optional<TraceMeans>& taken() const { return means_; }
    /// F₀ in the unit of the map: finite and not 0. None for a region without such a mean, a new region, a
    /// changed outline, or values made with other settings.
    std::optional<double> of(const TraceRegion& region, const MadeWith* with) const;
    /// The same for TraceRegion::newest.
    std::optional<double> of(const TraceRegion& region, const TraceOverview& overview) const;
    /// Why a region has no F₀ for the newest frame: changed_since_baseline(), or its outline. Empty: all have
    /// one.
    std::string changed(const TraceOverview& overview) const;
    /// Its outline has changed since then.
    bool moved(const TraceRegion& region) const;

private:
    bool take(std::optional<TraceMeans> means);
    const TraceMean* find(const TraceRegion& region) const;
    std::optional<TraceMeans> means_;
    std::optional<Interval> over_; ///< interval that follow() has seen
    std::int64_t seen_ns_ = 0;     ///< newest frame at that time
    std::uint64_t changes_ = 0;    ///< TraceOverview::changes at that time
};

} // namespace specklescope
