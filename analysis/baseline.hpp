// Baseline of traces: the mean of each region over some seconds, F₀.
#pragma once

#include "analysis/baseline_image.hpp"
#include "analysis/trace_history.hpp"

#include <optional>
#include <string>
#include <utility>

namespace specklescope {

/// "mean of 10 frames, number 5 to 14".
std::string baseline_text(const TraceMeans& means);

class Baseline {
public:
    /// Takes the mean over the last `seconds`, or over an interval, of the history's full-resolution part,
    /// like TraceHistory::means(). False, and the previous baseline stays, if no region has a value there.
    bool take(TraceHistory& history, double seconds) { return take(history.means(seconds)); }
    bool take(TraceHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
        return take(history.means(from_ns, to_ns));
    }
    /// Takes F₀ of each region from the image. False as above, and if the image is of another map.
    bool take(TraceHistory& history, const BaselineImage& image,
              const std::shared_ptr<const PlacedRegions>& placed);
    void clear() { means_.reset(); }
    void restore(std::optional<TraceMeans> means) { means_ = std::move(means); } ///< as taken() gave it
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
};

} // namespace specklescope
