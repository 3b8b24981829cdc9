// Host-side planning of the device convolution, so that tests need no device.
#pragma once

#include "stages/convolve/convolution_geometry.hpp"

#include <cstddef>
#include <vector>

namespace specklescope::cuda {

/// Relative times of rows and columns on a device with `shared_bytes` of shared memory per block. Every
/// length is planned once.
struct DeviceLineCosts {
    LineCost across, down;
};
DeviceLineCosts device_line_costs(std::size_t shared_bytes);

/// Real spectrum at frequencies 0 … count − 1 of `taps`, symmetric around their middle, at length `fft`: t₀ +
/// 2·Σ tᵢ·cos(2πif/fft). Divided by fft.
std::vector<float> tap_spectrum(const std::vector<double>& taps, int fft, int count);

} // namespace specklescope::cuda
