// Tests that need a program installed only by `./dev nightly`.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace specklescope::test {

inline bool installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

} // namespace specklescope::test

/// Skips the test without `program`; tests/support/skipped.py accepts that except at night.
#define NEEDS_AT_NIGHT(program)                                                                              \
    if (!specklescope::test::installed(program))                                                             \
    GTEST_SKIP() << "nightly: " program " is not installed"
