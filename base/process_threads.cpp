#include "base/process_threads.hpp"

#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>
#include <atomic>

namespace specklescope {

namespace {

constinit std::atomic<bool> called{false}, left{false};

/// When the program or the library is loaded: a child is told before it computes.
[[maybe_unused]] const int watched = ::pthread_atfork(nullptr, nullptr, [] { left = called.load(); });

} // namespace

bool tbb_is_here() {
    if (left)
        return false;
    called = true;
    return true;
}

int all_threads() { return tbb_is_here() ? std::max(1, tbb::info::default_concurrency()) : 1; }

struct ProcessThreadLimit::Control {
    explicit Control(int threads)
        : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)) {}
    tbb::global_control control;
};

void ProcessThreadLimit::End::operator()(Control* control) const {
    if (tbb_is_here())  // its lock may be another's, who is not here
        delete control; // NOLINT(cppcoreguidelines-owning-memory): unique_ptr's own
}

ProcessThreadLimit::ProcessThreadLimit(int threads)
    : threads_(threads > 0 && tbb_is_here() ? threads : all_threads()),
      control_(tbb_is_here() ? new Control(threads_) : nullptr) {}

} // namespace specklescope
