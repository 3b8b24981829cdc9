// What the regions of a run have measured so far, for plots: the mean of each against the time of capture.
#pragma once

#include "analysis/made_with.hpp"
#include "analysis/pyramid.hpp"
#include "pipeline/sink.hpp"

#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// A frame as a history counts it. `time_ns` is capture_ns on an axis that never goes back: after a restart
/// it goes on behind the last frame.
struct TraceMoment {
    std::int64_t time_ns = 0, capture_ns = 0;
    std::uint64_t sequence = 0;
    bool timed = true; ///< false: nobody states its time, and both count frames, one a second
};

/// The history restarts here: another source, a seek, a connection that came back, other settings.
struct TraceRestart {
    std::int64_t time_ns = 0;
    std::string what;  ///< "source scene.tiff", "jump in the source"
    bool edit = false; ///< settings or outlines were edited; the source is the same
};

/// A stretch of time in which the values were made with the same settings.
struct TraceSettings {
    std::uint64_t id = 0;
    std::int64_t from_ns = 0; ///< up to the next one
    MadeWith with;
};

struct TraceRegion {
    std::uint64_t id = 0; ///< the same for as long as its history goes on, also under another name
    std::string name;
    std::uint64_t pixels = 0;
    std::uint64_t outline = 0; ///< tells the pixels that it holds: another number when it was moved
    /// Values before this moment are of another outline.
    std::int64_t outline_from_ns = std::numeric_limits<std::int64_t>::min();
    double newest = std::numeric_limits<double>::quiet_NaN();
};

struct TraceColumn;

struct TraceOverview {
    Quantity quantity;
    RegionMean mean = RegionMean::plain;
    std::vector<TraceRegion> regions; ///< in their order in the set
    std::uint64_t frames = 0;         ///< that the history holds, decimated ones included
    std::int64_t first_ns = 0, last_ns = 0;
    std::optional<TraceMoment> newest; ///< frame of all, with regions or without; none before the first
    std::vector<TraceRestart> restarts;
    std::vector<TraceSettings> settings; ///< in order; those of long ago are left out
    /// The stretch that holds this moment; null: there is none.
    const TraceSettings* settings_at(std::int64_t time_ns) const;
    /// The newest values were made again after an edit, and no column was: the film is paused.
    bool only_newest(const TraceRegion& region) const;
    /// Its values may be compared with what was made with these settings (none: unknown).
    bool comparable(const TraceColumn& column, const std::optional<MadeWith>& with) const;
    /// Of the newest values, TraceRegion::newest: also where the same frame was computed again after an edit,
    /// which adds nothing to the history.
    std::optional<MadeWith> with;
    Quantity newest_quantity;
    std::size_t bytes = 0;
    std::uint64_t lost = 0; ///< frames that nobody took in for too long
};

/// A column of a plot, or a sample of its own where there are fewer of them than columns.
struct TraceColumn {
    std::int64_t time_ns = 0; ///< the middle of the column, or the sample's time
    double low = 0, high = 0; ///< least and largest mean of the frames in it
    bool broken = false;      ///< not joined with the one before: a dropped frame, a gap or a restart between
    /// TraceSettings::id; 0: more than one, unknown, or with another outline than the region has now.
    std::uint64_t settings = 0;
};

/// Least and largest mean of a region over some frames.
struct TraceExtremes {
    double low = 0, high = 0;
};

/// A mean over time: TraceHistory::means().
struct TraceMean {
    std::uint64_t id = 0, outline = 0;
    double mean = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t frames = 0; ///< that had a value
};
struct TraceMeans {
    std::vector<TraceMean> regions;
    TraceMoment from, to; ///< the frames that it was taken over
    std::uint64_t frames = 0;
    std::string from_picture{}; ///< what else it was taken from: BaselineImage::text(); empty: those frames
    std::optional<MadeWith> with{}; ///< none: unknown
};

/// The values of all regions at one moment.
struct TraceValues {
    TraceMoment moment;
    bool exact = true; ///< false: it is older than what is kept whole, `values` are middles of blocks
    std::vector<double> values; ///< in the order of the overview; NaN where there is none
};

/// A sink that keeps them in bounded memory however long the run: the newest frames whole, older ones as
/// least and largest value of blocks of powers of two, so that no extreme is lost. One thread pushes and
/// never waits for the other, which reads. Regions that come, go or get another name leave the others'
/// history alone; one is the same while it has its name or, under a new one, its pixels. When the quantity of
/// the result changes, or how its mean is taken, all begin anew: they would share no axis.
class TraceHistory {
public:
    /// `budget`: bytes for all regions together; with more of them each keeps less.
    explicit TraceHistory(std::size_t budget = kBudget);
    static constexpr std::size_t kBudget = std::size_t{160} << 20;

