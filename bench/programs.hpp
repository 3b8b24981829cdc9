// Runs programs as child processes: this one, with its frames, drops, latency, processor time and start time,
// and the programs that measure other libraries.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

struct ProgramRun {
    nlohmann::json stats;      ///< written by --stats
    double seconds = 0;        ///< from the start of the process to its end
    double processor_s = 0;    ///< user and system time of all its threads
    double first_result_s = 0; ///< from the start of the process; 0: none
    double first_picture_s = 0;
};

/// Starts this program with these arguments and --stats; with `seconds` > 0 it is interrupted (SIGINT) after
/// that time. Throws RunError with its output if it fails.
ProgramRun run_program(std::vector<std::string> arguments, double seconds = 0);

/// Starts `specklescope-peers` from this program's folder; rows of section "peers". Logs a message if it is
/// missing.
nlohmann::ordered_json run_peers(const std::string& filter);

} // namespace specklescope::bench
