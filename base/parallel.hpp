// Bands of rows over oneTBB, for every host stage.
#pragma once

#include <memory>
#include <type_traits>

namespace specklescope {

/// Threads that a stage on this thread may use now: the innermost ThreadLimit, within what oneTBB allows (its
/// global_control). At least 1.
int parallel_threads();

/// Limits the stages that the calling thread runs while it lives; 0: no limit of its own.
class ThreadLimit {
public:
    explicit ThreadLimit(int threads);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    int outer_;
};

/// Bands that share `rows` evenly: a few for each slot, so that a thread that wakes late or is preempted
/// costs little, but none under `min_rows`, which is what a band's own overhead is worth.
int band_count(int rows, int slots, int min_rows);

struct Band {
    int begin = 0, end = 0; ///< rows [begin, end)
};
/// Band `index` of `bands` nearly equal ones.
Band band_rows(int rows, int bands, int index);

namespace detail {
void run_bands(int bands, int slots, void (*call)(void*, int, int), void* f);
}

/// Calls f(band, slot) once for every band in [0, bands) and returns when all are done. Calls with the same
/// slot, in [0, slots), never overlap, so that a slot owns scratch memory. A band that throws stops nothing
/// else; the first exception comes out here.
template <class F> void run_bands(int bands, int slots, F&& f) {
    using Function = std::remove_reference_t<F>;
    detail::run_bands(
        bands, slots, [](void* call, int band, int slot) { (*static_cast<Function*>(call))(band, slot); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

/// The same over `rows` rows, shared evenly by `bands` of them: f(Band, slot).
template <class F> void for_bands(int rows, int bands, int slots, F&& f) {
    run_bands(bands, slots, [&](int band, int slot) { f(band_rows(rows, bands, band), slot); });
}

} // namespace specklescope
