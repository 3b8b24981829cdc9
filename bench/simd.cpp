#include "bench/simd.hpp"

#include "pipeline/error.hpp"

#include <hwy/targets.h>

#include <cstdlib>
#include <string>

namespace specklescope::bench {

void use_simd_of_environment() {
    const char* wanted = std::getenv("SPECKLESCOPE_SIMD"); // NOLINT(concurrency-mt-unsafe)
    if (!wanted)
        return;
    std::string names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        if (std::string(wanted) == hwy::TargetName(target)) {
            hwy::DisableTargets(target - 1); // better ones have lower bits
            hwy::GetChosenTarget().Update(hwy::SupportedTargets());
            return;
        }
        names += (names.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
    }
    throw UsageError("SPECKLESCOPE_SIMD=" + std::string(wanted) + " is not possible here; allowed: " + names +
                     ".");
}

} // namespace specklescope::bench
