#include "pipeline/stats.hpp"

#include "pipeline/clock/clock_fit.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace specklescope {

void RateMeter::tick(SteadyClock::time_point now) {
    const std::scoped_lock lock(mutex_);
    times_[head_] = now;
    head_ = (head_ + 1) % kHistory;
    size_ = std::min(size_ + 1, kHistory);
    count_.fetch_add(1, std::memory_order_relaxed);
}

double RateMeter::rate(SteadyClock::time_point now) const {
    const std::scoped_lock lock(mutex_);
    // Rate over the intervals of the last second, or over the last three events of a slow source.
    for (const auto& [window, most] : {std::pair{1.0, kHistory}, std::pair{10.0, std::size_t{3}}}) {
        std::size_t events = 0;
        SteadyClock::time_point oldest = now;
        SteadyClock::time_point newest = now;
        while (events < std::min(size_, most)) {
            const auto time = times_[(head_ + kHistory - 1 - events) % kHistory];
            if (std::chrono::duration<double>(now - time).count() > window)
                break;
            newest = events == 0 ? time : newest;
            oldest = time;
            ++events;
        }
        if (events < 3 || newest <= oldest)
            continue;
        const double intervals = static_cast<double>(events - 1);
        const double span = std::chrono::duration<double>(newest - oldest).count();
        const double silence = std::chrono::duration<double>(now - newest).count();
        // Silence longer than two intervals counts, so that the rate falls when events stop.
        return intervals / (silence > 2 * span / intervals ? span + silence : span);
    }
    return 0;
}

std::optional<RateMeter::Newest> RateMeter::newest() const {
    constexpr std::size_t kFew = 6; // one gap does not change the median of five intervals
    const std::scoped_lock lock(mutex_);
    if (size_ == 0)
        return std::nullopt;
    const auto event = [this](std::size_t back) { return times_[(head_ + kHistory - 1 - back) % kHistory]; };
    std::vector<std::chrono::nanoseconds> intervals;
    for (std::size_t i = 1; i < std::min(size_, kFew); ++i)
        intervals.push_back(event(i - 1) - event(i));
    if (intervals.empty())
        return Newest{event(0), {}};
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return Newest{event(0), *middle};
}

namespace {
constexpr double kLowestMs = 1e-3;
const double kStep = std::log(1.02);
} // namespace

void LatencyHistogram::add(double ms) {
    const double place = std::log(std::max(ms, kLowestMs) / kLowestMs) / kStep;
    const auto bucket = static_cast<std::size_t>(std::clamp(place, 0.0, kBuckets - 1.0));
    const std::scoped_lock lock(mutex_);
    ++buckets_[bucket];
    ++count_;
    max_ = std::max(max_, ms);
}

LatencySummary LatencyHistogram::summary() const {
    const std::scoped_lock lock(mutex_);
    LatencySummary summary;
    summary.count = count_;
    summary.max_ms = max_;
    const auto quantile = [&](double q) {
        const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            seen += buckets_[i];
            if (seen >= rank && seen > 0)
                return std::min(max_, kLowestMs * std::exp(kStep * (static_cast<double>(i) + 0.5)));
        }
        return 0.0;
    };
    if (count_ > 0) {
        summary.median_ms = quantile(0.5);
        summary.p95_ms = quantile(0.95);
        summary.p99_ms = quantile(0.99);
    }
    return summary;
}

void LatencyHistogram::clear() {
    const std::scoped_lock lock(mutex_);
    buckets_.fill(0);
    count_ = 0;
    max_ = 0;
}

void RateMeter::clear() {
    const std::scoped_lock lock(mutex_);
    head_ = size_ = 0;
    count_ = 0;
}

Stats::Stats() : clock_(std::make_unique<ClockWatch>()) {}
Stats::~Stats() = default;

void Stats::start() {
    acquisition.clear();
    processing.clear();
    display.clear();
    latency.clear();
    to_screen.clear();
    lost_by_source = no_slot = failed = reopened = queue_grown = in_place = 0;
    missed_away = away_ns = passed_over = settling = 0;
    queue_peak = 0;
    const std::scoped_lock lock(mutex_);
    times_ = {};
    sums_.clear();
    counts_ = {};
    motion_ = {};
    newest_ = {};
    chain_.reset();
    copied_.clear();
    lost_reasons_.clear();
    *clock_ = {};
}

namespace {
void count(std::vector<CopyCount>& rows, std::string_view why, std::uint64_t frames) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const CopyCount& c) { return c.why == why; });
    if (row == rows.end())
        row = rows.insert(rows.end(), CopyCount{std::string(why)});
    row->frames += frames;
}
} // namespace

