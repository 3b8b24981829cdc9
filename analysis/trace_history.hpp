// Measured values of the regions in a run, for plots: the mean of each over the capture time.
#pragma once

#include "analysis/made_with.hpp"
#include "analysis/pyramid.hpp"
#include "pipeline/sink.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// A frame in a history. For a film `time_ns` is the time since the film's first frame. For other sources it
/// is capture_ns on an axis that never goes back: after a restart it continues after the last frame.
struct TraceMoment {
    std::int64_t time_ns = 0, capture_ns = 0;
    std::uint64_t sequence = 0;
    bool timed = true; ///< false: the time is unknown, and both count frames, one per second
    std::optional<std::uint64_t> position{};                            ///< frame of the film
    std::uint64_t axis = 0;                                             ///< TraceOverview::axis
    std::uint64_t frame() const { return position.value_or(sequence); } ///< for the user
};

/// Restart of the history: another source, a seek, a reconnection, other settings.
struct TraceRestart {
    std::int64_t time_ns = 0;
    std::string what;  ///< "source scene.tiff", "jump in the source"
    bool edit = false; ///< settings or outlines were edited; the source is the same
};

/// A time range in which values were made with the same settings.
struct TraceSettings {
    std::uint64_t id = 0;
    std::int64_t from_ns = 0; ///< until the next one; not of a film
    MadeWith with;
};

struct TraceRegion {
    std::uint64_t id = 0; ///< stays the same while its history continues, also under another name
    std::string name;
    std::uint64_t pixels = 0;
    std::uint64_t outline = 0; ///< identifies its pixels: changes when it is moved
    /// Earlier values belong to another outline.
    std::int64_t outline_from_ns = std::numeric_limits<std::int64_t>::min();
    double newest = std::numeric_limits<double>::quiet_NaN();
};

struct TraceColumn;

struct TraceOverview {
    Quantity quantity;
    RegionMean mean = RegionMean::plain;
    std::vector<TraceRegion> regions; ///< in the order of the set
    std::uint64_t frames = 0;         ///< in the history, including decimated ones
    std::int64_t first_ns = 0, last_ns = 0;
    std::optional<TraceMoment> newest; ///< newest frame, with or without regions; none before the first
    std::vector<TraceRestart> restarts;
    /// In order, the newest last; the oldest may be dropped.
    std::vector<TraceSettings> settings;
    const TraceSettings* find(std::uint64_t id) const; ///< null: none, or dropped
    std::uint64_t changes = 0;                         ///< of a film: grows with each value
    bool film = false;      ///< values by the frames of a film, from its first at 0
    std::uint64_t axis = 0; ///< times of different axes are not comparable: another film was opened
    /// The newest value was recomputed after an edit without a new column: the video is paused.
    bool only_newest(const TraceRegion& region) const;
    /// True if its values are comparable with these settings (none: unknown).
    bool comparable(const TraceColumn& column, const std::optional<MadeWith>& with) const;
    /// Settings of the newest values, TraceRegion::newest; also if the same frame was recomputed after an
    /// edit, which adds nothing to the history.
    std::optional<MadeWith> with;
    Quantity newest_quantity;
    std::size_t bytes = 0;
    std::uint64_t lost = 0; ///< frames dropped because they were not read in time
};

/// A column of a plot, or a single sample if there are fewer samples than columns.
struct TraceColumn {
    std::int64_t time_ns = 0; ///< the centre of the column, or the sample's time
    double low = 0, high = 0; ///< minimum and maximum of the frames in it
    bool broken = false; ///< not joined with the previous one: a dropped frame, a gap or a restart between
    /// TraceSettings::id; 0: several, unknown, or another outline than the region's current one.
    std::uint64_t settings = 0;
};

/// Minimum and maximum of a region over some frames.
struct TraceExtremes {
    double low = 0, high = 0;
};

/// A mean over time: TraceHistory::means().
struct TraceMean {
    std::uint64_t id = 0, outline = 0;
    double mean = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t frames = 0; ///< with a value
};
struct TraceMeans {
    std::vector<TraceMean> regions;
    TraceMoment from, to; ///< first and last frame
    std::uint64_t frames = 0;
    std::string from_picture{};     ///< another origin: BaselineImage::text(); empty: those frames
    std::optional<MadeWith> with{}; ///< none: unknown
};

/// Values of all regions at one moment.
struct TraceValues {
    TraceMoment moment;
    bool exact = true; ///< false: older than the full-resolution part, `values` are centres of blocks
    std::vector<double> values;          ///< in the order of the overview; NaN without a value
    std::vector<std::uint64_t> settings; ///< of each, as TraceColumn::settings
};

/// Mean over frames: of K² if the values depend on it.
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
        const double mean = sum_ / static_cast<double>(count_); // NaN without values
        return mean_ == RegionMean::of_inverses  ? 1 / mean
               : mean_ == RegionMean::of_squares ? std::sqrt(mean)
                                                 : mean;
    }

private:
    RegionMean mean_;
    double sum_ = 0;
    std::uint64_t count_ = 0;
};

