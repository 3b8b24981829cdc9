// Stages and memory of the host, and the instruction set that its loops use.
#pragma once

#include "bench/cases.hpp"
#include "bench/timing.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::bench {

/// One stage on one kind of frame.
struct KernelRun {
    Spread time;
    Spread copy; ///< of copying as many bytes as input and output have together
    Shape output;
    std::string note;      ///< what the stage chose
    double difference = 0; ///< worst, from the reference: see difference(); infinite where poison is left
    bool agrees = false;
};

/// Copies half of `bytes` with all threads, so that `bytes` are read and written together.
Spread copy_on_host(std::size_t bytes);

/// Throws UsageError if the stage cannot run on this shape. The result is checked to be the same whatever the
/// output held before.
KernelRun run_on_host(const KernelCase& work);

/// The same with each of simd_to_compare(), by their names.
using SimdRuns = std::vector<std::pair<std::string, KernelRun>>;
SimdRuns run_with_each_simd(const KernelCase& work);

/// What a stage of the host makes of `inputs`, one after the other; the output of the last.
Frame host_result(const ChainStage& link, const std::vector<Frame>& inputs);

/// Worst difference over all pixels: |a − b| over the larger of |b| and a thousandth of the largest finite
/// |b|; for u8 and u16 over full scale. Infinite where only one is NaN or infinite.
double difference(ConstHostView a, ConstHostView b);

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
