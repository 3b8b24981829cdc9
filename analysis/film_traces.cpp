#include "analysis/film_traces.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace specklescope {

namespace {

constexpr std::size_t kMostMade = 256, kMostMarks = 256;

} // namespace

double FilmTraces::Value::centre() const { return low == high || std::isnan(low) ? low : (low + high) / 2; }

FilmTraces::Extremes FilmTraces::Value::extremes() const {
    Extremes both(low);
    both.add(Extremes(high));
    return both;
}

/// Keeps the smallest and the largest finite value.
void FilmTraces::Value::add(const Value& more) {
    if (!more.extremes().any())
        return;
    if (!extremes().any())
        *this = more;
    low = std::min(low, more.low);
    high = std::max(high, more.high);
}

std::uint64_t FilmTraces::Made::outline(std::uint64_t region) const {
    const auto at = std::find_if(outlines.begin(), outlines.end(),
                                 [&](const auto& known) { return known.first == region; });
    return at == outlines.end() ? 0 : at->second;
}

// --- cells
// --------------------------------------------------------------------------------------------------

/// With their blocks, which are an eighth as many.
std::size_t FilmTraces::most_cells() const {
    constexpr std::size_t kLeast = 1024;
    const std::size_t bytes =
        sizeof(Cell) + sizeof(Part) / 8 + series_.size() * (sizeof(Value) + sizeof(Extremes) / 8);
    return std::max(budget_ / (2 * bytes), kLeast); // vectors grow by doubling
}

FilmTraces::Part FilmTraces::part_at(std::size_t index) const {
    const Cell& cell = cells_[index];
    Part part;
    if (cell.made == 0)
        return part;
    part.first_ns = part.last_ns = cell.time_ns;
    part.first = part.last = cell.made;
    part.any = true;
    part.settled = cell.progress == FilmFrame::kSettled;
    part.warm = !part.settled;
    return part;
}

FilmTraces::Part FilmTraces::parts(std::size_t from, std::size_t to) const {
    return parts_.range(from, to, [this](std::size_t i) { return part_at(i); });
}

FilmTraces::Extremes FilmTraces::range(const Series& series, std::size_t from, std::size_t to) const {
    return series.blocks.range(from, to, [&](std::size_t i) { return series.values[i].extremes(); });
}

void FilmTraces::update(std::size_t index) {
    parts_.update(index, cells_.size(), [this](std::size_t i) { return part_at(i); });
    for (Series& series : series_)
        series.blocks.update(index, cells_.size(),
                             [&](std::size_t i) { return series.values[i].extremes(); });
}

void FilmTraces::rebuild() {
    parts_.rebuild(cells_.size(), [this](std::size_t i) { return part_at(i); });
    for (Series& series : series_)
        series.blocks.rebuild(cells_.size(), [&](std::size_t i) { return series.values[i].extremes(); });
}

/// Merges two cells each. If their settings differ, the second one stays.
void FilmTraces::coarsen() {
    const std::size_t count = (cells_.size() + 1) / 2;
    for (std::size_t i = 0; i < count; ++i) {
        const Cell first = cells_[2 * i], second = 2 * i + 1 < cells_.size() ? cells_[2 * i + 1] : Cell();
        const bool both = first.made != 0 && first.made == second.made;
        const bool take_first = second.made == 0;
        cells_[i] = take_first ? first : second;
        if (both)
            cells_[i] = {first.time_ns, first.made, std::min(first.progress, second.progress)};
        for (Series& series : series_) {
            const Value early = series.values[2 * i];
            const Value late = 2 * i + 1 < series.values.size() ? series.values[2 * i + 1] : Value();
            series.values[i] = take_first ? early : late;
            if (both)
                series.values[i].add(early);
        }
    }
    cells_.resize(count);
    for (Series& series : series_)
        series.values.resize(count);
    frames_ = static_cast<std::uint64_t>(
        std::count_if(cells_.begin(), cells_.end(), [](const Cell& cell) { return cell.made != 0; }));
    newest_ /= 2;
    ++shift_;
    rebuild();
}

