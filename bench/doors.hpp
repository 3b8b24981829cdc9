// The cost of open doors for a camera at 1000 frames/s: none open, all open, and with a client at each that
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
    long unread = 0; ///< bytes that had come to them when the run was to end: they stood still
};

/// Each about `seconds` long; `backend` of the program. What this build cannot open is left out.
std::vector<DoorRun> run_doors(const std::string& backend, double seconds = 8);

} // namespace specklescope::bench
