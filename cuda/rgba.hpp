// Colour for textures: OpenGL textures that CUDA can write have one, two or four channels.
#pragma once

#include "pipeline/image.hpp"

#include <cuda_runtime.h>

namespace specklescope::cuda {

/// Copies three channels to a surface with four, of the same size and sample type; the fourth is full scale.
void expand_to_rgba(ConstDeviceView rgb, cudaSurfaceObject_t to, cudaStream_t stream);

} // namespace specklescope::cuda