/// Times of a film by its rate follow an edit of the rate.
void FilmTraces::scale(const FilmFrame& frame) {
    timed_ = frame.origin != TimeOrigin::none;
    by_rate_ = by_rate_ && frame.origin != TimeOrigin::source;
    if (!by_rate_ || frame.position == 0)
        return;
    const double step = static_cast<double>(frame.time_ns) / static_cast<double>(frame.position);
    constexpr double kSame = 1e-6;
    if (std::abs(step - std::exchange(step_ns_, step)) <= kSame * step || frames_ == 0)
        return;
    for (std::size_t i = 0; i < cells_.size(); ++i)
        cells_[i].time_ns = std::llround(static_cast<double>(i << shift_) * step);
    rebuild();
}

/// Returns a time that increases with the position, whatever the file states.
std::int64_t FilmTraces::fitting_time(std::size_t index, std::int64_t time_ns) const {
    const Part before = parts(0, index), after = parts(index + 1, cells_.size());
    if (after.any)
        time_ns = std::min(time_ns, after.first_ns);
    return before.any ? std::max(time_ns, before.last_ns) : time_ns;
}

void FilmTraces::put(const FilmFrame& frame, bool shown) {
    if ((shown && matched_ != frame.regions->placed) || series_.empty()) {
        match(*frame.regions->placed);
        matched_ = frame.regions->placed;
    }
    scale(frame);
    while ((frame.position >> shift_) >= most_cells())
        coarsen();
    const auto index = static_cast<std::size_t>(frame.position >> shift_);
    if (index >= cells_.size()) {
        cells_.resize(index + 1);
        for (Series& series : series_)
            series.values.resize(index + 1);
    }
    const std::uint32_t made = made_of(frame, shown);
    const std::vector<PlacedRegion>& placed = frame.regions->placed->regions;
    const auto value_of = [&](std::size_t i) -> double {
        if (shown) // match() has given them this order
            return frame.regions->statistics[i].mean;
        const auto at = std::find_if(placed.begin(), placed.end(), [&](const PlacedRegion& region) {
            return region.name == series_[i].region.name;
        });
        return at == placed.end()
                   ? std::numeric_limits<double>::quiet_NaN()
                   : frame.regions->statistics[static_cast<std::size_t>(at - placed.begin())].mean;
    };
    if (shown) {
        newest_ = index;
        newest_made_ = made;
        for (std::size_t i = 0; i < series_.size(); ++i)
            series_[i].region.newest = value_of(i);
    }
    Cell& cell = cells_[index];
    if (cell.made == made && frame.progress < cell.progress)
        return;
    const bool begins = cell.made != made || (frame.position & ((std::uint64_t{1} << shift_) - 1)) == 0;
    frames_ += cell.made == 0 ? 1 : 0;
    if (begins)
        cell.time_ns = fitting_time(index, frame.time_ns);
    cell.made = made;
    cell.progress = begins ? frame.progress : std::min(cell.progress, frame.progress);
    for (std::size_t i = 0; i < series_.size(); ++i) {
        const double measured = value_of(i);
        const Value value{measured, measured};
        if (begins)
            series_[i].values[index] = value;
        else
            series_[i].values[index].add(value);
    }
    ++changes_;
    update(index);
}

// --- regions and settings
// -----------------------------------------------------------------------------------

void FilmTraces::match(const PlacedRegions& placed) {
    std::vector<const TraceRegion*> known;
    known.reserve(series_.size());
    for (const Series& series : series_)
        known.push_back(&series.region);
    const std::vector<std::size_t> from = same_regions(known, placed);
    std::vector<Series> matched;
    matched.reserve(from.size());
    bool changed = from.size() != series_.size();
    for (std::size_t i = 0; i < from.size(); ++i) {
        const PlacedRegion& region = placed.regions[i];
        if (from[i] < series_.size()) {
            matched.push_back(std::move(series_[from[i]]));
        } else {
            matched.emplace_back();
            matched.back().region.id = next_region_++;
            matched.back().values.resize(cells_.size());
        }
        changed = changed || from[i] != i;
        TraceRegion& about = matched.back().region;
        about.name = region.name;
        about.pixels = region.pixels;
        about.outline = outline_of(placed, region);
    }
    series_ = std::move(matched);
    if (changed)
        known_ = {};
}

