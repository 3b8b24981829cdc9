// Checks whether tests that need a GPU can run.
#pragma once

#include "base/error.hpp"
#include "have_cuda.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace specklescope::test {

/// Empty if a GPU can be used; otherwise "no GPU: …".
inline std::string reason_for_no_gpu() {
#ifdef SPECKLESCOPE_HAVE_CUDA
    std::string reason;
    return list_gpus(&reason).empty() ? "no GPU: " + reason : "";
#else
    return "no GPU: this build has no CUDA backend";
#endif
}

/// True if a GPU can be used. Otherwise the current test is skipped, or fails with
/// SPECKLESCOPE_REQUIRE_GPU=1, and must return.
inline bool needs_gpu() {
    const std::string reason = reason_for_no_gpu();
    if (reason.empty())
        return true;
    const char* required = std::getenv("SPECKLESCOPE_REQUIRE_GPU"); // NOLINT(concurrency-mt-unsafe)
    const auto skip_or_fail = [&] {
        if (required && std::string(required) == "1")
            FAIL() << "SPECKLESCOPE_REQUIRE_GPU=1, but " << reason;
        GTEST_SKIP() << reason;
    };
    skip_or_fail();
    return false;
}

} // namespace specklescope::test
