// What this process holds, as the system says.
#pragma once

#include "tests/support/folder.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace specklescope::soak {

struct Held {
    int descriptors = 0, threads = 0;
    double mib = 0; ///< of memory that is its own: the resident part without files
};

inline Held held_by_this_process() {
    namespace fs = std::filesystem;
    malloc_trim(0); // what is free and kept for later is not held
    const auto count = [](const char* folder) {
        return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    };
    Held held{count("/proc/self/fd"), count("/proc/self/task"), 0};
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:"))
            held.mib = std::stod(line.substr(8)) / 1024;
    return held;
}

inline Held most(const Held& a, const Held& b) {
    return {std::max(a.descriptors, b.descriptors), std::max(a.threads, b.threads), std::max(a.mib, b.mib)};
}

} // namespace specklescope::soak