std::uint32_t FilmTraces::made_of(const FilmFrame& frame, bool shown) {
    Known& last = known_[shown ? 0 : 1];
    if (last.made != 0 && last.with == frame.with && last.placed == frame.regions->placed)
        return last.made;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> outlines;
    for (const Series& series : series_)
        for (const PlacedRegion& region : frame.regions->placed->regions)
            if (region.name == series.region.name)
                outlines.emplace_back(series.region.id, outline_of(*frame.regions->placed, region));
    if (made_.size() >= kMostMade)
        forget_unused();
    std::uint32_t found = 0;
    std::uint64_t id = 0; ///< of the same settings with other outlines
    for (std::size_t i = made_.size(); i-- > 0 && found == 0;) {
        if (!difference(made_[i].about.with, *frame.with).empty())
            continue;
        add_facts(made_[i].about.with, *frame.with);
        id = id == 0 ? made_[i].about.id : id;
        if (made_[i].outlines == outlines)
            found = static_cast<std::uint32_t>(i + 1);
    }
    if (found == 0) {
        made_.push_back({{id != 0 ? id : next_settings_++, frame.time_ns, *frame.with}, std::move(outlines)});
        found = static_cast<std::uint32_t>(made_.size());
    }
    last = {frame.with, frame.regions->placed, found};
    return found;
}

/// A dragged slider leaves settings that no value has any more.
void FilmTraces::forget_unused() {
    std::vector<std::uint32_t> now(made_.size() + 1, 0);
    for (const Cell& cell : cells_)
        now[cell.made] = 1;
    now[0] = 0;
    if (newest_made_ != 0)
        now[newest_made_] = 1;
    std::vector<Made> kept;
    for (std::size_t i = 1; i < now.size(); ++i)
        if (now[i] != 0) {
            kept.push_back(std::move(made_[i - 1]));
            now[i] = static_cast<std::uint32_t>(kept.size());
        }
    for (Cell& cell : cells_)
        cell.made = now[cell.made];
    newest_made_ = now[newest_made_];
    made_ = std::move(kept);
    known_ = {};
    rebuild();
}

std::uint64_t FilmTraces::settings_of(const Series& series, std::uint32_t made) const {
    return made != 0 && made_[made - 1].outline(series.region.id) == series.region.outline
               ? made_[made - 1].about.id
               : 0;
}

bool FilmTraces::joined(const Series& series, std::size_t before, std::size_t index) const {
    const std::uint32_t a = cells_[before].made, b = cells_[index].made;
    if (a == 0 || b == 0 || a == b)
        return a == b && a != 0;
    return made_[a - 1].about.id == made_[b - 1].about.id &&
           made_[a - 1].outline(series.region.id) == made_[b - 1].outline(series.region.id);
}

/// Stretches of cells with a frame and the same settings; with `by_warmup` also the same state of warm-up.
std::vector<FilmTraces::Run> FilmTraces::runs(std::size_t from, std::size_t to, bool by_warmup) const {
    std::vector<Run> found;
    parts_.walk(
        from, to, [this](std::size_t i) { return part_at(i); },
        [&](const Part& part) { return !part.mixed && !(by_warmup && part.warm && part.settled); },
        [&](std::size_t begin, std::size_t end, const Part& part) {
            if (!part.any)
                return;
            const bool settled = !by_warmup || part.settled;
            if (!found.empty() && found.back().made == part.first && found.back().settled == settled)
                found.back().to = end; // also over cells without a frame, which have no values
            else
                found.push_back({begin, end, part.first, settled});
        });
    return found;
}

/// Places where settings or outlines change. A single frame with other settings does not count.
std::vector<TraceRestart> FilmTraces::marks() const {
    std::vector<TraceRestart> marks;
    const Run* before = nullptr;
    const std::vector<Run> all = runs(0, cells_.size(), false);
    for (const Run& run : all) {
        if (run.to - run.from < 2)
            continue;
        if (before && before->made != run.made) {
            const Made &then = made_[before->made - 1], &now = made_[run.made - 1];
            std::string what = difference(then.about.with, now.about.with);
            for (const Series& series : series_) {
                const std::uint64_t old = then.outline(series.region.id),
                                    next = now.outline(series.region.id);
                if (what.empty() && old != 0 && next != 0 && old != next)
                    what = "outline of " + series.region.name;
            }
            if (!what.empty())
                marks.push_back({parts(run.from, run.to).first_ns, "settings changed: " + what, true});
        }
        before = &run;
    }
    if (marks.size() > kMostMarks)
        marks.erase(marks.begin(), marks.end() - kMostMarks);
    return marks;
}

// --- queries
// ------------------------------------------------------------------------------------------------

