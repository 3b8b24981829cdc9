#include "analysis/trace_history.hpp"

#include <bit>
#include <unordered_map>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kMostWaiting = std::size_t{1} << 16;
constexpr std::size_t kMostRestarts = 256;
constexpr std::int64_t kUnknownInterval = 1'000'000; ///< ns

bool same(const Quantity& a, const Quantity& b) {
    return a.measure == b.measure && a.name == b.name && a.symbol == b.symbol && a.unit == b.unit;
}

/// FNV-1a of the pixels that a region holds.
std::uint64_t outline_of(const PlacedRegions& placed, const PlacedRegion& region) {
    std::uint64_t hash = 14695981039346656037U;
    const auto take = [&](std::int32_t value) {
        hash = (hash ^ static_cast<std::uint32_t>(value)) * 1099511628211U;
    };
    for (std::uint32_t i = region.span; i < region.span + region.spans; ++i) {
        take(placed.spans[i].x);
        take(placed.spans[i].y);
        take(placed.spans[i].length);
    }
    return hash;
}

/// Of frames: taken over K² where the values follow from it.
class TimeMean {
public:
    explicit TimeMean(RegionMean mean) : mean_(mean) {}
    void add(double value) {
        if (std::isnan(value) || (std::isinf(value) && mean_ != RegionMean::of_inverses))
            return;
        sum_ += mean_ == RegionMean::of_inverses  ? 1 / value
                : mean_ == RegionMean::of_squares ? value * value
                                                  : value;
        ++count_;
    }
    std::uint64_t count() const { return count_; }
    double mean() const {
        const double mean = sum_ / static_cast<double>(count_); // NaN of none
        return mean_ == RegionMean::of_inverses  ? 1 / mean
               : mean_ == RegionMean::of_squares ? std::sqrt(mean)
                                                 : mean;
    }

private:
    RegionMean mean_;
    double sum_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace

TraceHistory::TraceHistory(std::size_t budget) : budget_(budget), moments_(size_for(1)) {}

/// Of a region a day at 1000 frames/s fills up to 16 levels; a value takes 8 bytes and its block 16, a moment
/// sizeof(Moment) and sizeof(Stretch).
PyramidSize TraceHistory::size_for(std::size_t regions) const {
    constexpr std::size_t kFullLevels = 16, kLeast = 1024;
    constexpr std::size_t kSeries =
        sizeof(double) + (kFullLevels * sizeof(Extremes) >> PyramidSize::kFirstShift);
    constexpr std::size_t kMoments =
        sizeof(Moment) + (kFullLevels * sizeof(Stretch) >> PyramidSize::kFirstShift);
    PyramidSize size;
    const std::size_t room = budget_ / (kSeries * std::max<std::size_t>(regions, 1) + kMoments);
    size.whole = std::clamp(std::bit_floor(std::max<std::size_t>(room, 1)), kLeast, size.whole);
    return size;
}

void TraceHistory::open(const StreamInfo& stream, const Sink* feed) {
    const std::scoped_lock lock(waiting_mutex_);
    feed_ = feed;
    opened_ = std::make_shared<const std::string>(stream.source_text);
}

void TraceHistory::push(const Result& result, const Sink* feed) {
    if (result.repeated)
        return;
    {
        const std::scoped_lock lock(waiting_mutex_);
        if (feed != feed_)
            return;
        if (waiting_.size() >= kMostWaiting) { // the reader has held the history for more than a minute
            ++lost_;
            return;
        }
        if (!pushed_quantity_ || !same(*pushed_quantity_, result.quantity))
            pushed_quantity_ = std::make_shared<const Quantity>(result.quantity);
        waiting_.push_back({result.info.capture_ns, result.info.sequence, result.info.discontinuity,
                            pushed_quantity_, result.regions, std::exchange(opened_, nullptr)});
    }
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
        take_in();
}

void TraceHistory::take_in() {
    taken_.clear();
    {
        const std::scoped_lock lock(waiting_mutex_);
        taken_.swap(waiting_);
    }
    for (const Waiting& frame : taken_)
        add(frame);
    taken_.clear();
}

/// Where the frame lies on the axis; notes a restart.
TraceHistory::Moment TraceHistory::moment_for(const Waiting& frame) {
    Moment moment{frame.capture_ns, 0, frame.sequence, true};
    if (!newest_)
        return moment;
    moment.shift_ns = newest_->shift_ns;
    const bool restarts = frame.opened || frame.jump;
    if (frame.opened || (frame.jump && frame.capture_ns + moment.shift_ns <= newest_->time_ns))
        moment.shift_ns =
            newest_->time_ns + (interval_ns_ > 0 ? interval_ns_ : kUnknownInterval) - frame.capture_ns;
    moment.time_ns = frame.capture_ns + moment.shift_ns;
    if (moment.time_ns < newest_->time_ns) { // a clock that went back a little
        moment.time_ns = newest_->time_ns;
        moment.shift_ns = moment.time_ns - frame.capture_ns;
    }
    moment.broken = restarts || gap_ || frame.sequence != newest_->sequence + 1;
    if (restarts) {
        restarts_.push_back(
            {moment.time_ns, frame.opened ? "source " + *frame.opened : "jump in the source"});
        if (restarts_.size() > kMostRestarts)
            restarts_.pop_front();
    } else if (!moment.broken) {
        interval_ns_ = moment.time_ns - newest_->time_ns;
    }
    return moment;
}

void TraceHistory::add(const Waiting& frame) {
    const Moment moment = moment_for(frame);
    newest_ = moment;
    if (!frame.regions) {
        gap_ = true;
        series_.clear();
        placed_.reset();
        return;
    }
    gap_ = false;
    if (!quantity_ || !same(*quantity_, *frame.quantity) || mean_ != frame.regions->mean) {
        if (quantity_) {
            clear();
            restarts_.push_back({moment.time_ns, "now " + frame.quantity->name});
        }
        quantity_ = frame.quantity;
        mean_ = frame.regions->mean;
    }
    if (placed_ != frame.regions->placed) {
        match(*frame.regions->placed);
        placed_ = frame.regions->placed;
    }
    const std::uint64_t index = moments_.end();
    moments_.push(index, moment);
    for (std::size_t i = 0; i < series_.size(); ++i)
        series_[i].values.push(index, frame.regions->statistics[i].mean);
}

void TraceHistory::clear() {
    series_.clear();
    placed_.reset();
    restarts_.clear();
    moments_ = Pyramid<Moment, Stretch>(size_for(1));
}

void TraceHistory::match(const PlacedRegions& placed) {
    const PyramidSize size = size_for(placed.regions.size());
    moments_.limit(size);
    std::unordered_map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < series_.size(); ++i)
        by_name.emplace(series_[i].region.name, i);
    constexpr std::size_t kNone = ~std::size_t{0};
    std::vector<std::size_t> from(placed.regions.size(), kNone);
    for (std::size_t i = 0; i < from.size(); ++i)
        if (const auto found = by_name.extract(placed.regions[i].name))
            from[i] = found.mapped();
    std::unordered_map<std::uint64_t, std::size_t> by_outline; // of those whose names are gone
    for (const auto& [name, index] : by_name)
        by_outline.emplace(series_[index].region.outline, index);
    std::vector<Series> matched;
    matched.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const PlacedRegion& region = placed.regions[i];
        const std::uint64_t outline = outline_of(placed, region);
        if (from[i] == kNone)
            if (const auto renamed = by_outline.extract(outline))
                from[i] = renamed.mapped();
        if (from[i] == kNone) {
            matched.emplace_back(next_id_++, size);
        } else {
            matched.push_back(std::move(series_[from[i]]));
            matched.back().values.limit(size);
        }
        matched.back().region.name = region.name;
        matched.back().region.pixels = region.pixels;
        matched.back().region.outline = outline;
    }
    series_ = std::move(matched);
}

