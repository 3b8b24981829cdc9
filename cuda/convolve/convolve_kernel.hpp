// Kernels of stage convolve, computed on the device. Inside cuda/ only.
#pragma once

#include "cuda/convolve/convolution.hpp"
#include "stages/convolve/convolve_kernel.hpp"

namespace specklescope::cuda {

/// Evaluates the formula in float64 for every pixel of the kernel and stores the scaled spectrum in
/// `convolution`. Weights are summed in a fixed order: the same bits every time. Returns the sum of the
/// scaled weights.
double make_formula_spectrum(const KernelFormula& formula, bool normalize, const Convolution& convolution,
                             cudaStream_t stream);

/// The same for normalised weights of a file, from make_kernel().
void make_weight_spectra(const ConvolveKernel& kernel, const Convolution& convolution, cudaStream_t stream);

} // namespace specklescope::cuda
