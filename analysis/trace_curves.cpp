// Queries of a trace history for drawing: columns, extremes, values, means.
#include "analysis/film_traces.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

std::uint64_t TraceHistory::index_at(std::int64_t time_ns) const {
    const auto search = [&](const auto& ring, const auto& time_of) -> std::optional<std::uint64_t> {
        if (ring.empty() || (ring.begin() != 0 && time_ns <= time_of(ring[ring.begin()])))
            return std::nullopt;
        std::uint64_t from = ring.begin(), to = ring.end();
        while (from < to) {
            const std::uint64_t middle = from + (to - from) / 2;
            if (time_of(ring[middle]) < time_ns)
                from = middle + 1;
            else
                to = middle;
        }
        return from;
    };
    if (const auto found = search(moments_.whole(), [](const Moment& moment) { return moment.time_ns; }))
        return *found;
    for (std::size_t level = 0; level < moments_.levels(); ++level)
        if (const auto found =
                search(moments_.level(level), [](const Stretch& stretch) { return stretch.first.time_ns; }))
            return *found << Pyramid<Moment, Stretch>::shift(level);
    return 0;
}

/// The exact moment, or the first of the smallest block that contains it.
TraceHistory::Moment TraceHistory::moment_at(std::uint64_t index) const {
    if (moments_.whole().has(index))
        return moments_.whole()[index];
    for (std::size_t level = 0; level < moments_.levels(); ++level)
        if (const std::uint64_t block = index >> Pyramid<Moment, Stretch>::shift(level);
            moments_.level(level).has(block))
            return moments_.level(level)[block].first;
    return {};
}

bool TraceHistory::broken_at(std::uint64_t index) const { return moment_at(index).broken; }

std::uint64_t TraceHistory::settings_of(const Series& series, std::uint64_t from, std::uint64_t to) const {
    if (!moments_.whole().has(from)) // whole blocks, see Pyramid::range()
        for (std::size_t level = 0; level < moments_.levels(); ++level) {
            const int shift = Pyramid<Moment, Stretch>::shift(level);
            if (moments_.level(level).has(from >> shift)) {
                from = (from >> shift) << shift;
                to = (((to - 1) >> shift) + 1) << shift;
                break;
            }
        }
    const auto after =
        std::upper_bound(settings_.begin(), settings_.end(), from,
                         [](std::uint64_t frame, const Settings& stretch) { return frame < stretch.from; });
    return from < series.outline_from || after == settings_.begin() ||
                   (after != settings_.end() && after->from < to)
               ? 0
               : (after - 1)->about.id;
}

std::vector<TraceColumn> TraceHistory::samples(const Series& series, std::uint64_t from,
                                               std::uint64_t to) const {
    std::vector<TraceColumn> points;
    const auto& whole = series.values.whole();
    bool broken = true;
    for (std::uint64_t i = std::max(from, whole.begin()); i < std::min(to, whole.end()); ++i) {
        const Moment& moment = moments_.whole()[i];
        const double value = whole[i];
        broken = broken || moment.broken || i == series.outline_from;
        if (!std::isfinite(value)) {
            broken = true;
            continue;
        }
        points.push_back(
            {moment.time_ns, value, value, std::exchange(broken, false), settings_of(series, i, i + 1)});
    }
    return points;
}

std::vector<TraceColumn> TraceHistory::columns(const Series& series, const std::vector<std::uint64_t>& bounds,
                                               std::int64_t from_ns, double step_ns) const {
    std::vector<TraceColumn> points;
    points.reserve(bounds.size());
    bool broken = true;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        if (bounds[i] == bounds[i + 1])
            continue;
        const Extremes extremes = series.values.range(bounds[i], bounds[i + 1]);
        broken = broken || broken_at(bounds[i]) || !extremes.any() ||
                 (i > 0 && bounds[i - 1] < series.outline_from && series.outline_from <= bounds[i]);
        if (!extremes.any())
            continue;
        const auto middle = static_cast<std::int64_t>((static_cast<double>(i) + 0.5) * step_ns);
        points.push_back({from_ns + middle, extremes.low, extremes.high, std::exchange(broken, false),
                          settings_of(series, bounds[i], bounds[i + 1])});
    }
    return points;
}

