// Kernels of stage convolve made on the device. Inside cuda/ only.
#pragma once

#include "cuda/convolve/convolution.hpp"
#include "stages/convolve/convolve_kernel.hpp"

namespace specklescope::cuda {

/// Evaluates the formula in float64 on every pixel of the kernel and leaves the scaled spectrum in
/// `convolution`. Weights are summed in a fixed order: the same bits every time. Returns the sum of the
/// scaled weights.
double make_formula_spectrum(const KernelFormula& formula, bool normalize, const Convolution& convolution,
                             cudaStream_t stream);

/// The same for weights from a file, as make_kernel() gives them: normalised already.
void make_weight_spectra(const ConvolveKernel& kernel, const Convolution& convolution, cudaStream_t stream);

} // namespace specklescope::cuda
