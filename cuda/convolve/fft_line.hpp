// Plan of a complex Fourier transform of one line in shared memory: decimation in frequency, in place, with
// radices of 2 to 16 (Cooley and Tukey 1965; Gentleman and Sande 1966). Frequencies are produced in the order
// given by the radices, and the inverse accepts that order, so that no sorting is needed. Inside cuda/ only;
// tests need no device.
#pragma once

#include "base/host_device.hpp"
#include "stages/convolve/convolution_geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace specklescope::cuda {

/// ⌈2³²/divisor⌉: divided() with it is exact for i·divisor < 2³². 0 for divisors 0 and 1, see there.
constexpr std::uint32_t reciprocal_of(int divisor) {
    if (divisor < 2)
        return 0;
    const auto by = static_cast<std::uint64_t>(divisor);
    return static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + by - 1) / by);
}
/// i / divisor; 0 if the reciprocal is 0.
SPECKLESCOPE_BOTH inline int divided(int i, std::uint32_t reciprocal) {
#ifdef __CUDA_ARCH__
    return static_cast<int>(__umulhi(static_cast<unsigned>(i), reciprocal));
#else
    return static_cast<int>((static_cast<std::uint64_t>(static_cast<unsigned>(i)) * reciprocal) >> 32);
#endif
}

/// One pass: blocks of radix·m points become `radix` blocks of m points.
struct LinePass {
    int radix = 1;
    int m = 1;
    std::uint32_t reciprocal = 0; ///< of m
    int butterflies = 0;          ///< of the whole line
    int stride = 1;               ///< in shared memory, from one point of a butterfly to the next
    int step = 0;                 ///< between roots in a table of n
};

/// Number of points of the longest supported line.
inline constexpr int kLongestLine = 32767;

struct LinePlan {
    static constexpr int kMaxPasses = 8;

    int n = 0; ///< points
    int passes = 0;
    LinePass pass[kMaxPasses]; // C arrays, readable in kernels
    /// Reciprocals of the two periods after which one place in shared memory is skipped, so that points
    /// accessed together are in different banks; 0: none.
    std::uint32_t gap[2]{};

    /// Place of point i in shared memory, in complex numbers.
    SPECKLESCOPE_BOTH int place(int i) const { return i + divided(i, gap[0]) + divided(i, gap[1]); }
    /// Size of a line in shared memory.
    SPECKLESCOPE_BOTH int room() const { return place(n - 1) + 1; }
};

/// Passes for n = 1 … kLongestLine points with the fewest instructions and bank conflicts. Throws UsageError
/// for an n with a prime factor other than 2, 3, 5, 7.
LinePlan line_plan(int n);

/// Relative time per point of this plan, as used by line_plan(): fitted by eye to an H200's times (November
/// 2026).
double line_cost(const LinePlan& plan);

/// Place of frequency f after the forward passes: [0, n).
std::vector<std::uint16_t> line_order(const LinePlan& plan);

/// exp(−2πi·j/n) for j = 0 … n − 1: cosine and sine interleaved.
std::vector<float> line_roots(int n);

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