void Stats::copied(std::string_view why) {
    const std::scoped_lock lock(mutex_);
    count(copied_, why, 1);
}

void Stats::lost(std::uint64_t frames, std::string_view why) {
    lost_by_source.fetch_add(frames, std::memory_order_relaxed);
    if (frames == 0 || why.empty())
        return;
    const std::scoped_lock lock(mutex_);
    count(lost_reasons_, why, frames);
}

void Stats::arrived(const FrameInfo& info) {
    const std::scoped_lock lock(mutex_);
    clock_->add(info);
}

std::uint64_t TransferCounts::copies() const {
    std::uint64_t sum = 0;
    for (const CopyCount& count : copied)
        sum += count.frames;
    return sum;
}

std::string to_string(const TransferCounts& transfer) {
    if (transfer.in_place + transfer.copies() == 0)
        return {};
    std::string text = std::to_string(transfer.in_place) + " without a copy";
    if (transfer.copied.empty())
        return text;
    std::string reasons;
    for (const CopyCount& count : transfer.copied) {
        const std::string number = transfer.copied.size() > 1 ? std::to_string(count.frames) + ": " : "";
        reasons += (reasons.empty() ? "" : "; ") + number + count.why;
    }
    return text + ", " + std::to_string(transfer.copies()) + " copied once (" + reasons + ")";
}

void Stats::record(const Result& result, bool with_latency) {
    processing.tick(result.ready);
    if (with_latency)
        latency.add(std::chrono::duration<double, std::milli>(result.ready - result.info.arrival).count());
    const std::scoped_lock lock(mutex_);
    if (times_.first_result == SteadyClock::time_point{}) {
        times_.first_result = result.ready;
        times_.first_arrival = result.info.arrival;
    }
    times_.last_result = std::max(times_.last_result, result.ready);
    counts_.add(result.counts, result.warming_up(), result.info.sequence);
    if (result.info.motion)
        motion_.add(*result.info.motion);
    newest_.assumed = result.info.assumed;
    newest_.exposure = result.exposure;
    newest_.warmup = result.warmup;
    if (newest_.notes != result.notes)
        newest_.notes = result.notes;
    // texts: equal for all results of a chain
    if (chain_ != result.chain || newest_to_grey_ != result.to_grey) {
        chain_ = result.chain;
        newest_to_grey_ = result.to_grey;
        newest_.quantity = result.quantity;
        newest_.channel = grey_channel_of(result);
    }
    if (!result.timings.empty() || !result.device_image) // on a device only some frames are timed
        record_timings(result.timings);
}

/// Steps that are still at the same place in the chain keep their sums.
void Stats::record_timings(const Timings& timings) {
    const auto add = [](Sum& sum, double ms) {
        sum.last = ms;
        sum.total += ms;
        ++sum.count;
    };
    if (std::equal(timings.begin(), timings.end(), sums_.begin(), sums_.end(),
                   [](const StageTiming& timing, const Sum& sum) {
                       return timing.name == sum.name && timing.stage == sum.stage;
                   })) {
        for (std::size_t i = 0; i < sums_.size(); ++i)
            add(sums_[i], timings[i].ms);
        return;
    }
    std::vector<Sum> next;
    for (const StageTiming& timing : timings) {
        const auto same = [&](const auto& step) {
            return step.name == timing.name && step.stage == timing.stage;
        };
        const auto occurrence = std::count_if(next.begin(), next.end(), same);
        const auto old = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& sum) {
            return same(sum) && sum.occurrence == occurrence;
        });
        Sum sum = old != sums_.end()
                      ? *old
                      : Sum{.name = timing.name, .stage = timing.stage, .occurrence = occurrence};
        add(sum, timing.ms);
        next.push_back(sum);
    }
    sums_ = std::move(next);
}

void MotionHistory::add(const FrameMotion& motion) {
    left_out += motion.left_out ? 1 : 0;
    ++(motion.moved ? moved : std::isnan(motion.x) ? not_found : too_far);
    if (motion.moved)
        largest_px = std::max(largest_px, std::hypot(motion.x, motion.y));
}