std::size_t FilmTraces::index_at(std::int64_t time_ns) const {
    return parts_.first(
        cells_.size(), [this](std::size_t i) { return part_at(i); },
        [&](const Part& part) { return part.any && part.last_ns >= time_ns; });
}

TraceMoment FilmTraces::moment_of(std::size_t index) const {
    const std::uint64_t position = static_cast<std::uint64_t>(index) << shift_;
    const std::int64_t time = cells_[index].time_ns;
    return {.time_ns = time, .capture_ns = time, .sequence = position, .timed = timed_, .position = position};
}

void FilmTraces::describe(TraceOverview& about) const {
    about.frames = frames_;
    about.changes = changes_;
    for (const Series& series : series_)
        about.regions.push_back(series.region);
    if (const Part all = parts(0, cells_.size()); all.any)
        about.last_ns = all.last_ns;
    about.restarts = marks();
    for (const Made& made : made_)
        if (std::none_of(about.settings.begin(), about.settings.end(),
                         [&](const TraceSettings& known) { return known.id == made.about.id; }))
            about.settings.push_back(made.about);
    if (newest_made_ != 0) { // the newest is the last
        const std::uint64_t id = made_[newest_made_ - 1].about.id;
        std::stable_partition(about.settings.begin(), about.settings.end(),
                              [&](const TraceSettings& known) { return known.id != id; });
        about.with = made_[newest_made_ - 1].about.with;
    }
    about.bytes = cells_.capacity() * sizeof(Cell) + parts_.bytes();
    for (const Series& series : series_)
        about.bytes += series.values.capacity() * sizeof(Value) + series.blocks.bytes();
}

std::vector<TraceColumn> FilmTraces::samples(const Series& series, std::size_t from, std::size_t to) const {
    std::vector<TraceColumn> points;
    std::optional<std::size_t> before;
    std::uint32_t made = 0;
    std::uint64_t settings = 0;
    for (std::size_t i = from; i < to; ++i) {
        const Value& value = series.values[i];
        if (cells_[i].made == 0 || !value.extremes().any()) {
            before.reset();
            continue;
        }
        if (std::exchange(made, cells_[i].made) != cells_[i].made)
            settings = settings_of(series, made);
        points.push_back(
            {cells_[i].time_ns, value.low, value.high, !before || !joined(series, *before, i), settings});
        before = i;
    }
    return points;
}

std::vector<TraceColumn> FilmTraces::columns(const Series& series, const std::vector<Column>& wanted) const {
    std::vector<TraceColumn> points;
    points.reserve(wanted.size());
    bool broken = true;
    for (const Column& column : wanted) {
        const Extremes extremes = range(series, column.from, column.to);
        broken =
            broken || column.from == 0 || !joined(series, column.from - 1, column.from) || !extremes.any();
        if (!extremes.any())
            continue;
        points.push_back({column.time_ns, extremes.low, extremes.high, std::exchange(broken, false),
                          column.part.mixed ? 0 : settings_of(series, column.part.first)});
    }
    return points;
}

std::vector<std::vector<TraceColumn>> FilmTraces::curves(std::int64_t from_ns, std::int64_t to_ns,
                                                         int columns_wanted) const {
    std::vector<std::vector<TraceColumn>> curves(series_.size());
    const double step = static_cast<double>(to_ns - from_ns) / columns_wanted;
    const std::size_t first = index_at(from_ns), last = index_at(to_ns);
    if (last - first <= 2 * static_cast<std::size_t>(columns_wanted)) {
        for (std::size_t i = 0; i < series_.size(); ++i)
            curves[i] = samples(series_[i], first == 0 ? 0 : first - 1, std::min(last + 1, cells_.size()));
        return curves;
    }
    // One extra column on each side.
    std::vector<Column> wanted;
    wanted.reserve(static_cast<std::size_t>(columns_wanted) + 2);
    std::size_t from = index_at(from_ns - static_cast<std::int64_t>(step));
    for (int i = 0; i < columns_wanted + 2; ++i) {
        const std::size_t to = index_at(from_ns + static_cast<std::int64_t>(i * step));
        if (from < to)
            wanted.push_back(
                {from, to, from_ns + static_cast<std::int64_t>((i - 0.5) * step), parts(from, to)});
        from = std::max(from, to);
    }
    for (std::size_t i = 0; i < series_.size(); ++i)
        curves[i] = columns(series_[i], wanted);
    return curves;
}

