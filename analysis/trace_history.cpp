#include "analysis/film_traces.hpp"

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

TraceHistory::~TraceHistory() = default;

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

void TraceHistory::Pushed::open(const StreamInfo& stream, const Sink* feed) {
    const std::scoped_lock lock(mutex_);
    feed_ = feed;
    opened_ = std::make_shared<const std::string>(stream.source_text);
    live_ = stream.source.live;
}

namespace {

/// Progress of the warm-up of a result: of two results of one frame, the more complete one is larger.
std::uint32_t progress_of(const Result& result) {
    if (result.warmup.done())
        return FilmFrame::kSettled - (result.info.recorded_in_warmup ? 1 : 0);
    constexpr std::uint32_t kPerStage = 1U << 16;
    std::uint32_t stage = 0;
    if (result.chain)
        for (const ChainStage& one : result.chain->stages()) {
            if (one.type->name == result.warmup.stage && !one.bypassed)
                break;
            ++stage;
        }
    return stage * kPerStage +
           std::min(static_cast<std::uint32_t>(std::max(result.warmup.frames, 0)), kPerStage - 1);
}

} // namespace

void TraceHistory::push(const Result& result, const Sink* feed) {
    pushed_.add(result, feed);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
        apply_pending();
}

void TraceHistory::push_background(const Result& result, const std::shared_ptr<const std::string>& film) {
    pushed_.add_background(result, film);
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
        apply_pending();
}

void TraceHistory::Pushed::add(const Result& result, const Sink* feed) {
    const std::scoped_lock lock(mutex_);
    if (feed == feed_ || result.repeated)
        queue(result, false, result.repeated ? nullptr : std::exchange(opened_, nullptr));
}

void TraceHistory::Pushed::add_background(const Result& result,
                                          const std::shared_ptr<const std::string>& film) {
    const std::scoped_lock lock(mutex_);
    if (result.info.position && result.info.film_ns && result.regions)
        queue(result, true, film);
}

/// Requires the mutex.
void TraceHistory::Pushed::queue(const Result& result, bool background,
                                 std::shared_ptr<const std::string> source) {
    if (frames_.size() >= kMostWaiting) { // the reader has locked the history for more than a minute
        ++lost_;
        if (source && !background) // with the next one
            opened_ = std::move(source);
        return;
    }
    if (!quantity_ || !same(*quantity_, result.quantity))
        quantity_ = std::make_shared<const Quantity>(result.quantity);
    std::shared_ptr<const MadeWith>& known = with_[background ? 1 : 0];
    MadeWith with = made_with(result);
    const bool other = !known || !difference(*known, with).empty();
    if (other || known->chain != with.chain)
        known = std::make_shared<const MadeWith>(std::move(with));
    std::optional<FilmFrame> film;
    if (result.info.position && result.info.film_ns)
        film = FilmFrame{
            *result.info.position, *result.info.film_ns, result.info.time_origin, progress_of(result), known,
            result.regions};
    frames_.push_back({std::move(film), background, result.info.capture_ns, result.info.sequence,
                       result.info.discontinuity, result.warming_up(), result.info.has_time(),
                       result.repeated, quantity_, known, result.regions, std::move(source), live_});
}

void TraceHistory::Pushed::take(std::vector<PendingFrame>& frames) {
    frames.clear();
    const std::scoped_lock lock(mutex_);
    frames.swap(frames_);
}