TraceOverview TraceHistory::overview() {
    const std::scoped_lock lock(mutex_);
    take_in();
    TraceOverview about;
    if (quantity_)
        about.quantity = *quantity_;
    about.mean = mean_;
    about.frames = moments_.end();
    about.bytes = moments_.bytes();
    for (const Series& series : series_) {
        about.regions.push_back(series.region);
        about.bytes += series.values.bytes();
        if (const auto& whole = series.values.whole(); !whole.empty())
            about.regions.back().newest = whole[whole.end() - 1];
    }
    if (about.frames > 0) {
        about.first_ns = moment_at(0).time_ns;
        about.last_ns = moments_.whole()[about.frames - 1].time_ns;
    }
    if (newest_)
        about.newest = moment_of(*newest_);
    about.restarts.assign(restarts_.begin(), restarts_.end());
    const std::scoped_lock waiting(waiting_mutex_);
    about.lost = lost_;
    return about;
}

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

/// As it was, or the first of the smallest block that holds it.
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

std::vector<TraceColumn> TraceHistory::samples(const Series& series, std::uint64_t from,
                                               std::uint64_t to) const {
    std::vector<TraceColumn> points;
    const auto& whole = series.values.whole();
    bool broken = true;
    for (std::uint64_t i = std::max(from, whole.begin()); i < std::min(to, whole.end()); ++i) {
        const Moment& moment = moments_.whole()[i];
        const double value = whole[i];
        broken = broken || moment.broken;
        if (!std::isfinite(value)) {
            broken = true;
            continue;
        }
        points.push_back({moment.time_ns, value, value, std::exchange(broken, false)});
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
        broken = broken || broken_at(bounds[i]) || !extremes.any();
        if (!extremes.any())
            continue;
        const auto middle = static_cast<std::int64_t>((static_cast<double>(i) + 0.5) * step_ns);
        points.push_back({from_ns + middle, extremes.low, extremes.high, std::exchange(broken, false)});
    }
    return points;
}

