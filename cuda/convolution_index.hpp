// Index arithmetic and spectra of the device convolution that need no device: host tests cover them.
#pragma once

#include "stages/convolution_geometry.hpp"

#include <vector>

namespace specklescope::cuda {

/// Where position d of a device transform lies on the axis as the geometry counts: a cyclic shift by
/// `origin`, so that the first result stands at the start of its row and stores are aligned.
SPECKLESCOPE_BOTH constexpr int axis_position(const ConvolutionAxis& axis, int d) {
    const int position = d + axis.origin;
    return position < axis.fft ? position : position - axis.fft;
}

/// Even sizes worth a try for an axis that lies in one tile, ascending: the geometry's own, the smallest of
/// factors 2, 3, 5, 7 and the next power of two.
std::vector<int> candidate_sizes(const ConvolutionAxis& axis);

/// Real spectrum at frequencies 0 … count − 1 of `taps`, symmetric around their middle, at length `fft`:
/// t₀ + 2·Σ tᵢ·cos(2πif/fft). Divided by fft.
std::vector<float> tap_spectrum(const std::vector<double>& taps, int fft, int count);

} // namespace specklescope::cuda
