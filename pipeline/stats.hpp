// Counters and rates of a run. Each has one writer thread; any thread reads.
#pragma once

#include "pipeline/clock/clock_fit.hpp"
#include "pipeline/result.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// Events per second over about the last second.
class RateMeter {
public:
    void tick(SteadyClock::time_point now = SteadyClock::now());
    double rate(SteadyClock::time_point now = SteadyClock::now()) const;
    struct Newest {
        SteadyClock::time_point at;          ///< of the newest event
        std::chrono::nanoseconds interval{}; ///< median of the last few; 0: fewer than two events
    };
    std::optional<Newest> newest() const; ///< nothing: no event yet
    std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
    void clear();

private:
    static constexpr std::size_t kHistory = 4096;
    mutable std::mutex mutex_;
    std::array<SteadyClock::time_point, kHistory> times_{};
    std::size_t head_ = 0;
    std::size_t size_ = 0;
    std::atomic<std::uint64_t> count_{0};
};

struct LatencySummary {
    std::uint64_t count = 0;
    double median_ms = 0, p95_ms = 0, p99_ms = 0, max_ms = 0;
};

/// Logarithmic buckets, 2 % wide, from 1 µs to 100 s: quantiles without stored samples.
class LatencyHistogram {
public:
    void add(double ms);
    LatencySummary summary() const;
    void clear();

private:
    static constexpr int kBuckets = 932;
    mutable std::mutex mutex_;
    std::array<std::uint64_t, kBuckets> buckets_{};
    std::uint64_t count_ = 0;
    double max_ = 0;
};

/// One timed step of the newest timed frame, in order: a stage or a conversion.
struct StageStat {
    std::string name;
    double last_ms = 0;
    double mean_ms = 0; ///< since the step has this place in the chain
    int stage = -1;     ///< place in the chain; −1: not a stage ("upload", "convert", "saturation")
    std::string note;   ///< choice of the stage; empty: none
};

/// Pixel counts over a run.
struct CountHistory {
    PixelCounts last;
    /// Maximum of each count; raw_samples and windows belong to the frames with the largest fractions.
    /// Without the undefined and infinite pixels of warm-up frames, here and in the sum.
    PixelCounts worst;
    PixelCounts total;
    std::uint64_t worst_frame =
        0; ///< sequence number of the frame with the largest fraction of saturated samples
    std::uint64_t in_warmup = 0; ///< frames made during a warm-up or a capture
    void add(const PixelCounts& counts, bool warming_up, std::uint64_t sequence);
};

/// Motion over a run; nothing is counted without a stage that measures it.
struct MotionHistory {
    std::uint64_t moved = 0, not_found = 0, too_far = 0; ///< frames
    std::uint64_t left_out = 0;                          ///< of those that were not moved
    double largest_px = 0;                               ///< of the frames that were moved
    void add(const FrameMotion& motion);
};

struct FrameCounts {
    std::uint64_t acquired = 0, processed = 0, displayed = 0;
    std::uint64_t not_shown = 0; ///< results replaced before they were drawn; recorders still got them
    /// Frames read but not shown: discarded by a seek, hidden frames that fill windows, or beyond a new loop
    /// end. acquired = processed + DropCounts::failed + passed_over + frames in flight.
    std::uint64_t passed_over = 0;
    std::uint64_t settling = 0; ///< FramePort::settling(); not acquired
};

/// Frames per second: over the last second, and the mean over StatsSnapshot::running_s.
struct FrameRates {
    double acquisition = 0, processing = 0, display = 0, mean = 0;
};

/// Dropped frames by place.
struct DropCounts {
    std::uint64_t source = 0;   ///< lost before they reached us, as reported by the source
    std::uint64_t ring = 0;     ///< live frames without a free slot
    std::uint64_t failed = 0;   ///< frames that processing could not handle
    std::uint64_t recorder = 0; ///< over all sinks
    std::uint64_t total() const { return source + ring + failed + recorder; }
};

/// Number of frames copied into their slot, or lost at the source, for one reason.
struct CopyCount {
    std::string why;
    std::uint64_t frames = 0;
};

/// How frames written by others reached their slots; all zero for a source that fills slots itself.
struct TransferCounts {
    std::uint64_t in_place = 0; ///< written directly into the slot
    std::vector<CopyCount> copied;
    std::uint64_t copies() const;
};
/// "9990 without a copy, 10 copied once (the first, before slots were lent)"; empty if all is zero.
std::string to_string(const TransferCounts& transfer);

/// The queue between the threads, and the slots of its frames.
struct QueueCounts {
    int depth = 0, peak = 0, slots = 0, slots_free = 0;
    std::uint64_t grown = 0; ///< times the queue had to allocate; 0 if sized correctly
};

