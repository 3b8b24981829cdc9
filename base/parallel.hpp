// Bands of rows in parallel (oneTBB), for all host stages.
#pragma once

#include <memory>
#include <type_traits>

namespace specklescope {

/// Number of threads that a stage on this thread may use: the innermost ThreadLimit, limited by oneTBB's
/// global_control. At least 1.
int parallel_threads();

/// Limits the stages run by the calling thread for its lifetime; 0: no own limit.
class ThreadLimit {
public:
    explicit ThreadLimit(int threads);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    int outer_;
};

/// Number of bands to split `rows` into: a few for each slot, so that a late or preempted thread costs
/// little, but none smaller than `min_rows`, where the overhead of a band would dominate.
int band_count(int rows, int slots, int min_rows);

struct Band {
    int begin = 0, end = 0; ///< rows [begin, end)
};
/// Band `index` of `bands` nearly equal bands.
Band band_rows(int rows, int bands, int index);

namespace detail {
void run_bands(int bands, int slots, void (*call)(void*, int, int), void* f);
}

/// Calls f(band, slot) once for every band in [0, bands) and returns when all are done. Calls with the same
/// slot, in [0, slots), never overlap, so that a slot can own scratch memory. If a band throws, the others
/// still run; the first exception is rethrown here.
template <class F> void run_bands(int bands, int slots, F&& f) {
    using Function = std::remove_reference_t<F>;
    detail::run_bands(
        bands, slots, [](void* call, int band, int slot) { (*static_cast<Function*>(call))(band, slot); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

/// The same over `rows` rows, split evenly into `bands` bands: f(Band, slot).
template <class F> void for_bands(int rows, int bands, int slots, F&& f) {
    run_bands(bands, slots, [&](int band, int slot) { f(band_rows(rows, bands, band), slot); });
}

/// A few of the threads, for a thread that calls run_bands() all the time: threads of oneTBB that are out of
/// work keep a core busy for a while, and without this class every one of them would.
class FewThreads {
public:
    explicit FewThreads(int threads);
    ~FewThreads();
    FewThreads(const FewThreads&) = delete;
    FewThreads& operator=(const FewThreads&) = delete;
    /// Calls f(), whose run_bands() use these threads.
    template <class F> void run(F&& f) {
        call([](void* function) { (*static_cast<std::remove_reference_t<F>*>(function))(); },
             std::addressof(f));
    }

private:
    void call(void (*function)(void*), void* f);
    struct Arena;
    int threads_;
    std::unique_ptr<Arena> arena_; ///< made at the first call
};

/// Number of threads of oneTBB, at least 1.
int all_threads();

/// Limits the threads of oneTBB in the whole process for its lifetime; 0: all.
class ProcessThreadLimit {
public:
    explicit ProcessThreadLimit(int threads);
    ~ProcessThreadLimit();
    ProcessThreadLimit(const ProcessThreadLimit&) = delete;
    ProcessThreadLimit& operator=(const ProcessThreadLimit&) = delete;
    int threads() const { return threads_; }

private:
    struct Control;
    int threads_;
    std::unique_ptr<Control> control_;
};

} // namespace specklescope
