// Index arithmetic and spectra of the device convolution that need no device: host tests cover them.
#pragma once

#include "stages/convolve/convolution_geometry.hpp"

#include <vector>

namespace specklescope::cuda {

/// Where position d of a device transform lies on the axis as the geometry counts: a cyclic shift by
/// `origin`, so that the first result stands at the start of its row and stores are aligned.
SPECKLESCOPE_BOTH constexpr int axis_position(const ConvolutionAxis& axis, int d) {
    const int position = d + axis.origin;
    return position < axis.fft ? position : position - axis.fft;
}

/// The axis in one tile with transforms of `fft` positions, one of candidate_sizes().
ConvolutionAxis whole_axis(ConvolutionAxis axis, int fft, Border border);

/// Even sizes worth a try for the axis in one tile, ascending: the smallest of factors 2, 3, 5, 7, the next
/// power of two, and the geometry's own if it holds the whole.
std::vector<int> candidate_sizes(const ConvolutionAxis& axis, Border border);

/// Real spectrum at frequencies 0 … count − 1 of `taps`, symmetric around their middle, at length `fft`:
/// t₀ + 2·Σ tᵢ·cos(2πif/fft). Divided by fft.
std::vector<float> tap_spectrum(const std::vector<double>& taps, int fft, int count);

} // namespace specklescope::cuda
