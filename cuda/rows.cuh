// Rows of views in kernels.
#pragma once

#include "pipeline/image.hpp"

namespace specklescope::cuda {

/// View::row for kernels.
template <class T> __device__ __forceinline__ T* row_of(const View<T, Space::device>& view, int y) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(view.data) +
                                static_cast<std::size_t>(y) * view.pitch);
}

} // namespace specklescope::cuda
