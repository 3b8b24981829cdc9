#include "base/parallel.hpp"

#include "base/background_threads.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace specklescope {

namespace {

thread_local int threads_here = 0;

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

/// Calls work(slot) for every slot in parallel and returns when all are done. ThreadSanitizer cannot see into
/// the distribution's oneTBB and would report every synchronisation in it, so that builds with it use plain
/// threads to find our own races.
template <class F> void on_every_slot(int slots, const F& work) {
    if constexpr (kThreadSanitizer) {
        std::vector<std::thread> threads;
        for (int slot = 1; slot < slots; ++slot)
            threads.emplace_back(work, slot);
        work(0);
        for (std::thread& thread : threads)
            thread.join();
    } else {
        // Isolated: a thread that waits for its bands starts nothing else.
        tbb::this_task_arena::isolate(
            [&] { tbb::parallel_for(0, slots, 1, work, tbb::simple_partitioner()); });
    }
}

} // namespace

int parallel_threads() {
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int cores = std::min(all_threads(), static_cast<int>(std::min<std::size_t>(allowed, 4096)));
    return std::max(1, threads_here > 0 ? std::min(threads_here, cores) : cores);
}

ThreadLimit::ThreadLimit(int threads) : outer_(threads_here) { threads_here = std::max(0, threads); }
ThreadLimit::~ThreadLimit() { threads_here = outer_; }

int band_count(int rows, int slots, int min_rows) {
    constexpr int kPerSlot = 4; // so that threads end together; an estimate
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
    // Each thread takes the bands of its own share first, the same ones in every call, so that what a stage
    // keeps of them stays in the cache of its core. Then it takes bands of the other shares.
    std::vector<std::atomic<int>> taken(static_cast<std::size_t>(slots)); // per share
    std::atomic<bool> failed{false};
    std::mutex mutex;
    std::exception_ptr failure;
    on_every_slot(slots, [&](int slot) {
        const int own = std::max(0, tbb::this_task_arena::current_thread_index());
        for (int i = 0; i < slots; ++i) {
            const int share = (own + i) % slots;
            const Band part = band_rows(bands, slots, share);
            std::atomic<int>& next = taken[static_cast<std::size_t>(share)];
            for (int band = part.begin + next++; band < part.end && !failed; band = part.begin + next++) {
                try {
                    call(f, band, slot);
                } catch (...) {
                    const std::scoped_lock lock(mutex);
                    if (!failed.exchange(true))
                        failure = std::current_exception(); // no slot starts another band
                }
            }
        }
    });
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace detail

struct FewThreads::Arena {
    explicit Arena(int threads) : arena(threads) {}
    tbb::task_arena arena;
};
FewThreads::FewThreads(int threads) : threads_(threads) {}
FewThreads::~FewThreads() = default;
void FewThreads::call(void (*function)(void*), void* f) {
    if (!arena_) // not before: oneTBB warns of an arena that is larger than the limit of the process
        arena_ = std::make_unique<Arena>(std::min(threads_, parallel_threads()));
    arena_->arena.execute([function, f] { function(f); });
}

struct BackgroundThreads::Arena {
    explicit Arena(int threads) : arena(threads) {}
    tbb::task_arena arena;
    std::shared_ptr<std::atomic<int>> started = std::make_shared<std::atomic<int>>(0); ///< not yet ended
};
BackgroundThreads::BackgroundThreads(int threads)
    : arena_(std::make_unique<Arena>(std::min(threads, parallel_threads()))) {}
BackgroundThreads::~BackgroundThreads() {
    for (int left = *arena_->started; left > 0; left = *arena_->started)
        arena_->started->wait(left);
}
void BackgroundThreads::start(std::function<void()> f) {
    ++*arena_->started;
    auto task = [f = std::move(f), started = arena_->started] {
        f();
        if (started->fetch_sub(1) == 1)
            started->notify_all();
    };
    if constexpr (kThreadSanitizer)
        std::thread(std::move(task)).detach();
    else
        arena_->arena.enqueue(std::move(task));
}
void BackgroundThreads::run(const std::function<void()>& f) {
    if constexpr (kThreadSanitizer)
        f();
    else
        arena_->arena.execute(f);
}

int all_threads() { return std::max(1, tbb::info::default_concurrency()); }

struct ProcessThreadLimit::Control {
    explicit Control(int threads)
        : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)) {}
    tbb::global_control control;
};

ProcessThreadLimit::ProcessThreadLimit(int threads)
    : threads_(threads > 0 ? threads : all_threads()), control_(std::make_unique<Control>(threads_)) {}

ProcessThreadLimit::~ProcessThreadLimit() = default;

} // namespace specklescope
