// What the doors of the program cost a camera: a live scene at 1000 frames/s with none, with all of them
// open, and with somebody at each who asks and reads nothing.
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
