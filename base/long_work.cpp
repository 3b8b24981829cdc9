#include "base/long_work.hpp"

#include <utility>

namespace specklescope {

namespace {
thread_local const WorkWatch* watch_here = nullptr;
} // namespace

WatchWork::WatchWork(WorkWatch watch)
    : watch_(std::move(watch)), outer_(std::exchange(watch_here, &watch_)) {}
WatchWork::~WatchWork() { watch_here = outer_; }

void work_goes_on(std::string_view what, double part) {
    if (watch_here && !(*watch_here)(what, part))
        throw Cancelled(what);
}

} // namespace specklescope
