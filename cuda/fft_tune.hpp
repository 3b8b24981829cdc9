// Which transform size is fastest here: measured, because neither the number of points nor their factors
// tell (on an H200 8192² takes 0.86 ms and 6144² 1.11 ms). Inside cuda/ only.
#pragma once

#include "cuda/fft.hpp"
#include "stages/convolve/convolution_geometry.hpp"

namespace specklescope::cuda {

/// `geometry`, or the whole image at once with the transform that measures fastest among those of at most
/// `bytes` of data, whichever takes less time. Small images are not worth it and keep their geometry.
ConvolutionGeometry tuned(const ConvolutionGeometry& geometry, int batch, std::size_t bytes);

} // namespace specklescope::cuda