/// For each placed region the index of the same one in `known`: by its name or, if that name disappeared, by
/// its pixels. Beyond the end of `known`: it is new.
std::vector<std::size_t> same_regions(const std::vector<const TraceRegion*>& known,
                                      const PlacedRegions& placed);

/// A frame of a film with its values.
struct FilmFrame {
    static constexpr std::uint32_t kSettled = ~std::uint32_t{0};
    std::uint64_t position = 0;
    std::int64_t time_ns = 0; ///< FrameInfo::film_ns
    TimeOrigin origin = TimeOrigin::source;
    std::uint32_t progress = kSettled; ///< of the chain's warm-up: grows until it is kSettled
    std::shared_ptr<const MadeWith> with;
    std::shared_ptr<const RegionValues> regions;
};

class FilmTraces;

/// A sink with bounded memory for runs of any length: the newest frames at full resolution, older ones as
/// minimum and maximum of blocks of powers of two, so that no extreme is lost. One thread pushes and never
/// waits for the other, which reads. Adding, removing or renaming regions leaves the other histories
/// unchanged; a region is identified by its name or, after renaming, by its pixels. When the quantity of the
/// result or its kind of mean changes, all histories start again, since they would share no axis. A film
/// (frames with a position and a time in it) has one value per region and position
/// (analysis/film_traces.hpp).
class TraceHistory {
public:
    struct Extremes { ///< minimum and maximum finite value; without one, minimum > maximum
        Extremes() = default;
        explicit Extremes(double value) {
            if (std::isfinite(value))
                low = high = value;
        }
        void add(const Extremes& more) {
            low = more.low < low ? more.low : low;
            high = more.high > high ? more.high : high;
        }
        bool any() const { return low <= high; }
        double low = std::numeric_limits<double>::infinity(), high = -low;
    };

    /// `budget`: bytes for all regions together; with more regions each keeps less.
    explicit TraceHistory(std::size_t budget = kBudget);
    ~TraceHistory();
    TraceHistory(const TraceHistory&) = delete;
    TraceHistory& operator=(const TraceHistory&) = delete;
    static constexpr std::size_t kBudget = std::size_t{160} << 20;

    // On the processing thread.
    /// The following frames are from a new run, through this feed.
    void open(const StreamInfo& stream, const Sink* feed = nullptr) { pushed_.open(stream, feed); }
    /// A frame of `feed`; repeated results are accepted from any feed, on any thread.
    void push(const Result& result, const Sink* feed = nullptr);
    /// A frame that is processed in the background: only its values at its position, if `film` is the present
    /// one (StreamInfo::source_text; null: it is). Any thread.
    void push_background(const Result& result, const std::shared_ptr<const std::string>& film = nullptr);

    // Call on the drawing thread. Times are those of TraceMoment.
    TraceOverview overview();
    /// Columns for each region of the overview: at most `columns` plus one on each side, so that lines
    /// continue beyond the edges. Throws nothing; empty for an empty range.
    std::vector<std::vector<TraceColumn>> curves(std::int64_t from_ns, std::int64_t to_ns, int columns);
    /// Range of a plot for each region of the overview, without warm-up frames, whose values would dominate.
    /// Uses only those if there are no others; none without values.
    /// `with`: only frames comparable with these settings; none: all.
    std::vector<std::optional<TraceExtremes>> extremes(std::int64_t from_ns, std::int64_t to_ns,
                                                       const std::optional<MadeWith>& with = {});
    /// Values of the frame nearest in time; none if the history is empty.
    std::optional<TraceValues> values_at(std::int64_t time_ns);
    /// Mean over the frames in [from, to] at full resolution that were made with the settings of the last of
    /// them, with the kind of mean of the regions: harmonic for c/K² and quadratic for K, both equal to the
    /// mean of K² (docs/science.md, Baseline). None without complete frames.
    std::optional<TraceMeans> means(std::int64_t from_ns, std::int64_t to_ns);
    std::optional<TraceMeans> means(double seconds); ///< up to the newest frame

private:
    struct Moment {
        std::int64_t time_ns = 0, shift_ns = 0; ///< capture_ns is time_ns − shift_ns
        std::uint64_t sequence = 0;
        bool broken = false;
        bool timed = true;
    };
    struct Stretch { ///< of frames
        Stretch() = default;
        explicit Stretch(const Moment& moment) : first(moment), any(true) {}
        void add(const Stretch& more) {
            if (!any)
                *this = more;
        }
        Moment first;
        bool any = false;
    };
    struct Series {
        Series(std::uint64_t id, PyramidSize size) : values(size) { region.id = id; }
        TraceRegion region;
        std::uint64_t outline_from = 0; ///< frame
        Pyramid<double, Extremes> values;
    };
    /// A pushed result that is not yet added.
    struct PendingFrame {
        std::optional<FilmFrame> film; ///< nothing: not of a film
        bool background = false;
        std::int64_t capture_ns = 0;
        std::uint64_t sequence = 0;
        bool jump = false, warming_up = false, timed = true, repeated = false;
        std::shared_ptr<const Quantity> quantity;
        std::shared_ptr<const MadeWith> with; ///< the same pointer until the settings change
        std::shared_ptr<const RegionValues> regions;
        /// The source, set for its first frame, and for frames in the background.
        std::shared_ptr<const std::string> opened;
        bool live = false;
    };

