// Streaming stores of host stages: results that the next stage would not find in the caches go past them.
#pragma once

#include "pipeline/image.hpp"

#include <cstddef>
#include <cstdint>

namespace specklescope {

/// Output bytes that the caches may still contain when the next stage reads them: the L2 cache of the
/// measured processors (docs/performance.md, Host).
inline constexpr std::size_t kCachedBytes = std::size_t{2} << 20;

/// True if streaming stores suit `output`, whose rows must start on cache lines.
inline bool streams(const HostView& output) {
    return output.shape.bytes() > kCachedBytes && reinterpret_cast<std::uintptr_t>(output.data) % 64 == 0 &&
           output.pitch % 64 == 0;
}

} // namespace specklescope
