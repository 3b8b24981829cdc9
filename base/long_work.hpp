// Work that takes seconds before there is a frame (a simulated scene, the mean of dark frames) is shown, and
// stops when the user wants an end.
#pragma once

#include "base/error.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace specklescope {

/// Told what is being done and how far it is, 0…1; negative: nobody knows. False: stop.
using WorkWatch = std::function<bool(std::string_view what, double part)>;

/// The work was stopped by its watch: as a request that is taken back, so that no device is blamed for it.
struct Cancelled : UsageError {
    explicit Cancelled(std::string_view what)
        : UsageError("Interrupted: " + std::string(what) + " was not finished, and nothing is left of it.") {}
};

/// Watches the long work of the thread that makes it, as long as it lives; one within another takes its
/// place.
class WatchWork {
public:
    explicit WatchWork(WorkWatch watch);
    WatchWork(const WatchWork&) = delete;
    WatchWork& operator=(const WatchWork&) = delete;
    ~WatchWork();

private:
    WorkWatch watch_;
    const WorkWatch* outer_;
};

/// Called by long work, at least every 50 ms, on the thread that asked for it; on other threads it does
/// nothing, so that bands may call it. Throws Cancelled.
void work_goes_on(std::string_view what, double part = -1);

} // namespace specklescope
