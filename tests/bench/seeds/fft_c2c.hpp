// The earlier convolution: complex to complex, with everything allocated for every image. A reference and the
// "before" of the benchmark tables, not part of the product.
#pragma once

#include "pipeline/image.hpp"

#include <vector>

namespace specklescope::seeds {

/// Convolves each channel of `image` with one kernel of kernel_width × kernel_height weights (rows from top
/// to bottom, in host memory; centre at width/2, height/2) into `output`, f32 of the same size and channels,
/// with zeros outside. Image and kernel become complex planes padded with zeros to (width + kernel_width − 1)
/// × (height + kernel_height − 1), for any factors; plans, planes and the kernel's transform are made and
/// released in every call. Works on the default stream and returns when it is done. Throws RunError without
/// cuFFT or memory.
void seed_convolve_c2c(ConstDeviceView image, DeviceView output, const std::vector<float>& kernel,
                       int kernel_width, int kernel_height);

} // namespace specklescope::seeds