void CountHistory::add(const PixelCounts& counts, bool warming_up, std::uint64_t sequence) {
    last = counts;
    in_warmup += warming_up ? 1 : 0;
    // a/b < c/d without division: 0 of 0 is less than any fraction.
    const auto larger = [](std::uint64_t part, std::uint64_t of, std::uint64_t than, std::uint64_t than_of) {
        return static_cast<double>(part) * static_cast<double>(than_of) >
                   static_cast<double>(than) * static_cast<double>(of) ||
               (of > 0 && than_of == 0);
    };
    if (larger(counts.raw_saturated, counts.raw_samples, worst.raw_saturated, worst.raw_samples)) {
        worst.raw_saturated = counts.raw_saturated;
        worst.raw_samples = counts.raw_samples;
        worst_frame = sequence;
    }
    if (larger(counts.saturated, counts.windows, worst.saturated, worst.windows)) {
        worst.saturated = counts.saturated;
        worst.windows = counts.windows;
    }
    total.raw_saturated += counts.raw_saturated;
    total.raw_samples += counts.raw_samples;
    total.saturated += counts.saturated;
    total.windows += counts.windows;
    if (warming_up)
        return;
    worst.undefined = std::max(worst.undefined, counts.undefined);
    worst.infinite = std::max(worst.infinite, counts.infinite);
    total.undefined += counts.undefined;
    total.infinite += counts.infinite;
}

void Stats::drawn(std::string_view path, std::optional<SteadyClock::time_point> arrival) {
    display.tick();
    if (arrival)
        to_screen.add(std::chrono::duration<double, std::milli>(SteadyClock::now() - *arrival).count());
    const std::scoped_lock lock(mutex_);
    if (times_.first_picture == SteadyClock::time_point{})
        times_.first_picture = SteadyClock::now();
    if (display_path_ != path)
        display_path_ = path;
}

StatsSnapshot Stats::snapshot() const {
    const auto now = SteadyClock::now();
    StatsSnapshot s;
    s.rate.acquisition = acquisition.rate(now);
    s.rate.processing = processing.rate(now);
    s.rate.display = display.rate(now);
    s.frames = {.acquired = acquisition.count(),
                .processed = processing.count(),
                .displayed = display.count(),
                .passed_over = passed_over,
                .settling = settling};
    s.drops.source = lost_by_source;
    s.drops.ring = no_slot;
    s.drops.failed = failed;
    s.transfer.in_place = in_place;
    s.queue.peak = queue_peak;
    s.queue.grown = queue_grown;
    s.away = {reopened, static_cast<double>(away_ns) * 1e-9, missed_away};
    s.latency = latency.summary();
    s.to_screen = to_screen.summary();
    const std::scoped_lock lock(mutex_);
    s.seconds = std::chrono::duration<double>(now - times_.start).count();
    const auto clock_s = [](SteadyClock::time_point at) {
        return std::chrono::duration<double>(at.time_since_epoch()).count();
    };
    s.first_result_clock_s = clock_s(times_.first_result);
    s.first_picture_clock_s = clock_s(times_.first_picture);
    s.counts = counts_;
    s.motion = motion_;
    s.newest = newest_;
    const auto seconds_from = [&](SteadyClock::time_point begin) {
        return std::chrono::duration<double>(times_.last_result - begin).count();
    };
    const std::uint64_t results = processing.count();
    s.running_s = results > 0 ? seconds_from(times_.first_arrival) : 0;
    if (const double between = results > 1 ? seconds_from(times_.first_result) : 0; between > 0)
        s.rate.mean = static_cast<double>(results - 1) / between;
    else if (s.running_s > 0)
        s.rate.mean = static_cast<double>(results) / s.running_s;
    s.display_path = display_path_;
    s.transfer.copied = copied_;
    s.lost_reasons = lost_reasons_;
    s.clock = clock_->report();
    for (const auto& notes = newest_.notes; const Sum& sum : sums_) {
        const auto place = static_cast<std::size_t>(std::max(sum.stage, 0));
        const bool noted = notes && sum.stage >= 0 && place < notes->size();
        s.stages.push_back({std::string(sum.name), sum.last, sum.total / static_cast<double>(sum.count),
                            sum.stage, noted ? (*notes)[place] : ""});
    }
    return s;
}

namespace {
nlohmann::ordered_json clock_json(const ClockReport& clock, const std::string& name) {
    auto json = nlohmann::ordered_json::parse(to_json(clock));
    json["name"] = name;
    return json;
}

nlohmann::ordered_json latency_json(const LatencySummary& s) {
    return {
        {"count", s.count}, {"median", s.median_ms}, {"p95", s.p95_ms}, {"p99", s.p99_ms}, {"max", s.max_ms}};
}

nlohmann::ordered_json counts_json(const PixelCounts& counts) {
    return {{"undefined", counts.undefined},         {"infinite", counts.infinite},
            {"saturated", counts.saturated},         {"windows", counts.windows},
            {"raw_saturated", counts.raw_saturated}, {"raw_samples", counts.raw_samples}};
}
} // namespace