std::vector<std::vector<TraceColumn>> TraceHistory::curves(std::int64_t from_ns, std::int64_t to_ns,
                                                           int columns_wanted) {
    const std::scoped_lock lock(mutex_);
    apply_pending();
    if (film_ && to_ns > from_ns && columns_wanted > 0)
        return film_->curves(from_ns, to_ns, columns_wanted);
    std::vector<std::vector<TraceColumn>> curves(series_.size());
    if (to_ns <= from_ns || columns_wanted < 1 || moments_.end() == 0)
        return curves;
    const double step = static_cast<double>(to_ns - from_ns) / columns_wanted;
    const std::uint64_t first = index_at(from_ns), last = index_at(to_ns);
    const bool few = last - first <= 2 * static_cast<std::uint64_t>(columns_wanted);
    if (few && moments_.whole().has(first == 0 ? 0 : first - 1)) {
        for (std::size_t i = 0; i < series_.size(); ++i)
            curves[i] = samples(series_[i], first == 0 ? 0 : first - 1, last + 1);
        return curves;
    }
    // One extra column on each side.
    const std::int64_t begin = from_ns - static_cast<std::int64_t>(step);
    std::vector<std::uint64_t> bounds;
    bounds.reserve(static_cast<std::size_t>(columns_wanted) + 3);
    std::uint64_t reached = 0;
    for (int i = 0; i < columns_wanted + 3; ++i) {
        reached = std::max(reached, index_at(begin + static_cast<std::int64_t>(i * step)));
        bounds.push_back(reached);
    }
    for (std::size_t i = 0; i < series_.size(); ++i)
        curves[i] = columns(series_[i], bounds, begin, step);
    return curves;
}

std::vector<TraceHistory::Frames> TraceHistory::settled(std::uint64_t first, std::uint64_t last) const {
    std::vector<Frames> found;
    for (const Frames& warmup : warmups_) {
        if (warmup.to <= first)
            continue;
        if (warmup.from >= last)
            break;
        if (warmup.from > first)
            found.push_back({first, warmup.from});
        first = warmup.to;
    }
    if (first < last)
        found.push_back({first, last});
    return found;
}

std::vector<TraceHistory::Frames> TraceHistory::made(std::uint64_t first, std::uint64_t last,
                                                     const std::optional<MadeWith>& with) const {
    if (!with)
        return {{first, last}};
    std::vector<Frames> found;
    for (std::size_t i = 0; i < settings_.size(); ++i) {
        const std::uint64_t end = i + 1 < settings_.size() ? settings_[i + 1].from : moments_.end();
        const Frames part{std::max(first, settings_[i].from), std::min(last, end)};
        if (part.from < part.to && difference(*with, settings_[i].about.with).empty())
            found.push_back(part);
    }
    return found;
}

std::vector<std::optional<TraceExtremes>> TraceHistory::extremes(std::int64_t from_ns, std::int64_t to_ns,
                                                                 const std::optional<MadeWith>& with) {
    const std::scoped_lock lock(mutex_);
    apply_pending();
    if (film_ && to_ns >= from_ns)
        return film_->extremes(from_ns, to_ns, with);
    std::vector<std::optional<TraceExtremes>> found(series_.size());
    if (to_ns < from_ns || moments_.end() == 0)
        return found;
    const std::uint64_t first = index_at(from_ns), last = std::min(index_at(to_ns + 1), moments_.end());
    const std::vector<Frames> parts = made(first, last, with);
    std::vector<Frames> stretches;
    for (const Frames& part : parts) {
        const std::vector<Frames> more = settled(part.from, part.to);
        stretches.insert(stretches.end(), more.begin(), more.end());
    }
    const bool all = stretches.size() == 1 && stretches[0].from == first && stretches[0].to == last;
    // for all regions: limits the time for a looping video with many regions
    constexpr std::size_t kMostLooks = 16384;
    const std::size_t most = std::max<std::size_t>(kMostLooks / std::max<std::size_t>(series_.size(), 1), 8);
    if (stretches.size() > most) // keep the newest
        stretches.erase(stretches.begin(), stretches.end() - static_cast<std::ptrdiff_t>(most));
    for (std::size_t i = 0; i < series_.size(); ++i) {
        Extremes extremes;
        const std::uint64_t begin = with ? series_[i].outline_from : 0;
        const auto add = [&](const Frames& frames, bool within) {
            if (frames.to > begin)
                extremes.add(series_[i].values.range(std::max(frames.from, begin), frames.to,
                                                     within || frames.from < begin));
        };
        for (const Frames& stretch : stretches)
            add(stretch, !all);
        if (!extremes.any())
            for (const Frames& part : parts)
                add(part, with.has_value());
        if (extremes.any())
            found[i] = TraceExtremes{extremes.low, extremes.high};
    }
    return found;
}

