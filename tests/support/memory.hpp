// Memory of a process according to the system.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

namespace specklescope::test {

/// "self", or a process number.
inline double resident_mib(const std::string& process = "self") {
    std::ifstream status("/proc/" + process + "/statm");
    double all = 0, resident = 0;
    status >> all >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Process number of the newest child of this thread.
inline std::string newest_child() {
    std::ifstream children("/proc/thread-self/children");
    std::string number;
    for (std::string next; children >> next;)
        number = next;
    return number;
}

} // namespace specklescope::test
