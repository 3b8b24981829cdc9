// Work that takes seconds before there is a frame (a simulated scene, the mean of dark frames) is shown, and
// stops when the user wants an end.
#pragma once

#include "base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// Bytes between two questions where memory is filled: some milliseconds, the pages' first touch included.
inline constexpr std::size_t kFilledAtOnce = std::size_t{16} << 20;

/// As values.resize(count, value), with the question every kFilledAtOnce bytes.
template <class T>
void fill_up(std::vector<T>& values, std::size_t count, const T& value, std::string_view what) {
    constexpr std::size_t kStep = std::max<std::size_t>(kFilledAtOnce / sizeof(T), 1);
    values.reserve(count);
    while (values.size() < count) {
        work_goes_on(what, static_cast<double>(values.size()) / static_cast<double>(count));
        values.resize(std::min(count, values.size() + kStep), value);
    }
    values.resize(count, value);
}

} // namespace specklescope
