// How FFTW's plans for the host are chosen, and where measured ones are kept between two starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

struct fftwf_plan_s;

namespace specklescope {

enum class FftPlanning : std::uint8_t {
    estimate, ///< by FFTW's rules: the same plans, and so the same bits, on every start
    measure   ///< by trying: quicker, but another run of trials may choose plans that round differently
};
/// For convolutions made from now on. Any thread.
void set_fft_planning(FftPlanning planning);
FftPlanning fft_planning();

/// FFTW's planner, destruction of plans included, is not safe for threads; executing a plan is.
std::mutex& fft_planner();

/// Plans are made between construction and remember(), by one thread at a time. Estimated plans never depend
/// on what was measured before; measured ones begin with what the cache file holds.
class FftPlanner {
public:
    explicit FftPlanner(FftPlanning planning = fft_planning());
    FftPlanner(const FftPlanner&) = delete;
    FftPlanner& operator=(const FftPlanner&) = delete;
    ~FftPlanner();

    /// Calls make(flags) with FFTW_ESTIMATE; or with FFTW_MEASURE on a thread of its own, while this one asks
    /// whether the work goes on (base/long_work.hpp), for what is left of measured plans' four seconds. Out
    /// of time FFTW takes the best of what it tried, or an estimate. Null where FFTW knows no plan. Throws
    /// Cancelled.
    fftwf_plan_s* plan(const std::function<fftwf_plan_s*(unsigned)>& make) const;
    /// Keeps what was learnt in fft_cache_file(). A file that cannot be written is said once and forgotten.
    /// Returns what to add to a stage's note: ", plans measured", ", plans remembered", or nothing.
    std::string remember();

private:
    std::scoped_lock<std::mutex> lock_;
    FftPlanning planning_;
    std::chrono::steady_clock::time_point begin_;
    std::string known_; ///< wisdom before
};

/// $XDG_CACHE_HOME/specklescope (by default ~/.cache/specklescope) and in it a name made of FFTW's version
/// and the processor's vendor, family, model and stepping; "" without a home.
std::string fft_cache_file();

} // namespace specklescope
