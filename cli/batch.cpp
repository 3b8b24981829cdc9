#include "cli/batch.hpp"

#include "base/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace specklescope {

namespace {

/// Reports a missing package in one sentence.
constexpr const char* kStart = R"py(
import sys
try:
    from specklescope.batch.__main__ import main
except ModuleNotFoundError as error:
    sys.exit(f"specklescope: The Python package {error.name} is missing. Install it with: pip install 'specklescope[batch]'.")
sys.exit(main())
)py";

} // namespace

void run_batch(char** words) {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error)
        ::setenv("SPECKLESCOPE", program.c_str(), 0); // NOLINT(concurrency-mt-unsafe): no other thread yet
    std::string python = "python3", option = "-c", start = kStart;
    std::vector<char*> all = {python.data(), option.data(), start.data()};
    while (*words)
        all.push_back(*words++);
    all.push_back(nullptr);
    ::execvp(all[0], all.data());
    throw RunError("batch needs Python 3 with the package specklescope, and python3 is not found. Install "
                   "python3, then: pip install 'specklescope[batch]'.");
}

} // namespace specklescope
