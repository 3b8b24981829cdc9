#include "cli/python.hpp"

#include "base/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>
#include <vector>

namespace specklescope {

namespace {

/// Reports a missing package in one sentence.
constexpr const char* kStart = R"py(
import sys
from importlib import import_module
command = sys.argv.pop(1)
try:
    main = import_module(f"specklescope.{command}.__main__").main
except ModuleNotFoundError as error:
    sys.exit(f"specklescope: The Python package {error.name} is missing. Install it with: pip install 'specklescope[{command}]'.")
sys.exit(main())
)py";

} // namespace

bool is_python(const std::string& command) { return command == "batch" || command == "convert"; }

void run_python(const std::string& command, char** words) {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error)
        ::setenv("SPECKLESCOPE", program.c_str(), 0); // NOLINT(concurrency-mt-unsafe): no other thread yet
    std::string python = "python3", option = "-c", start = kStart, name = command;
    std::vector<char*> all = {python.data(), option.data(), start.data(), name.data()};
    while (*words)
        all.push_back(*words++);
    all.push_back(nullptr);
    ::execvp(all[0], all.data());
    throw RunError(command +
                   " needs Python 3 with the package specklescope, and python3 is not found. Install "
                   "python3, then: pip install 'specklescope[" +
                   command + "]'.");
}

} // namespace specklescope
