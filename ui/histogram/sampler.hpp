// Samples of pictures in order, made on a thread of their own: putting 65 536 values in order takes longer
// than a drawn frame should.
#pragma once

#include "analysis/histogram.hpp"
#include "pipeline/frame.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace specklescope {

/// change: of the result against the baseline, %.
enum class HistogramOf : std::uint8_t { result, raw, change };
inline constexpr std::size_t kHistograms = 3;

class HistogramSampler {
public:
    HistogramSampler();
    ~HistogramSampler();
    HistogramSampler(const HistogramSampler&) = delete;
    HistogramSampler& operator=(const HistogramSampler&) = delete;

    // What is offered while one is in work takes the place of what waits. Neither waits for anything.
    /// Holds the frame until its pixels have been looked at.
    void offer(HistogramOf of, Frame frame);
    /// A sample that was read elsewhere, out of so many pixels.
    void offer(HistogramOf of, std::vector<float> values, std::size_t pixels);
    /// What is there belongs to another source.
    void clear();

    /// f(sample) with the newest; the thread that makes them stays out meanwhile.
    template <class F> void look(HistogramOf of, F&& f) const {
        const std::scoped_lock lock(mutex_);
        f(ready_[static_cast<std::size_t>(of)]);
    }
    std::uint64_t made() const; ///< how many so far

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
    ValueSample making_; ///< the thread's
    std::thread thread_; ///< last: it uses all of them
};

} // namespace specklescope
