// Refused runs of the program: one error, and no file written.
#pragma once

#include "tests/support/child.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace specklescope {

struct Refused {
    std::vector<std::string> more; ///< after `run` with two simulated frames of 128×96
    int status;
    std::string sentence; ///< part of the error
};

/// `after`: called after each of them.
inline void expect_refused(const std::string& folder, const std::vector<Refused>& cases,
                           const std::function<void()>& after) {
    for (const Refused& refused : cases) {
        std::vector<std::string> arguments = {"run", "synthetic:vessels?width=128&height=96&live=false",
                                              "--frames", "2"};
        arguments.insert(arguments.end(), refused.more.begin(), refused.more.end());
        const ChildResult ran = run_program(arguments, folder);
        EXPECT_EQ(ran.status, refused.status) << ran.all();
        EXPECT_NE(ran.err.find(refused.sentence), std::string::npos) << ran.all();
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        after();
    }
}

} // namespace specklescope
