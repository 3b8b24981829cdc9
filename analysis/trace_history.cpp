#include "analysis/trace_history.hpp"

#include "pipeline/clock/stale.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <unordered_map>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kMostWaiting = std::size_t{1} << 16;
constexpr std::size_t kMostRestarts = 256;
constexpr std::size_t kMostWarmups = 256;
constexpr std::size_t kMostSettings = 256;
constexpr std::int64_t kOneEdit = 1'000'000'000; ///< ns: dragging a slider is one restart
constexpr const char* kChanged = "settings changed";
constexpr std::int64_t kUnknownInterval = 1'000'000; ///< ns

std::string silence_text(std::int64_t ns) {
    char text[48];
    std::snprintf(text, sizeof text, "no frames for %.1f s", static_cast<double>(ns) * 1e-9);
    return text;
}

bool same(const Quantity& a, const Quantity& b) {
    return a.measure == b.measure && a.name == b.name && a.symbol == b.symbol && a.unit == b.unit;
}

} // namespace

TraceHistory::TraceHistory(std::size_t budget) : budget_(budget), moments_(size_for(1)) {}

/// A region's data of a day at 1000 frames/s fill up to 16 levels; a value takes 8 bytes and its block 16, a
/// moment sizeof(Moment) and sizeof(Stretch).
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
    live_ = stream.source.live;
}

void TraceHistory::push(const Result& result, const Sink* feed) {
    {
        const std::scoped_lock lock(waiting_mutex_);
        if (feed != feed_ && !result.repeated)
            return;
        if (waiting_.size() >= kMostWaiting) { // the reader has locked the history for more than a minute
            ++lost_;
            return;
        }
        if (!pushed_quantity_ || !same(*pushed_quantity_, result.quantity))
            pushed_quantity_ = std::make_shared<const Quantity>(result.quantity);
        MadeWith with = made_with(result);
        const bool other = !pushed_with_ || !difference(*pushed_with_, with).empty();
        if (other || pushed_with_->chain != with.chain)
            pushed_with_ = std::make_shared<const MadeWith>(std::move(with));
        waiting_.push_back({result.info.capture_ns, result.info.sequence, result.info.discontinuity,
                            result.warming_up(), result.info.has_time(), result.repeated, pushed_quantity_,
                            pushed_with_, result.regions,
                            result.repeated ? nullptr : std::exchange(opened_, nullptr), live_});
    }
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
        apply_pending();
}

void TraceHistory::apply_pending() {
    taken_.clear();
    {
        const std::scoped_lock lock(waiting_mutex_);
        taken_.swap(waiting_);
    }
    for (const PendingFrame& frame : taken_)
        add(frame);
    taken_.clear();
}

/// Position of the frame on the axis; records a restart.
TraceHistory::Moment TraceHistory::moment_for(const PendingFrame& frame) {
    Moment moment{frame.capture_ns, 0, frame.sequence, true, frame.timed};
    if (!newest_)
        return moment;
    moment.shift_ns = newest_->shift_ns;
    const bool restarts = frame.opened || frame.jump;
    if (frame.opened || (frame.jump && frame.capture_ns + moment.shift_ns <= newest_->time_ns))
        moment.shift_ns =
            newest_->time_ns + (interval_ns_ > 0 ? interval_ns_ : kUnknownInterval) - frame.capture_ns;
    moment.time_ns = frame.capture_ns + moment.shift_ns;
    if (moment.time_ns < newest_->time_ns) { // the clock went back a little
        moment.time_ns = newest_->time_ns;
        moment.shift_ns = moment.time_ns - frame.capture_ns;
    }
    const std::int64_t away_ns = moment.time_ns - newest_->time_ns;
    const bool silent = frame.live && frame.timed && !frame.opened &&
                        away_ns > stale_after(std::chrono::nanoseconds(interval_ns_)).count();
    moment.broken = restarts || silent || gap_ || frame.sequence != newest_->sequence + 1;
    if (restarts || silent) {
        restarts_.push_back({moment.time_ns, frame.opened ? "source " + *frame.opened
                                             : silent     ? silence_text(away_ns)
                                                          : "jump in the source"});
        if (restarts_.size() > kMostRestarts)
            restarts_.pop_front();
    }
    if (!restarts && (silent || !moment.broken)) // a source that became slow is not silent at each frame
        interval_ns_ = away_ns;
    return moment;
}

void TraceHistory::mark_edit(std::int64_t time_ns, const std::string& what) {
    if (!restarts_.empty() && restarts_.back().edit && time_ns - edited_ns_ < kOneEdit)
        restarts_.back().what = kChanged;
    else
        restarts_.push_back({time_ns, std::string(kChanged) + ": " + what, true});
    edited_ns_ = time_ns;
    if (restarts_.size() > kMostRestarts)
        restarts_.pop_front();
}

