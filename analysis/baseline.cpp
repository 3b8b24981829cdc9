#include "analysis/baseline.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

bool Baseline::take(TraceHistory& history, double seconds) {
    std::optional<TraceMeans> means = history.means(seconds);
    if (!means || std::none_of(means->regions.begin(), means->regions.end(),
                               [](const TraceMean& region) { return std::isfinite(region.mean); }))
        return false;
    means_ = std::move(means);
    return true;
}

const TraceMean* Baseline::find(const TraceRegion& region) const {
    if (!means_)
        return nullptr;
    const auto found = std::find_if(means_->regions.begin(), means_->regions.end(),
                                    [&](const TraceMean& mean) { return mean.id == region.id; });
    return found == means_->regions.end() ? nullptr : &*found;
}

std::optional<double> Baseline::of(const TraceRegion& region) const {
    const TraceMean* mean = find(region);
    if (!mean || !std::isfinite(mean->mean) || mean->mean == 0)
        return std::nullopt;
    return mean->mean;
}

bool Baseline::moved(const TraceRegion& region) const {
    const TraceMean* mean = find(region);
    return mean && mean->outline != region.outline;
}

} // namespace specklescope
