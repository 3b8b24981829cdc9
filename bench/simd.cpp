#include "bench/simd.hpp"

#include "base/error.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace specklescope::bench {

namespace {

/// Targets better than the one that the environment asks for.
std::int64_t disabled_by_environment = 0;

void disable(std::int64_t targets) {
    hwy::DisableTargets(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

} // namespace

void use_simd_of_environment() {
    const char* wanted = std::getenv("SPECKLESCOPE_SIMD"); // NOLINT(concurrency-mt-unsafe)
    if (!wanted)
        return;
    std::string names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        if (std::string(wanted) == hwy::TargetName(target)) {
            disabled_by_environment = target - 1; // better ones have lower bits
            disable(disabled_by_environment);
            return;
        }
        names += (names.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
    }
    throw UsageError("SPECKLESCOPE_SIMD=" + std::string(wanted) + " is not possible here; allowed: " + names +
                     ".");
}

std::vector<std::string> simd_to_compare() {
    std::vector<std::string> names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        if (target == HWY_AVX3 || target == HWY_AVX2)
            names.emplace_back(hwy::TargetName(target));
    return names;
}

SimdLimit::SimdLimit(const std::string& name) {
    for (const std::int64_t target : {HWY_AVX3, HWY_AVX2})
        if (name == hwy::TargetName(target))
            disable(target - 1);
}

SimdLimit::~SimdLimit() { disable(disabled_by_environment); }

} // namespace specklescope::bench
