// What a process holds in memory, as the system counts it.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

namespace specklescope::test {

/// "self", or the number of a process.
inline double resident_mib(const std::string& process = "self") {
    std::ifstream status("/proc/" + process + "/statm");
    double all = 0, resident = 0;
    status >> all >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// The number of the newest process that this thread has started.
inline std::string newest_child() {
    std::ifstream children("/proc/thread-self/children");
    std::string number;
    for (std::string next; children >> next;)
        number = next;
    return number;
}

} // namespace specklescope::test
