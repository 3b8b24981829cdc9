// Counters and rates kept all the time. Written by one thread each, read by any.
#pragma once

#include "pipeline/clock/clock_report.hpp"
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

/// Logarithmic buckets, 2 % wide, from 1 µs to 100 s: quantiles without keeping samples.
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

/// One step of the newest frame that was timed, in order: a stage, or what lies between.
struct StageStat {
    std::string name;
    double last_ms = 0;
    double mean_ms = 0; ///< since the step is at this place of the chain
    int stage = -1;     ///< place in the chain; −1: no stage of it ("upload", "convert", "saturation")
    std::string note;   ///< what the stage chose; empty where there is nothing to say
};

/// What was counted over a run.
struct CountHistory {
    PixelCounts last;
    /// The largest of each count; raw_samples and windows are of the frames that have the largest shares.
    /// Undefined and infinite pixels of frames made while a stage warmed up are left out, here and in the
    /// sum.
    PixelCounts worst;
    PixelCounts total;
    std::uint64_t worst_frame =
        0;                       ///< sequence number of the frame with the largest share of saturated samples
    std::uint64_t in_warmup = 0; ///< frames made while a stage filled its history or took a capture
    void add(const PixelCounts& counts, bool warming_up, std::uint64_t sequence);
};

/// Drops, by the place where they happened.
struct DropCounts {
    std::uint64_t source = 0;   ///< lost before they reached us, as the source reports
    std::uint64_t ring = 0;     ///< a live frame found no free slot
    std::uint64_t failed = 0;   ///< frames that processing could not handle
    std::uint64_t recorder = 0; ///< over all sinks
    std::uint64_t total() const { return source + ring + failed + recorder; }
};

/// Frames that were copied into their slot, or lost at the source, by the reason why.
struct CopyCount {
    std::string why;
    std::uint64_t frames = 0;
};

/// How frames that others write reached their slots; all zero for a source that writes into slots itself.
struct TransferCounts {
    std::uint64_t in_place = 0; ///< written there by others
    std::vector<CopyCount> copied;
    std::uint64_t copies() const;
};
/// "9990 without a copy, 10 copied once (the first, before slots were lent)"; empty if all is zero.
std::string to_string(const TransferCounts& transfer);

struct StatsSnapshot {
    double seconds = 0;                          ///< since start
    double um_per_px = 0;                        ///< of results, µm a side; 0: unknown
    std::string scale_origin;                    ///< scale_origin() (pipeline/scale)
    TimeOrigin time_origin = TimeOrigin::source; ///< SourceInfo::time_origin
    /// Results a second from the first one to the last, so without what was set up before; and that time.
    double mean_rate = 0, running_s = 0;
    double acquisition_rate = 0, processing_rate = 0, display_rate = 0;
    std::uint64_t acquired = 0, processed = 0, displayed = 0;
    std::uint64_t not_shown =
        0; ///< results overtaken by a newer one before they were drawn; not lost to recorders
    /// Read and not shown: overtaken by a seek, run unseen to fill histories, or behind a loop that was set
    /// meanwhile. acquired = processed + drops.failed + passed_over + those on their way.
    std::uint64_t passed_over = 0;
    DropCounts drops;
    std::vector<CopyCount> lost_reasons; ///< of drops.source, as far as the source gave them
    std::optional<ClockReport> clock;    ///< nothing: no clock but ours, or frames of a few seconds only
    std::string clock_name;              ///< SourceInfo::clock
    TransferCounts transfer;
    int queue_depth = 0, queue_peak = 0, slots = 0, slots_free = 0;
    std::uint64_t queue_grown = 0; ///< times the queue had to allocate; 0 unless it was sized wrong
    std::uint64_t reopened = 0;    ///< times a live source was opened again
    double away_s = 0;             ///< from its last frame to its next, all times together
    std::uint64_t missed_away =
        0; ///< estimate: frames that it would have given in that time, at the rate before
    double first_result_clock_s = 0, first_picture_clock_s = 0; ///< on the steady clock; 0: none yet
    LatencySummary latency;                                     ///< arrival of the pixels to result ready
    std::vector<StageStat> stages;
    CountHistory counts;
    Assumptions assumed; ///< of the newest result
    Exposure exposure;   ///< of the newest result, as its unit
    Quantity quantity;
    std::string channel;                       ///< "red": what grey stages got of colour; empty: no colour
    Warmup warmup;                             ///< of the newest result
    StageNotes notes;                          ///< of the newest result: what its stages chose
    std::string backend, device, display_path; ///< "cuda", "NVIDIA H200", "CUDA-GL interop"
    std::string source, chain;
    std::string note; ///< why a fallback was taken; empty if none
};

/// As JSON text, two-space indented.
/// True for what to_json() writes.
bool is_statistics(std::string_view text);
std::string to_json(const StatsSnapshot& stats);

/// The mutable side; owned by the pipeline.
class Stats {
public:
    Stats();
    ~Stats();
    Stats(const Stats&) = delete;
    Stats& operator=(const Stats&) = delete;
    void start(); ///< everything to zero
    RateMeter acquisition, processing, display;
    LatencyHistogram latency;
    std::atomic<std::uint64_t> lost_by_source{0}, no_slot{0}, failed{0}, reopened{0}, queue_grown{0};
    std::atomic<std::uint64_t> missed_away{0}, away_ns{0};
    std::atomic<std::uint64_t> in_place{0}, passed_over{0};
    std::atomic<int> queue_peak{0};
    void record(const Result& result, bool with_latency);  ///< timings, counts, latency, processing rate
    void drawn(std::string_view path);                     ///< a result reached the screen on this path
    void copied(std::string_view why);                     ///< a frame was copied into its slot
    void lost(std::uint64_t frames, std::string_view why); ///< of a live source, before they reached us
    void arrived(const FrameInfo& info);                   ///< of a source with a clock of its own
    StatsSnapshot snapshot() const; ///< everything that is known here; the pipeline adds the rest

private:
    mutable std::mutex mutex_;
    SteadyClock::time_point start_ = SteadyClock::now();
    struct Sum {
        std::string_view name;
        int stage = -1;
        std::ptrdiff_t occurrence = 0; ///< of the same name and place before it
        double last = 0, total = 0;
        std::uint64_t count = 0;
    };
    void record_timings(const Timings& timings);

    std::vector<Sum> sums_; ///< in the order of the newest timings
    CountHistory counts_;
    Assumptions assumed_;
    Exposure exposure_;
    Quantity quantity_;
    std::string channel_;
    Warmup warmup_;
    std::shared_ptr<const StageNotes> notes_;
    std::string display_path_;
    std::vector<CopyCount> copied_, lost_reasons_;
    std::unique_ptr<ClockWatch> clock_;
    SteadyClock::time_point first_result_{}, first_picture_{}, first_arrival_{}, last_result_{};
};

} // namespace specklescope
