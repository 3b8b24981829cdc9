// Plan of a complex Fourier transform of one line in shared memory: decimation in frequency, in place, by
// radices of 2 to 16 (Cooley and Tukey 1965; Gentleman and Sande 1966). Frequencies come out in the order
// that the radices make of them, and the inverse takes them in that order, so that nothing is ever sorted.
// Inside cuda/ only; needs no device: host tests cover it.
#pragma once

#include "base/host_device.hpp"

#include <cstdint>
#include <vector>

namespace specklescope::cuda {

/// ⌈2³²/divisor⌉: divided() by it is exact for i·divisor < 2³². 0 for divisors 0 and 1: see there.
constexpr std::uint32_t reciprocal_of(int divisor) {
    if (divisor < 2)
        return 0;
    const auto by = static_cast<std::uint64_t>(divisor);
    return static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + by - 1) / by);
}
/// i / divisor; 0 where the reciprocal is 0.
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
    int step = 0;                 ///< from root to root in a table of n
};

/// Points of the longest line that there are plans for.
inline constexpr int kLongestLine = 32767;

struct LinePlan {
    static constexpr int kMaxPasses = 8;

    int n = 0; ///< points
    int passes = 0;
    LinePass pass[kMaxPasses]; // arrays that kernels may read
    /// Reciprocals of the two periods after each of which a place in shared memory is left out, so that the
    /// points which threads want at once lie in different banks; 0: none.
    std::uint32_t gap[2]{};

    /// Where point i lies in shared memory, in complex numbers.
    SPECKLESCOPE_BOTH int place(int i) const { return i + divided(i, gap[0]) + divided(i, gap[1]); }
    /// What a line takes there.
    SPECKLESCOPE_BOTH int room() const { return place(n - 1) + 1; }
};

/// The passes for n = 1 … kLongestLine points: those that take the fewest instructions and conflicts of
/// banks. Throws UsageError for an n with a prime factor other than 2, 3, 5, 7.
LinePlan line_plan(int n);

/// Relative time of one point in this plan, as line_plan() judges: a fit by eye to an H200's times (November
/// 2026).
double line_cost(const LinePlan& plan);

/// Where frequency f lies after the forward passes: [0, n).
std::vector<std::uint16_t> line_order(const LinePlan& plan);

/// exp(−2πi·j/n) for j = 0 … n − 1: cosine and sine in turn.
std::vector<float> line_roots(int n);

} // namespace specklescope::cuda
