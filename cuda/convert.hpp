// Conversion on the device for stages that do not accept their input.
#pragma once

#include "pipeline/chain.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Converts between images of the same size, like convert() in pipeline/convert.hpp on the host;
/// bit-identical for integers.
void convert(ConstDeviceView from, DeviceView to, GreyChannel channel, cudaStream_t stream);

} // namespace specklescope::cuda
