// Sorted samples of images, made on a separate thread: sorting 65 536 values takes longer than a drawn frame
// may.
#pragma once

#include "analysis/histogram.hpp"
#include "pipeline/frame.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace specklescope {

/// change: the result against the baseline, in %.
enum class HistogramOf : std::uint8_t { result, raw, change };
inline constexpr std::size_t kHistograms = 3;

class HistogramSampler {
public:
    HistogramSampler();
    ~HistogramSampler();
    HistogramSampler(const HistogramSampler&) = delete;
    HistogramSampler& operator=(const HistogramSampler&) = delete;

    // A new offer replaces the waiting one while another is in progress. Neither call waits.
    /// Holds the frame until its pixels have been read.
    void offer(HistogramOf of, Frame frame);
    /// Offers a sample that was read elsewhere, from this number of pixels.
    void offer(HistogramOf of, std::vector<float> values, std::size_t pixels);
    /// Discards the samples of the previous source.
    void clear();

    /// Calls f(sample) with the newest sample, under the mutex.
    template <class F> void look(HistogramOf of, F&& f) const {
        const std::scoped_lock lock(mutex_);
        f(ready_[static_cast<std::size_t>(of)]);
    }
    std::uint64_t made() const; ///< number of samples made

private:
    struct Task {
        Frame frame;
        std::vector<float> values;
        std::size_t pixels = 0;
        bool waits = false;
    };
    void run();

    mutable std::mutex mutex_;
    std::condition_variable work_;
    std::array<Task, kHistograms> tasks_;
    std::array<ValueSample, kHistograms> ready_;
    std::uint64_t made_ = 0, cleared_ = 0;
    bool ends_ = false;
    ValueSample making_; ///< used by the thread
    std::thread thread_; ///< declared last: uses all other members
};

} // namespace specklescope
