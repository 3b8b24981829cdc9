#include "analysis/baseline.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

std::string baseline_text(const TraceMeans& means) {
    return means.from_picture.empty()
               ? "mean of " + std::to_string(means.frames) + " frames, number " +
                     std::to_string(means.from.sequence) + " to " + std::to_string(means.to.sequence)
               : "mean over each region of the image " + means.from_picture;
}

bool Baseline::take(std::optional<TraceMeans> means) {
    if (!means || std::none_of(means->regions.begin(), means->regions.end(),
                               [](const TraceMean& region) { return std::isfinite(region.mean); }))
        return false;
    means_ = std::move(means);
    return true;
}

bool Baseline::take(TraceHistory& history, const BaselineImage& image,
                    const std::shared_ptr<const PlacedRegions>& placed) {
    const TraceOverview overview = history.overview();
    const MadeWith* now = overview.with ? &*overview.with : nullptr;
    if (!placed ||
        !image.misfit({placed->width, placed->height, 1, PixelType::f32}, overview.quantity, now).empty())
        return false;
    const std::vector<double> f0 = image.over(placed);
    TraceMeans means;
    means.frames = image.frames();
    means.from_picture = image.text();
    means.with = image.with();
    for (const TraceRegion& region : overview.regions) {
        const auto at = std::find_if(placed->regions.begin(), placed->regions.end(),
                                     [&](const PlacedRegion& known) { return known.name == region.name; });
        if (at != placed->regions.end())
            means.regions.push_back({region.id, region.outline,
                                     f0[static_cast<std::size_t>(at - placed->regions.begin())],
                                     image.frames()});
    }
    if (std::none_of(means.regions.begin(), means.regions.end(),
                     [](const TraceMean& region) { return std::isfinite(region.mean); }))
        return false;
    means_ = std::move(means);
    return true;
}

bool Baseline::take(TraceHistory& history, double seconds, std::vector<Interval>& intervals) {
    if (!take(history, seconds))
        return false;
    const auto at = baseline_of(intervals);
    const std::size_t index = at ? *at : add_interval(intervals, means_->from.time_ns, means_->to.time_ns);
    choose_baseline(intervals, index);
    intervals[index].from_ns = means_->from.time_ns;
    intervals[index].to_ns = seen_ns_ = means_->to.time_ns;
    over_ = intervals[index];
    return true;
}

void Baseline::follow(TraceHistory& history, const TraceOverview& about,
                      const std::vector<Interval>& intervals) {
    const auto at = baseline_of(intervals);
    if (!at) {
        if (over_)
            clear();
        return;
    }
    const Interval& wanted = intervals[*at];
    const bool edited = !over_ || over_->from_ns != wanted.from_ns || over_->to_ns != wanted.to_ns;
    const std::int64_t newest = about.newest ? about.newest->time_ns : seen_ns_;
    const std::int64_t seen = std::exchange(seen_ns_, newest);
    const std::uint64_t changes = std::exchange(changes_, about.changes);
    const bool passed = about.film ? changes != about.changes
                                   : newest != seen && seen <= wanted.to_ns && newest >= wanted.from_ns;
    if (!edited && !passed)
        return;
    over_ = wanted;
    if (!take(history.means(wanted.from_ns, wanted.to_ns)) && edited)
        means_.reset();
}

const TraceMean* Baseline::find(const TraceRegion& region) const {
    if (!means_)
        return nullptr;
    const auto found = std::find_if(means_->regions.begin(), means_->regions.end(),
                                    [&](const TraceMean& mean) { return mean.id == region.id; });
    return found == means_->regions.end() ? nullptr : &*found;
}

std::optional<double> Baseline::of(const TraceRegion& region, const MadeWith* with) const {
    const TraceMean* mean = find(region);
    if (!mean || !std::isfinite(mean->mean) || mean->mean == 0 || moved(region) ||
        !changed_since_baseline(means_->with ? &*means_->with : nullptr, with).empty())
        return std::nullopt;
    return mean->mean;
}

std::optional<double> Baseline::of(const TraceRegion& region, const TraceOverview& overview) const {
    return of(region, overview.with ? &*overview.with : nullptr);
}

std::string Baseline::changed(const TraceOverview& overview) const {
    if (!means_)
        return "";
    std::string why = changed_since_baseline(means_->with ? &*means_->with : nullptr,
                                             overview.with ? &*overview.with : nullptr);
    for (const TraceRegion& region : overview.regions)
        if (why.empty() && moved(region))
            why = "the outline of " + region.name + " changed since the baseline: take it again";
    return why;
}

bool Baseline::moved(const TraceRegion& region) const {
    const TraceMean* mean = find(region);
    return mean && mean->outline != region.outline;
}

} // namespace specklescope
