#include "stages/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace specklescope {

namespace {
thread_local int limit_here = 0;
} // namespace

int parallel_threads() {
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int cores =
        std::min(tbb::info::default_concurrency(), static_cast<int>(std::min<std::size_t>(allowed, 4096)));
    return std::max(1, limit_here > 0 ? std::min(limit_here, cores) : cores);
}

ThreadLimit::ThreadLimit(int threads) : outer_(limit_here) { limit_here = std::max(0, threads); }
ThreadLimit::~ThreadLimit() { limit_here = outer_; }

int band_count(int rows, int slots, int min_rows) {
    constexpr int kPerSlot = 4;
    if (slots == 1)
        return 1;
    return std::clamp(rows / std::max(1, min_rows), 1, kPerSlot * slots);
}

Band band_rows(int rows, int bands, int index) {
    const auto edge = [&](int i) { return static_cast<int>(static_cast<long long>(rows) * i / bands); };
    return {edge(index), edge(index + 1)};
}

namespace detail {

void run_bands(int bands, int slots, void (*call)(void*, int, int), void* f) {
    slots = std::min(slots, bands);
    if (slots <= 1) {
        for (int band = 0; band < bands; ++band)
            call(f, band, 0);
        return;
    }
    // Slots take bands as they come: whoever starts late takes fewer.
    std::atomic<int> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    tbb::parallel_for(
        0, slots, 1,
        [&](int slot) {
            for (int band = next.fetch_add(1); band < bands; band = next.fetch_add(1)) {
                try {
                    call(f, band, slot);
                } catch (...) {
                    const std::scoped_lock lock(mutex);
                    if (!failure)
                        failure = std::current_exception();
                }
            }
        },
        tbb::simple_partitioner());
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace detail

} // namespace specklescope