bool is_statistics(std::string_view text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
        return false;
    const std::array<const char*, 6> keys = {"source", "chain", "backend", "frames", "drops", "latency_ms"};
    return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return json.contains(key); });
}

std::string to_json(const StatsSnapshot& s) {
    nlohmann::ordered_json json;
    json["source"] = s.source;
    json["chain"] = s.chain;
    json["backend"] = s.backend.name;
    json["device"] = s.backend.device;
    json["display_path"] = s.display_path;
    json["note"] = s.backend.note;
    json["seconds"] = s.seconds;
    json["running_s"] = s.running_s;
    json["quantity"] = {{"name", s.newest.quantity.name}, {"unit", s.newest.quantity.unit}};
    json["um_per_px"] = s.um_per_px > 0 ? nlohmann::ordered_json(s.um_per_px) : nlohmann::ordered_json();
    json["um_per_px_origin"] = s.scale_origin;
    json["time_origin"] = to_string(s.time_origin);
    json["exposure_used_ms"] = s.newest.exposure.ms;
    json["exposure_origin"] = to_string(s.newest.exposure.origin);
    json["assumed"] = to_string(s.newest.assumed);
    json["channel"] = s.newest.channel;
    json["frames"] = {{"acquired", s.frames.acquired},   {"processed", s.frames.processed},
                      {"displayed", s.frames.displayed}, {"passed_over", s.frames.passed_over},
                      {"settling", s.frames.settling},   {"not_shown", s.frames.not_shown}};
    json["rate"] = {{"acquisition", s.rate.acquisition},
                    {"processing", s.rate.processing},
                    {"display", s.rate.display},
                    {"mean", s.rate.mean}};
    json["drops"] = {{"source", s.drops.source},
                     {"ring", s.drops.ring},
                     {"failed", s.drops.failed},
                     {"recorder", s.drops.recorder},
                     {"total", s.drops.total()}};
    json["lost_at_source"] = nlohmann::ordered_json::object();
    for (const CopyCount& count : s.lost_reasons)
        json["lost_at_source"][count.why] = count.frames;
    if (s.clock)
        json["clock"] = clock_json(*s.clock, s.clock_name);
    json["transfer"] = {{"in_place", s.transfer.in_place},
                        {"copied", s.transfer.copies()},
                        {"reasons", nlohmann::ordered_json::object()}};
    for (const CopyCount& count : s.transfer.copied)
        json["transfer"]["reasons"][count.why] = count.frames;
    json["first_result_clock_s"] = s.first_result_clock_s;
    json["first_picture_clock_s"] = s.first_picture_clock_s;
    json["queue"] = {{"depth", s.queue.depth},
                     {"peak", s.queue.peak},
                     {"grown", s.queue.grown},
                     {"slots", s.queue.slots},
                     {"slots_free", s.queue.slots_free}};
    json["reopened"] = s.away.reopened;
    json["away"] = {{"seconds", s.away.seconds}, {"frames_missed_estimate", s.away.missed}};
    json["latency_ms"] = latency_json(s.latency);
    json["to_screen_ms"] = latency_json(s.to_screen);
    json["stages_ms"] = nlohmann::ordered_json::array();
    for (const StageStat& stage : s.stages)
        json["stages_ms"].push_back(
            {{"name", stage.name}, {"last", stage.last_ms}, {"mean", stage.mean_ms}, {"note", stage.note}});
    json["notes"] = s.newest.notes ? *s.newest.notes : StageNotes{};
    json["warmup"] = {{"stage", s.newest.warmup.stage},
                      {"frames", s.newest.warmup.frames},
                      {"wanted", s.newest.warmup.wanted},
                      {"frames_made_in_it", s.counts.in_warmup}};
    json["motion"] = {{"moved", s.motion.moved},
                      {"not_found", s.motion.not_found},
                      {"too_far", s.motion.too_far},
                      {"left_out", s.motion.left_out},
                      {"largest_px", s.motion.largest_px}};
    json["pixels"] = {{"last", counts_json(s.counts.last)},
                      {"worst", counts_json(s.counts.worst)},
                      {"total", counts_json(s.counts.total)},
                      {"worst_frame", s.counts.worst_frame}};
    // File names are bytes, not always UTF-8.
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace specklescope
