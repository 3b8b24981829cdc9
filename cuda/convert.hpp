// Conversions on the device: for stages that do not accept their input, and to four channels for textures.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/image.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Converts between images of the same size, like convert() in pipeline/convert.hpp on the host;
/// bit-identical for integers.
void convert(ConstDeviceView from, DeviceView to, GreyChannel channel, cudaStream_t stream);

/// Copies three channels to a surface with four, of the same size and sample type; the fourth is full scale.
void expand_to_rgba(ConstDeviceView rgb, cudaSurfaceObject_t to, cudaStream_t stream);

} // namespace specklescope::cuda