/// Starts a new stretch if the settings changed; marks it as a restart unless it is the first.
bool TraceHistory::settings_changed(const PendingFrame& frame, std::int64_t time_ns) {
    if (with_ == frame.with && !settings_.empty())
        return false;
    const std::string what = settings_.empty() ? "" : difference(settings_.back().about.with, *frame.with);
    with_ = frame.with;
    if (!settings_.empty() && what.empty()) {
        add_facts(settings_.back().about.with, *with_);
        return false;
    }
    if (!what.empty())
        mark_edit(time_ns, what);
    settings_.push_back({{next_settings_++, time_ns, *frame.with}, moments_.end()});
    if (settings_.size() > kMostSettings)
        settings_.pop_front();
    return !what.empty();
}

void TraceHistory::add(const PendingFrame& frame) {
    if (frame.repeated) {
        if (newest_ && newest_->sequence == frame.sequence)
            again_ = frame;
        return;
    }
    again_.reset();
    Moment moment = moment_for(frame);
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
        match(*frame.regions->placed, moment.time_ns);
        placed_ = frame.regions->placed;
    }
    moment.broken = settings_changed(frame, moment.time_ns) || moment.broken;
    const std::uint64_t index = moments_.end();
    moments_.push(index, moment);
    if (frame.warming_up)
        add_warmup(index);
    for (std::size_t i = 0; i < series_.size(); ++i)
        series_[i].values.push(index, frame.regions->statistics[i].mean);
}

void TraceHistory::clear() {
    series_.clear();
    placed_.reset();
    restarts_.clear();
    settings_.clear();
    warmups_.clear();
    moments_ = Pyramid<Moment, Stretch>(size_for(1));
}

void TraceHistory::add_warmup(std::uint64_t index) {
    if (!warmups_.empty() && warmups_.back().to == index) {
        ++warmups_.back().to;
        return;
    }
    warmups_.push_back({index, index + 1});
    if (warmups_.size() <= kMostWarmups)
        return;
    warmups_[1].from = warmups_[0].from;
    warmups_.pop_front();
}

void TraceHistory::match(const PlacedRegions& placed, std::int64_t time_ns) {
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
    std::unordered_map<std::uint64_t, std::size_t> by_outline; // for regions whose names disappeared
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
        TraceRegion& about = matched.back().region;
        if (from[i] != kNone && about.outline != outline) {
            matched.back().outline_from = moments_.end();
            about.outline_from_ns = time_ns;
            mark_edit(time_ns, "outline of " + region.name);
        }
        about.name = region.name;
        about.pixels = region.pixels;
        about.outline = outline;
    }
    series_ = std::move(matched);
}

const TraceSettings* TraceOverview::settings_at(std::int64_t time_ns) const {
    const auto after = std::upper_bound(
        settings.begin(), settings.end(), time_ns,
        [](std::int64_t time, const TraceSettings& stretch) { return time < stretch.from_ns; });
    return after == settings.begin() ? nullptr : &*(after - 1);
}

bool TraceOverview::only_newest(const TraceRegion& region) const {
    return region.outline_from_ns == std::numeric_limits<std::int64_t>::max() ||
           (with && !settings.empty() && !difference(settings.back().with, *with).empty());
}

bool TraceOverview::comparable(const TraceColumn& column, const std::optional<MadeWith>& made) const {
    const auto at = std::find_if(settings.begin(), settings.end(),
                                 [&](const TraceSettings& stretch) { return stretch.id == column.settings; });
    return at != settings.end() && (!made || difference(*made, at->with).empty());
}

TraceOverview TraceHistory::overview() {
    const std::scoped_lock lock(mutex_);
    apply_pending();
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
    about.newest_quantity = about.quantity;
    if (with_)
        about.with = *with_;
    if (again_ && again_->regions) {
        about.with = *again_->with;
        about.newest_quantity = *again_->quantity;
        const auto& placed = again_->regions->placed->regions;
        for (TraceRegion& region : about.regions) {
            const auto at = std::find_if(placed.begin(), placed.end(), [&](const PlacedRegion& known) {
                return known.name == region.name;
            });
            if (at == placed.end())
                continue;
            region.newest = again_->regions->statistics[static_cast<std::size_t>(at - placed.begin())].mean;
            const std::uint64_t outline = outline_of(*again_->regions->placed, *at);
            if (outline != region.outline)
                region.outline_from_ns = std::numeric_limits<std::int64_t>::max();
            region.outline = outline;
            region.pixels = at->pixels;
        }
    }
    if (about.frames > 0) {
        about.first_ns = moment_at(0).time_ns;
        about.last_ns = moments_.whole()[about.frames - 1].time_ns;
    }
    if (newest_)
        about.newest = moment_of(*newest_);
    about.restarts.assign(restarts_.begin(), restarts_.end());
    for (const Settings& settings : settings_)
        about.settings.push_back(settings.about);
    const std::scoped_lock waiting(waiting_mutex_);
    about.lost = lost_;
    return about;
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
