// Which instruction set the host's loops take.
#pragma once

#include <string>
#include <vector>

namespace specklescope::bench {

/// SPECKLESCOPE_SIMD=AVX2 (or SSE4, AVX3, …) in the environment keeps the host's loops from anything better,
/// so that both can be measured on one machine. Throws UsageError listing what there is.
void use_simd_of_environment();

/// Instruction sets to compare, best first, by Highway's names: AVX3 (AVX-512) and AVX2, as far as the
/// processor and SPECKLESCOPE_SIMD allow; empty elsewhere.
std::vector<std::string> simd_to_compare();

/// While it lives, the host's loops take nothing better than `name`, one of simd_to_compare().
class SimdLimit {
public:
    explicit SimdLimit(const std::string& name);
    ~SimdLimit();
    SimdLimit(const SimdLimit&) = delete;
    SimdLimit& operator=(const SimdLimit&) = delete;
};

} // namespace specklescope::bench