    /// Results that are not yet added. Its mutex is held only to pass a few pointers.
    class Pushed {
    public:
        void open(const StreamInfo& stream, const Sink* feed);
        void add(const Result& result, const Sink* feed);
        void add_background(const Result& result, const std::shared_ptr<const std::string>& film);
        void take(std::vector<PendingFrame>& frames); ///< replaces these
        std::uint64_t lost() const { return lost_; }

    private:
        void queue(const Result& result, bool background, std::shared_ptr<const std::string> source);

        std::mutex mutex_;
        std::vector<PendingFrame> frames_;
        const Sink* feed_ = nullptr; ///< the one opened last
        std::shared_ptr<const Quantity> quantity_;
        std::array<std::shared_ptr<const MadeWith>, 2> with_; ///< shown, or in the background
        std::shared_ptr<const std::string> opened_;
        bool live_ = false; ///< the source of feed_
        std::atomic<std::uint64_t> lost_{0};
    };

    struct Frames { ///< [from, to)
        std::uint64_t from = 0, to = 0;
    };

    void apply_pending();
    void add(const PendingFrame& frame);
    void add_to_film(const PendingFrame& frame);
    void begin_axis();
    Moment moment_for(const PendingFrame& frame);
    void match(const PlacedRegions& placed, std::int64_t time_ns);
    bool settings_changed(const PendingFrame& frame, std::int64_t time_ns);
    void mark_edit(std::int64_t time_ns, const std::string& what);
    void clear();
    void add_warmup(std::uint64_t index);
    /// The parts of [first, last) made outside warm-ups.
    std::vector<Frames> settled(std::uint64_t first, std::uint64_t last) const;
    /// The parts of [first, last) made with these settings; none: everything.
    std::vector<Frames> made(std::uint64_t first, std::uint64_t last,
                             const std::optional<MadeWith>& with) const;
    PyramidSize size_for(std::size_t regions) const;
    /// The first frame at or after this time that begins a stored sample or block.
    std::uint64_t index_at(std::int64_t time_ns) const;
    Moment moment_at(std::uint64_t index) const;
    std::vector<TraceColumn> samples(const Series& series, std::uint64_t from, std::uint64_t to) const;
    std::vector<TraceColumn> columns(const Series& series, const std::vector<std::uint64_t>& bounds,
                                     std::int64_t from_ns, double step_ns) const;
    bool broken_at(std::uint64_t index) const;
    /// TraceColumn::settings of the frames [from, to).
    std::uint64_t settings_of(const Series& series, std::uint64_t from, std::uint64_t to) const;
    static TraceMoment moment_of(const Moment& moment) {
        return {moment.time_ns, moment.time_ns - moment.shift_ns, moment.sequence, moment.timed};
    }

    const std::size_t budget_;

    Pushed pushed_;
    std::mutex mutex_; ///< guards everything below; push() only tries to lock it
    std::vector<PendingFrame> taken_;
    std::unique_ptr<FilmTraces> film_; ///< null: the source is no film
    std::string film_name_;
    std::optional<TraceMoment> film_newest_;
    std::vector<PendingFrame> early_; ///< in the background, with a quantity that is not shown yet
    std::uint64_t axis_ = 0;
    // Sources that are no film:
    std::vector<Series> series_;
    std::shared_ptr<const PlacedRegions> placed_;
    Pyramid<Moment, Stretch> moments_;
    std::shared_ptr<const Quantity> quantity_;
    RegionMean mean_ = RegionMean::plain;
    std::optional<Moment> newest_;
    std::int64_t interval_ns_ = 0; ///< between the two newest frames
    std::uint64_t next_id_ = 1;
    std::deque<TraceRestart> restarts_;
    std::int64_t edited_ns_ = 0; ///< the newest edit among them
    struct Settings {
        TraceSettings about;
        std::uint64_t from = 0; ///< frame
    };
    std::deque<Settings> settings_;
    std::shared_ptr<const MadeWith> with_; ///< of the newest frame
    std::optional<PendingFrame> again_;    ///< the newest frame again, after an edit
    std::uint64_t next_settings_ = 1;
    bool gap_ = false;           ///< frames without regions were skipped
    std::deque<Frames> warmups_; ///< warm-up ranges; if there are too many, the first is extended to the next
};

/// The sink that passes a pipeline's results to the history; make one for each run. Opening a feed disables
/// the earlier ones, so that a source that still runs cannot interfere.
std::shared_ptr<Sink> make_trace_feed(std::shared_ptr<TraceHistory> history);
/// The same for a film that is processed in the background: TraceHistory::push_background().
std::shared_ptr<Sink> make_background_feed(std::shared_ptr<TraceHistory> history);

} // namespace specklescope
