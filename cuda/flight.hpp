// Frames in flight on the device. Used only by cuda/executor.cpp.
#pragma once

#include "cuda/device.hpp"
#include "cuda/regions/device_regions.hpp"
#include "pipeline/results_of_chain.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope::cuda {

/// Indices of a frame's counts on the device: each stage's, the raw frame's, the final image's and those of
/// the named outputs.
inline constexpr int kRawCounts = kMaxStages, kFinalCounts = kMaxStages + 1, kAlsoCounts = kMaxStages + 2;
inline constexpr int kCounts = kAlsoCounts + static_cast<int>(kMaxNamedOutputs);
/// Counts of a frame on the host: of the result, then of the named outputs.
inline constexpr int kHostCounts = 1 + static_cast<int>(kMaxNamedOutputs);

/// Times of the frames that are started together.
struct FlightTimes {
    Event upload_begin, upload_end, download_begin, download_end;
    /// on the compute stream: start, then the end of every step
    std::array<Event, 2 * kMaxStages + 5> marks;
    std::array<StageTiming, 2 * kMaxStages + 4> steps;
    std::size_t step_count = 0;

    void mark(const Stream& stream, std::string_view name, int stage) {
        steps[step_count++] = {name, 0, stage};
        marks[step_count].record(stream);
    }
};

/// One frame in flight. Holds everything that a stream still uses. Frames that are started together use the
/// events of the last one.
struct Flight {
    Event uploaded_all{Event::Use::ordering}, computed{Event::Use::ordering};
    Event done{Event::Use::waiting};    ///< the last event
    std::unique_ptr<FlightTimes> times; ///< null: not timed
    int together = 1;                   ///< number of frames started together
    bool finished = false;              ///< `done` has been waited for
    Flight* last = nullptr;             ///< of the frames started together; null: not started
    bool downloads = false;
    Frame uploaded;
    Frame lent; ///< the caller's memory for the result; empty: none
    Result result;
    std::vector<NamedImage> also;                ///< of the result
    std::vector<SaturationLook::In> also_looked; ///< of each; nowhere: no regions on this image
    std::shared_ptr<DeviceRegions> regions;      ///< regions in effect at submission; null: none
    SaturationLook::In looked = SaturationLook::In::nowhere;
    int index = 0;                        ///< index of this flight
    PixelCounts* host_counts = nullptr;   ///< array of kHostCounts
    PixelCounts* device_counts = nullptr; ///< array of kCounts, zero between frames

    /// Call after clear().
    void describe(Frame frame, const ResultsOfChain& results, std::uint64_t version, bool to_grey) {
        results.describe(result, frame.info(), version);
        result.to_grey = to_grey;
        result.raw = std::move(frame);
    }
    /// Call when the frame is done. Each of several frames takes its part of their time.
    void read_timings() {
        if (!last->times)
            return;
        const FlightTimes& times = *last->times;
        const double part = 1.0 / last->together;
        Timings& timings = result.timings;
        timings.push_back({"upload", times.upload_end.ms_since(times.upload_begin) * part});
        for (std::size_t i = 0; i < times.step_count; ++i)
            timings.push_back({times.steps[i].name, times.marks[i + 1].ms_since(times.marks[i]) * part,
                               times.steps[i].stage});
        if (downloads)
            timings.push_back({"download", times.download_end.ms_since(times.download_begin) * part});
    }
    /// Call when the frame is done. Windows and samples are set before.
    void read_counts() {
        PixelCounts& counts = result.counts;
        const PixelCounts known = std::exchange(counts, *host_counts);
        counts.windows = known.windows;
        counts.raw_samples = known.raw_samples;
        for (std::size_t k = 0; k < also.size(); ++k) {
            const std::uint64_t windows = also[k].counts.windows;
            also[k].counts = host_counts[1 + k];
            also[k].counts.windows = windows;
            also[k].counts.raw_saturated = counts.raw_saturated;
            also[k].counts.raw_samples = counts.raw_samples;
        }
    }
    void clear() {
        last = nullptr;
        finished = false;
        result = Result();
        also.clear();
        uploaded.reset();
        lent.reset();
        regions.reset();
    }
};

} // namespace specklescope::cuda
