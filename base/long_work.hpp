// Progress and cancellation of work that takes seconds before the first frame (a simulated scene, the mean of
// dark frames).
#pragma once

#include "base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Receives the current task and its progress, 0…1 (negative: unknown). Returns false to cancel.
using WorkWatch = std::function<bool(std::string_view what, double part)>;

/// The work was cancelled by its WorkWatch. A UsageError, so that no device is blamed for it.
struct Cancelled : UsageError {
    explicit Cancelled(std::string_view what)
        : UsageError("Interrupted: " + std::string(what) + " was not finished, and nothing is left of it.") {}
};

/// Watches the long work of the current thread for its lifetime. A nested one replaces it.
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

/// Reports progress. Call it at least every 50 ms on the thread that requested the work; on other threads it
/// does nothing, so that bands may call it. Throws Cancelled.
void work_goes_on(std::string_view what, double part = -1);

/// Bytes filled between two progress reports: a few milliseconds, first touch of the pages included.
inline constexpr std::size_t kFilledAtOnce = std::size_t{16} << 20;

/// values.resize(count, value), with a progress report every kFilledAtOnce bytes.
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
