// Precomputed exposures of a scene, so that a frame only costs a copy.
#pragma once

#include "sources/synthetic/synthetic_source.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace specklescope {

/// Phases of the heartbeat × independent realisations, computed on a separate thread. About kBudget bytes, or
/// kFewest exposures if those are larger.
class ExposureCache {
public:
    static constexpr std::size_t kBudget = std::size_t{144} << 20;
    static constexpr int kFewest = 6;

    explicit ExposureCache(const SyntheticOptions& options);
    ~ExposureCache();
    ExposureCache(const ExposureCache&) = delete;
    ExposureCache& operator=(const ExposureCache&) = delete;

    const Shape& shape() const { return shape_; }
    const SyntheticTruth& truth() const { return truth_; }
    /// Waits at most `patience` until all exposures are ready; rethrows an exception of the thread.
    bool wait_all(std::chrono::milliseconds patience);
    /// Frame `number` at `seconds`: bands of rows from different exposures of about that phase, chosen by the
    /// number. At least one exposure is always ready.
    void compose(std::uint64_t number, double seconds, HostView to) const;

private:
    static SyntheticOptions affordable(const SyntheticOptions& options);
    void make(int i);
    void fill(const std::stop_token& stop);
    int choose(double phase, std::uint64_t dice) const;
    ConstHostView exposure(int i) const {
        return {pixels_.data() + static_cast<std::size_t>(i) * shape_.bytes(), shape_};
    }

    SyntheticOptions options_;
    SyntheticTruth truth_;
    Shape shape_;
    SpeckleBank bank_;
    int phases_ = 1;
    int exposures_ = 1;
    std::vector<std::byte> pixels_;
    std::vector<float> mean_;  ///< DN per pixel
    std::vector<float> rates_; ///< of the exposure being computed
    std::atomic<int> ready_{0};
    std::mutex mutex_;
    std::condition_variable_any all_;
    std::exception_ptr failure_;
    std::jthread worker_; ///< last: joined before the members it uses are destroyed
};

} // namespace specklescope
