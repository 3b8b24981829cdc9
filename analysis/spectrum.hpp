// The spectrum of equidistant samples.
#pragma once

#include <cstddef>
#include <vector>

namespace specklescope {

/// One-sided power density; `density` in unit²/Hz at frequencies k·step_hz.
struct Spectrum {
    double step_hz = 0;
    std::vector<double> density;
    std::size_t length = 0;   ///< samples per segment
    std::size_t segments = 0; ///< number of averaged segments
};

/// Welch 1967: the mean over segments of `length` samples that overlap by half, each minus its mean and with
/// a periodic Hann window. The rest at the end of a run is not used. No segment: no density. `rate` in
/// samples/s. Equals scipy.signal.welch(window="hann", nperseg=length) of each run, weighted by their
/// segments.
Spectrum welch_spectrum(const std::vector<std::vector<double>>& runs, double rate, std::size_t length);

} // namespace specklescope
