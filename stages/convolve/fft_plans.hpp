// Selection of FFTW's plans for the host, and a file cache for measured ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

struct fftwf_plan_s;

namespace specklescope {

enum class FftPlanning : std::uint8_t {
    estimate, ///< FFTW's rules: the same plans, and the same bits, in every run
    measure   ///< by measurement: faster, but another run may choose plans that round differently
};
/// For new convolutions. Any thread.
void set_fft_planning(FftPlanning planning);
FftPlanning fft_planning();

/// FFTW's planner, including the destruction of plans, is not thread-safe; executing a plan is.
std::mutex& fft_planner();

/// Make plans between construction and remember(), on one thread at a time. Estimated plans never depend on
/// earlier measurements; measured ones start from the cache file.
class FftPlanner {
public:
    explicit FftPlanner(FftPlanning planning = fft_planning());
    FftPlanner(const FftPlanner&) = delete;
    FftPlanner& operator=(const FftPlanner&) = delete;
    ~FftPlanner();

    /// Calls make(flags) with FFTW_ESTIMATE, or with FFTW_MEASURE on its own thread while this thread reports
    /// progress (base/long_work.hpp), within the rest of the four seconds for measured plans. At the limit
    /// FFTW takes the best plan so far or an estimate. Null if FFTW has no plan. Throws Cancelled.
    fftwf_plan_s* plan(const std::function<fftwf_plan_s*(unsigned)>& make) const;
    /// Saves new measurements in fft_cache_file(); a failure is logged once. Returns an addition to a stage's
    /// note: ", plans measured", ", plans remembered", or nothing.
    std::string remember();

private:
    std::scoped_lock<std::mutex> lock_;
    FftPlanning planning_;
    std::chrono::steady_clock::time_point begin_;
    std::string known_; ///< wisdom before planning
};

/// Path in $XDG_CACHE_HOME/specklescope (default ~/.cache/specklescope), named after FFTW's version and the
/// processor's vendor, family, model and stepping; "" without a home folder.
std::string fft_cache_file();

} // namespace specklescope