std::vector<std::vector<TraceColumn>> TraceHistory::curves(std::int64_t from_ns, std::int64_t to_ns,
                                                           int columns_wanted) {
    const std::scoped_lock lock(mutex_);
    take_in();
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
    // A column more on each side.
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

std::optional<TraceValues> TraceHistory::values_at(std::int64_t time_ns) {
    const std::scoped_lock lock(mutex_);
    take_in();
    if (moments_.end() == 0)
        return std::nullopt;
    std::uint64_t index = std::min(index_at(time_ns), moments_.end() - 1);
    if (index > 0 && time_ns - moment_at(index - 1).time_ns < moment_at(index).time_ns - time_ns)
        --index;
    TraceValues found{moment_of(moment_at(index)), moments_.whole().has(index), {}};
    for (const Series& series : series_) {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (series.values.whole().has(index)) {
            value = series.values.whole()[index];
        } else if (const Extremes block = series.values.range(index, index + 1); block.any()) {
            value = (block.low + block.high) / 2;
            found.exact = false;
        }
        found.values.push_back(value);
    }
    return found;
}

std::optional<TraceMeans> TraceHistory::means(double seconds) {
    const std::scoped_lock lock(mutex_);
    take_in();
    const auto& whole = moments_.whole();
    if (whole.empty())
        return std::nullopt;
    const std::uint64_t end = whole.end();
    std::int64_t since = whole[end - 1].time_ns - static_cast<std::int64_t>(seconds * 1e9) + 1;
    if (!restarts_.empty()) // what came before is of something else
        since = std::max(since, restarts_.back().time_ns);
    const std::uint64_t from = std::min(std::max(index_at(since), whole.begin()), end - 1);
    TraceMeans means{{}, moment_of(whole[from]), moment_of(whole[end - 1]), end - from};
    for (const Series& series : series_) {
        const auto& values = series.values.whole();
        TimeMean mean(mean_);
        for (std::uint64_t i = std::max(from, values.begin()); i < values.end(); ++i)
            mean.add(values[i]);
        means.regions.push_back({series.region.id, series.region.outline, mean.mean(), mean.count()});
    }
    return means;
}

namespace {

class TraceFeed final : public Sink {
public:
    explicit TraceFeed(std::shared_ptr<TraceHistory> history) : history_(std::move(history)) {}
    void open(const StreamInfo& stream) override { history_->open(stream, this); }
    void push(const Result& result, bool) override { history_->push(result, this); }
    void close() noexcept override {}
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override { return {}; }

private:
    const std::shared_ptr<TraceHistory> history_;
};

} // namespace

std::shared_ptr<Sink> make_trace_feed(std::shared_ptr<TraceHistory> history) {
    return std::make_shared<TraceFeed>(std::move(history));
}

} // namespace specklescope