/// Times without a live source, until it was opened again.
struct AbsenceCounts {
    std::uint64_t reopened = 0;
    double seconds = 0;       ///< between its last and next frame, summed
    std::uint64_t missed = 0; ///< estimated frames missed in that time, at the previous rate
};

/// Facts of a result besides its pixels.
struct ResultFacts {
    Assumptions assumed;
    Exposure exposure; ///< in the result's unit
    Quantity quantity;
    std::string channel; ///< "red": grey channel used by a stage; empty: none
    Warmup warmup;
    std::shared_ptr<const StageNotes> notes; ///< choices of its stages; null: none
};

struct BackendInfo {
    std::string name, device; ///< "cuda", "NVIDIA H200"
    std::string note;         ///< reason for a fallback; empty if none
};

struct StatsSnapshot {
    double seconds = 0;                          ///< since start
    double um_per_px = 0;                        ///< side of a result pixel in µm; 0: unknown
    std::string scale_origin;                    ///< scale_origin() (pipeline/scale)
    TimeOrigin time_origin = TimeOrigin::source; ///< SourceInfo::time_origin
    double running_s = 0;                        ///< from the first frame to the last result, without set-up
    FrameRates rate;
    FrameCounts frames;
    DropCounts drops;
    std::vector<CopyCount> lost_reasons; ///< of drops.source, if the source gave reasons
    std::optional<ClockReport> clock;    ///< nothing: no other clock, or only a few seconds of frames
    std::string clock_name;              ///< SourceInfo::clock
    TransferCounts transfer;
    QueueCounts queue;
    AbsenceCounts away;
    double first_result_clock_s = 0, first_picture_clock_s = 0; ///< on the steady clock; 0: none yet
    LatencySummary latency;                                     ///< from arrival of the pixels to the result
    LatencySummary to_screen; ///< from arrival of the pixels until OpenGL has shown them
    std::vector<StageStat> stages;
    CountHistory counts;
    MotionHistory motion;
    ResultFacts newest; ///< of the newest result
    BackendInfo backend;
    std::string display_path; ///< "CUDA-GL interop"
    std::string source, chain;
};

/// True for text written by to_json().
bool is_statistics(std::string_view text);
/// JSON text, indented by two spaces.
std::string to_json(const StatsSnapshot& stats);

/// The writable side; owned by the pipeline.
class Stats {
public:
    Stats();
    ~Stats();
    Stats(const Stats&) = delete;
    Stats& operator=(const Stats&) = delete;
    void start(); ///< resets everything to zero
    RateMeter acquisition, processing, display;
    LatencyHistogram latency, to_screen;
    std::atomic<std::uint64_t> lost_by_source{0}, no_slot{0}, failed{0}, reopened{0}, queue_grown{0};
    std::atomic<std::uint64_t> missed_away{0}, away_ns{0};
    std::atomic<std::uint64_t> in_place{0}, passed_over{0}, settling{0};
    std::atomic<int> queue_peak{0};
    void record(const Result& result, bool with_latency); ///< timings, counts, latency, processing rate
    /// A result was displayed on this path. `arrival`: when its pixels arrived; nothing: no delay is counted.
    void drawn(std::string_view path, std::optional<SteadyClock::time_point> arrival);
    void copied(std::string_view why); ///< a frame was copied into its slot
    /// frames of a live source, lost before they reached us
    void lost(std::uint64_t frames, std::string_view why);
    void arrived(const FrameInfo& info); ///< of a source with its own clock
    StatsSnapshot snapshot() const;      ///< what is known here; the pipeline adds the rest

private:
    mutable std::mutex mutex_;
    struct Times {
        SteadyClock::time_point start = SteadyClock::now();
        SteadyClock::time_point first_result{}, first_picture{}, first_arrival{}, last_result{};
    } times_;
    struct Sum {
        std::string_view name;
        int stage = -1;
        std::ptrdiff_t occurrence = 0; ///< count of equal names at the same place before it
        double last = 0, total = 0;
        std::uint64_t count = 0;
    };
    void record_timings(const Timings& timings);

    std::vector<Sum> sums_; ///< in the order of the newest timings
    CountHistory counts_;
    MotionHistory motion_;
    ResultFacts newest_;
    std::shared_ptr<const Chain> chain_; ///< of newest_
    bool newest_to_grey_ = false;
    std::string display_path_;
    std::vector<CopyCount> copied_, lost_reasons_;
    std::unique_ptr<ClockWatch> clock_;
};

} // namespace specklescope