std::optional<TraceValues> TraceHistory::values_at(std::int64_t time_ns) {
    const std::scoped_lock lock(mutex_);
    apply_pending();
    if (film_)
        return film_->values_at(time_ns);
    if (moments_.end() == 0)
        return std::nullopt;
    std::uint64_t index = std::min(index_at(time_ns), moments_.end() - 1);
    if (index > 0 && time_ns - moment_at(index - 1).time_ns < moment_at(index).time_ns - time_ns)
        --index;
    TraceValues found{moment_of(moment_at(index)), moments_.whole().has(index), {}, {}};
    for (const Series& series : series_) {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (series.values.whole().has(index)) {
            value = series.values.whole()[index];
        } else if (const Extremes block = series.values.range(index, index + 1); block.any()) {
            value = (block.low + block.high) / 2;
            found.exact = false;
        }
        found.values.push_back(value);
        found.settings.push_back(settings_of(series, index, index + 1));
    }
    return found;
}

std::optional<TraceMeans> TraceHistory::means(double seconds) {
    std::int64_t newest = 0;
    {
        const std::scoped_lock lock(mutex_);
        apply_pending();
        if (film_)
            return film_->means(seconds, mean_);
        const auto& whole = moments_.whole();
        if (whole.empty())
            return std::nullopt;
        newest = whole[whole.end() - 1].time_ns;
    }
    return means(newest - static_cast<std::int64_t>(seconds * 1e9) + 1, newest);
}

std::optional<TraceMeans> TraceHistory::means(std::int64_t from_ns, std::int64_t to_ns) {
    const std::scoped_lock lock(mutex_);
    apply_pending();
    if (film_)
        return film_->means(from_ns, to_ns, mean_);
    const auto& whole = moments_.whole();
    const std::uint64_t last = std::min(index_at(to_ns + 1), whole.end());
    std::uint64_t first = std::max(index_at(from_ns), whole.begin());
    if (first >= last || last <= whole.begin())
        return std::nullopt;
    for (const TraceRestart& restart : restarts_) // earlier values are of something else
        if (!restart.edit && restart.time_ns <= whole[last - 1].time_ns)
            first = std::max(first, index_at(restart.time_ns));
    const auto after =
        std::upper_bound(settings_.begin(), settings_.end(), last - 1,
                         [](std::uint64_t frame, const Settings& stretch) { return frame < stretch.from; });
    const Settings* settings = after == settings_.begin() ? nullptr : &*(after - 1);
    if (settings)
        first = std::max(first, settings->from);
    const std::vector<Frames> complete = settled(first, last);
    if (complete.empty())
        return std::nullopt;
    TraceMeans means{
        {}, moment_of(whole[complete.front().from]), moment_of(whole[complete.back().to - 1]), 0};
    if (settings)
        means.with = settings->about.with;
    for (const Frames& stretch : complete)
        means.frames += stretch.to - stretch.from;
    for (const Series& series : series_) {
        const auto& values = series.values.whole();
        TimeMean mean(mean_);
        for (const Frames& stretch : complete)
            for (std::uint64_t i = std::max({stretch.from, values.begin(), series.outline_from});
                 i < std::min(stretch.to, values.end()); ++i)
                mean.add(values[i]);
        means.regions.push_back({series.region.id, series.region.outline, mean.mean(), mean.count()});
    }
    return means;
}

} // namespace specklescope