void TraceHistory::apply_pending() {
    pushed_.take(taken_);
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

/// Begins an empty axis for another source.
void TraceHistory::begin_axis() {
    clear();
    film_.reset();
    film_newest_.reset();
    newest_.reset();
    again_.reset();
    with_.reset();
    quantity_.reset();
    interval_ns_ = 0;
    gap_ = false;
    ++axis_;
}

void TraceHistory::add_to_film(const PendingFrame& frame) {
    const bool known = film_ && (!frame.opened || *frame.opened == film_name_);
    if (frame.background && (!known || !quantity_ || !same(*quantity_, *frame.quantity))) {
        if (early_.size() < kMostWaiting)
            early_.push_back(frame);
        return;
    }
    if (!known) {
        if (newest_ || film_newest_)
            begin_axis();
        film_name_ = frame.opened ? *frame.opened : "";
    }
    const RegionMean mean = frame.regions ? frame.regions->mean : mean_;
    const bool other = quantity_ && frame.regions && (!same(*quantity_, *frame.quantity) || mean_ != mean);
    const bool fresh = frame.regions && (!quantity_ || other);
    if (!film_ || other)
        film_ = std::make_unique<FilmTraces>(budget_, next_id_, next_settings_);
    if (frame.regions) {
        quantity_ = frame.quantity;
        mean_ = mean;
        film_->put(*frame.film, !frame.background);
    } else {
        film_->no_regions();
    }
    if (!frame.background)
        film_newest_ = TraceMoment{.time_ns = frame.film->time_ns,
                                   .capture_ns = frame.capture_ns,
                                   .sequence = frame.sequence,
                                   .timed = frame.timed,
                                   .position = frame.film->position,
                                   .axis = axis_};
    if (fresh)
        for (const PendingFrame& early : std::exchange(early_, {}))
            if (same(*early.quantity, *quantity_) && (!early.opened || *early.opened == film_name_))
                add_to_film(early);
}

void TraceHistory::add(const PendingFrame& frame) {
    if (frame.film)
        return add_to_film(frame);
    if (film_)
        begin_axis();
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
    std::vector<const TraceRegion*> known;
    known.reserve(series_.size());
    for (const Series& series : series_)
        known.push_back(&series.region);
    const std::vector<std::size_t> from = same_regions(known, placed);
    const std::size_t count = series_.size();
    std::vector<Series> matched;
    matched.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const PlacedRegion& region = placed.regions[i];
        const std::uint64_t outline = outline_of(placed, region);
        const bool is_new = from[i] >= count;
        if (is_new) {
            matched.emplace_back(next_id_++, size);
        } else {
            matched.push_back(std::move(series_[from[i]]));
            matched.back().values.limit(size);
        }
        TraceRegion& about = matched.back().region;
        if (!is_new && about.outline != outline) {
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

std::vector<std::size_t> same_regions(const std::vector<const TraceRegion*>& known,
                                      const PlacedRegions& placed) {
    std::unordered_map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < known.size(); ++i)
        by_name.emplace(known[i]->name, i);
    constexpr std::size_t kNone = ~std::size_t{0};
    std::vector<std::size_t> from(placed.regions.size(), kNone);
    for (std::size_t i = 0; i < from.size(); ++i)
        if (const auto found = by_name.extract(placed.regions[i].name))
            from[i] = found.mapped();
    std::unordered_map<std::uint64_t, std::size_t> by_outline; // for regions whose names disappeared
    for (const auto& [name, index] : by_name)
        by_outline.emplace(known[index]->outline, index);
    for (std::size_t i = 0; i < from.size(); ++i)
        if (from[i] == kNone)
            if (const auto renamed = by_outline.extract(outline_of(placed, placed.regions[i])))
                from[i] = renamed.mapped();
    return from;
}

const TraceSettings* TraceOverview::find(std::uint64_t id) const {
    const auto at = std::find_if(settings.begin(), settings.end(),
                                 [&](const TraceSettings& stretch) { return stretch.id == id; });
    return at == settings.end() ? nullptr : &*at;
}

bool TraceOverview::only_newest(const TraceRegion& region) const {
    return region.outline_from_ns == std::numeric_limits<std::int64_t>::max() ||
           (with && !settings.empty() && !difference(settings.back().with, *with).empty());
}

bool TraceOverview::comparable(const TraceColumn& column, const std::optional<MadeWith>& made) const {
    const TraceSettings* at = find(column.settings);
    return at && (!made || difference(*made, at->with).empty());
}

TraceOverview TraceHistory::overview() {
    const std::scoped_lock lock(mutex_);
    apply_pending();
    TraceOverview about;
    if (quantity_)
        about.quantity = *quantity_;
    about.mean = mean_;
    about.axis = axis_;
    if (film_) {
        about.film = true;
        about.newest = film_newest_;
        about.newest_quantity = about.quantity;
        film_->describe(about);
        about.lost = pushed_.lost();
        return about;
    }
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
    about.lost = pushed_.lost();
    return about;
}

namespace {

class TraceFeed final : public Sink {
public:
    TraceFeed(std::shared_ptr<TraceHistory> history, bool background)
        : history_(std::move(history)), background_(background) {}
    void open(const StreamInfo& stream) override {
        if (background_)
            film_ = std::make_shared<const std::string>(stream.source_text);
        else
            history_->open(stream, this);
    }
    void push(const Result& result, bool) override {
        if (background_)
            history_->push_background(result, film_);
        else
            history_->push(result, this);
    }
    void close() noexcept override {}
    bool wants_host_image() const override { return false; }
    bool follows_display() const override { return true; }
    SinkStatus status() const override { return {}; }

private:
    const std::shared_ptr<TraceHistory> history_;
    const bool background_;
    std::shared_ptr<const std::string> film_; ///< in the background
};

} // namespace

std::shared_ptr<Sink> make_trace_feed(std::shared_ptr<TraceHistory> history) {
    return std::make_shared<TraceFeed>(std::move(history), false);
}

std::shared_ptr<Sink> make_background_feed(std::shared_ptr<TraceHistory> history) {
    return std::make_shared<TraceFeed>(std::move(history), true);
}

} // namespace specklescope
