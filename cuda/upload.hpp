// Upload of tables to the device. Inside cuda/ only.
#pragma once

#include "cuda/device.hpp"

#include <vector>

namespace specklescope::cuda {

/// Device memory with a copy of these values (empty for none), valid for all streams: a plain cudaMemcpy may
/// return while pageable memory is still being transferred, and the frames' streams do not wait for the
/// default stream.
Buffer uploaded(const void* values, std::size_t bytes);
template <class T> Buffer uploaded(const std::vector<T>& values) {
    return uploaded(values.data(), values.size() * sizeof(T));
}

} // namespace specklescope::cuda
