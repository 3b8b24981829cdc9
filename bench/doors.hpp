// Cost of open network ports for a camera at 1000 frames/s: none open, all open, and each with a client that
// sends requests and reads no answer.
#pragma once

#include "bench/programs.hpp"

#include <string>
#include <vector>

namespace specklescope::bench {

struct DoorRun {
    std::string name; ///< "no door"
    ProgramRun program;
    int clients = 0;
    long unread = 0; ///< bytes received by the clients at the end of the run, unread
};

/// Each about `seconds` long; `backend` of the program. Omits what this build does not support.
std::vector<DoorRun> run_doors(const std::string& backend, double seconds = 8);

} // namespace specklescope::bench