    // On the processing thread.
    /// What comes next is of another run, by this feed.
    void open(const StreamInfo& stream, const Sink* feed = nullptr);
    /// A frame of `feed`; a repeated result is taken from anyone, on any thread.
    void push(const Result& result, const Sink* feed = nullptr);

    // On the thread that draws. Times are those of TraceMoment.
    TraceOverview overview();
    /// A row of columns for each region of the overview: at most `columns` and two beside them, so that lines
    /// go on over the edges. Throws nothing; empty for an empty stretch.
    std::vector<std::vector<TraceColumn>> curves(std::int64_t from_ns, std::int64_t to_ns, int columns);
    /// For the range of a plot: of each region of the overview over this stretch, without the frames that
    /// were made in a warm-up, whose values would hide the others. Of these alone where there is nothing
    /// else; none without a value.
    /// `with`: of frames that may be compared with what was made with these settings; none: of all.
    std::vector<std::optional<TraceExtremes>> extremes(std::int64_t from_ns, std::int64_t to_ns,
                                                       const std::optional<MadeWith>& with = {});
    /// Of the frame that is nearest in time; none where the history is empty.
    std::optional<TraceValues> values_at(std::int64_t time_ns);
    /// Over the last `seconds` of what is kept whole, taken as the regions' mean is: of c/K² the harmonic
    /// mean and of K the quadratic one, which is the mean of K² (docs/science.md, Baseline). None without
    /// complete frames.
    std::optional<TraceMeans> means(double seconds);

private:
    struct Extremes { ///< least and largest finite value; without one, least > largest
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
    /// A result that was pushed and not yet taken in.
    struct Waiting {
        std::int64_t capture_ns = 0;
        std::uint64_t sequence = 0;
        bool jump = false, warming_up = false, timed = true, repeated = false;
        std::shared_ptr<const Quantity> quantity;
        std::shared_ptr<const MadeWith> with; ///< the same pointer until the settings change
        std::shared_ptr<const RegionValues> regions;
        std::shared_ptr<const std::string> opened; ///< the source, in front of its first frame
    };

    struct Frames { ///< [from, to)
        std::uint64_t from = 0, to = 0;
    };

    void take_in();
    void add(const Waiting& frame);
    Moment moment_for(const Waiting& frame);
    void match(const PlacedRegions& placed, std::int64_t time_ns);
    bool settings_changed(const Waiting& frame, std::int64_t time_ns);
    void mark_edit(std::int64_t time_ns, const std::string& what);
    void clear();
    void add_warmup(std::uint64_t index);
    /// The stretches of [first, last) that were made in no warm-up.
    std::vector<Frames> settled(std::uint64_t first, std::uint64_t last) const;
    /// The stretches of [first, last) that were made with these settings; none: all of it.
    std::vector<Frames> made(std::uint64_t first, std::uint64_t last,
                             const std::optional<MadeWith>& with) const;
    PyramidSize size_for(std::size_t regions) const;
    /// The first frame at or behind this time that begins a sample or a block that is kept.
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

    std::mutex waiting_mutex_; ///< held for as long as it takes to hand over a few pointers
    std::vector<Waiting> waiting_;
    const Sink* feed_ = nullptr; ///< the one that was opened last
    std::shared_ptr<const Quantity> pushed_quantity_;
    std::shared_ptr<const MadeWith> pushed_with_;
    std::shared_ptr<const std::string> opened_;
    std::uint64_t lost_ = 0;

    std::mutex mutex_; ///< all below; whoever pushes only tries to get it
    std::vector<Waiting> taken_;
    std::vector<Series> series_;
    std::shared_ptr<const PlacedRegions> placed_;
    Pyramid<Moment, Stretch> moments_;
    std::shared_ptr<const Quantity> quantity_;
    RegionMean mean_ = RegionMean::plain;
    std::optional<Moment> newest_;
    std::int64_t interval_ns_ = 0; ///< between the newest two frames
    std::uint64_t next_id_ = 1;
    std::deque<TraceRestart> restarts_;
    std::int64_t edited_ns_ = 0; ///< the newest edit among them
    struct Settings {
        TraceSettings about;
        std::uint64_t from = 0; ///< frame
    };
    std::deque<Settings> settings_;
    std::shared_ptr<const MadeWith> with_; ///< of the newest
    std::optional<Waiting> again_;         ///< the newest frame once more, after an edit
    std::uint64_t next_settings_ = 1;
    bool gap_ = false; ///< frames without regions came between
    std::deque<Frames>
        warmups_; ///< made in one; with too many of them, the first holds what lies between as well
};

/// What brings a pipeline's results into it; one for each run. From the moment that one is opened, those
/// before it bring nothing more: a source that runs until another has opened does not come in between.
std::shared_ptr<Sink> make_trace_feed(std::shared_ptr<TraceHistory> history);

} // namespace specklescope
