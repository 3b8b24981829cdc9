// HSV equalisation as an earlier program did it: whole pictures in float between kernels, memory allocated in
// every call. The "before" of the benchmark; not part of the product.
#pragma once

#include <cstdint>

namespace specklescope::seeds {

/// Device pictures of interleaved RGB, width·height pixels without padding; bins 2…1024. Max-abs scaling.
/// Returns when the result is there. Throws RunError if CUDA refuses.
void hsv_equalize(const std::uint8_t* rgb, std::uint8_t* result, int width, int height, int bins);

} // namespace specklescope::seeds
