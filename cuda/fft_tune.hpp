// Which transform size is fastest here: measured, because neither the number of points nor their factors
// tell (on an H200 8192² takes 0.86 ms and 6144² 1.11 ms). Inside cuda/ only.
#pragma once

#include "cuda/fft.hpp"
#include "stages/convolution_geometry.hpp"

namespace specklescope::cuda {

/// Milliseconds of a forward and a backward transform on the current device: the least of three, measured
/// once for the process; infinite where there is no memory to measure in.
double measured_ms(const FftShape& shape);

/// `geometry` with the transform that measures fastest among those of at most `bytes` of data; as it is if
/// it has several tiles or is too small for this to pay.
ConvolutionGeometry tuned(ConvolutionGeometry geometry, int batch, std::size_t bytes);

} // namespace specklescope::cuda
