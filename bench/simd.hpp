// Which instruction set the host's loops take.
#pragma once

namespace specklescope::bench {

/// SPECKLESCOPE_SIMD=AVX2 (or SSE4, AVX3, …) in the environment keeps the host's loops from anything better,
/// so that both can be measured on one machine. Throws UsageError listing what there is.
void use_simd_of_environment();

} // namespace specklescope::bench
