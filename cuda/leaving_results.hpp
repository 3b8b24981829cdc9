// Memory of results that leave with whoever fetches them: theirs until the last handle is gone, and written
// again only behind what they have said to use it. For cuda/executor.cpp alone.
#pragma once

#include "pipeline/result.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace specklescope::cuda {

class Rooms;
class LeavingRoom;

/// Any number of results may be out: there is room for more as long as the device has memory. One thread at a
/// time; the rooms come back on any.
class LeavingResults {
public:
    explicit LeavingResults(int device) : device_(device) {}
    LeavingResults(const LeavingResults&) = delete;
    LeavingResults& operator=(const LeavingResults&) = delete;

    /// Whether take() would find room; false when the time is over. Where none has come for 10 s it is true,
    /// and so is it where the device has failed: take() tells.
    bool wait(const Shape& shape, std::chrono::milliseconds timeout);
    /// Rows and address fit the kernels (fits_kernels()), and nobody reads or writes it any more: every
    /// stream may. Throws NoSlot, DeviceError.
    Frame take(const Shape& shape, std::shared_ptr<ResultMemory>& memory);

private:
    Rooms& rooms_for(const Shape& shape);

    int device_;
    std::shared_ptr<Rooms> rooms_;       ///< of the present shape; null before the first
    std::shared_ptr<LeavingRoom> found_; ///< by wait(), for the next take()
    std::optional<SteadyClock::time_point> missing_since_;
    bool given_up_ = false; ///< the next take() need not wait: wait() has
};

} // namespace specklescope::cuda
