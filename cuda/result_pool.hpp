// Memory of results that callers keep: theirs until the last handle is released, and reused only after the
// work they have declared. Used only by cuda/executor.cpp.
#pragma once

#include "pipeline/result.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace specklescope::cuda {

class BufferPool;
class ResultBuffer;

/// Any number of results may be in use, limited by device memory. One thread at a time; any thread may
/// release.
class ResultPool {
public:
    explicit ResultPool(int device) : device_(device) {}
    ResultPool(const ResultPool&) = delete;
    ResultPool& operator=(const ResultPool&) = delete;

    /// True if take() would find memory; false at the timeout. Also true after 10 s without memory or after a
    /// device failure: take() then throws.
    bool wait(const Shape& shape, std::chrono::milliseconds timeout);
    /// Rows and address fit the kernels (fits_kernels()), and no stream uses the memory any more. Throws
    /// NoSlot, DeviceError.
    Frame take(const Shape& shape, std::shared_ptr<ResultMemory>& memory);

private:
    BufferPool& pool_for(const Shape& shape);

    int device_;
    std::shared_ptr<BufferPool> buffers_; ///< of the current shape; null before the first
    std::shared_ptr<ResultBuffer> found_; ///< found by wait(), for the next take()
    std::optional<SteadyClock::time_point> missing_since_;
    bool timed_out_ = false; ///< wait() timed out: the next take() need not wait
};

} // namespace specklescope::cuda