std::vector<std::optional<TraceExtremes>> FilmTraces::extremes(std::int64_t from_ns, std::int64_t to_ns,
                                                               const std::optional<MadeWith>& with) const {
    std::vector<std::optional<TraceExtremes>> found(series_.size());
    const std::size_t last =
        to_ns == std::numeric_limits<std::int64_t>::max() ? cells_.size() : index_at(to_ns + 1);
    const std::vector<Run> all = runs(index_at(from_ns), last, true);
    std::vector<bool> comparable(made_.size() + 1, true);
    for (std::size_t i = 0; with && i < made_.size(); ++i)
        comparable[i + 1] = difference(*with, made_[i].about.with).empty();
    for (std::size_t i = 0; i < series_.size(); ++i) {
        Extremes settled, any;
        for (const Run& run : all) {
            if (!comparable[run.made] || (with && settings_of(series_[i], run.made) == 0))
                continue;
            const Extremes extremes = range(series_[i], run.from, run.to);
            any.add(extremes);
            if (run.settled)
                settled.add(extremes);
        }
        const Extremes& best = settled.any() ? settled : any;
        if (best.any())
            found[i] = TraceExtremes{best.low, best.high};
    }
    return found;
}

std::optional<TraceValues> FilmTraces::values_at(std::int64_t time_ns) const {
    if (frames_ == 0)
        return std::nullopt;
    std::size_t index = index_at(time_ns);
    if (const Part before = parts(0, index);
        before.any && (index == cells_.size() || time_ns - before.last_ns < cells_[index].time_ns - time_ns))
        index = index_at(before.last_ns);
    TraceValues found{moment_of(index), true, {}, {}};
    for (const Series& series : series_) {
        const Value& value = series.values[index];
        found.exact = found.exact && !(value.low < value.high);
        found.values.push_back(value.centre());
        found.settings.push_back(settings_of(series, cells_[index].made));
    }
    return found;
}

/// Up to the frame shown last, over frames of its settings that follow each other.
std::optional<TraceMeans> FilmTraces::means(double seconds, RegionMean mean) const {
    if (newest_ >= cells_.size() || cells_[newest_].made == 0)
        return std::nullopt;
    const std::int64_t since = cells_[newest_].time_ns - static_cast<std::int64_t>(seconds * 1e9) + 1;
    const std::uint64_t id = made_[cells_[newest_].made - 1].about.id;
    std::size_t first = newest_ + 1;
    while (first > 0 && cells_[first - 1].made != 0 && cells_[first - 1].time_ns >= since &&
           made_[cells_[first - 1].made - 1].about.id == id)
        --first;
    if (first > newest_ || cells_[newest_].progress != FilmFrame::kSettled)
        return std::nullopt;
    return means_over(first, newest_, mean);
}

std::optional<TraceMeans> FilmTraces::means(std::int64_t from_ns, std::int64_t to_ns, RegionMean mean) const {
    const std::size_t first = index_at(from_ns);
    std::size_t end = std::min(index_at(to_ns + 1), cells_.size());
    while (end > first && cells_[end - 1].made == 0)
        --end;
    return end > first ? means_over(first, end - 1, mean) : std::nullopt;
}

std::optional<TraceMeans> FilmTraces::means_over(std::size_t first, std::size_t last, RegionMean mean) const {
    const TraceSettings& about = made_[cells_[last].made - 1].about;
    const auto counts = [&](std::size_t i) {
        return cells_[i].made != 0 && cells_[i].progress == FilmFrame::kSettled &&
               made_[cells_[i].made - 1].about.id == about.id;
    };
    while (first <= last && !counts(first))
        ++first;
    if (first > last)
        return std::nullopt;
    while (!counts(last))
        --last;
    TraceMeans means{{}, moment_of(first), moment_of(last), 0};
    means.with = about.with;
    for (std::size_t i = first; i <= last; ++i)
        means.frames += counts(i) ? 1 : 0;
    for (const Series& series : series_) {
        TimeMean over(mean);
        for (std::size_t i = first; i <= last; ++i)
            if (counts(i) && settings_of(series, cells_[i].made) != 0)
                over.add(series.values[i].centre());
        means.regions.push_back({series.region.id, series.region.outline, over.mean(), over.count()});
    }
    return means;
}

} // namespace specklescope
