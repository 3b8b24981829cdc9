// The conversion that the device executor inserts where a stage does not accept what it is given.
#pragma once

#include "pipeline/chain.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// from → to of the same size, as pipeline/convert.hpp's convert() does on the host, bit for bit for
/// integers.
void convert(ConstDeviceView from, DeviceView to, GreyChannel channel, cudaStream_t stream);

} // namespace specklescope::cuda
