// Sections of `specklescope bench`: network ports, sources and recorders, regions, throughput, other
// programs.
#pragma once

#include "base/error.hpp"
#include "config/settings.hpp"
#include "pipeline/executor.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace specklescope::bench {

/// Created new, removed at the end with its content.
class Scratch {
public:
    /// Throws RunError if it cannot be created in `parent`.
    explicit Scratch(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string pattern = (parent / "specklescope-bench-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw RunError("No folder can be made in " + parent.string() +
                           "; set TMPDIR to one that can be written.");
        path_ = pattern;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

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

/// Starts this program with these arguments and variables ("NAME=value"); its output goes to `log`. Returns
/// the process. Throws RunError.
pid_t start_program(std::vector<std::string> arguments, const std::string& log,
                    const std::vector<std::string>& variables = {});

/// Rows of section "window": time from a key to the changed image, frames/s while a slider moves, processor
/// time and memory. Throws RunError if no window opens.
nlohmann::ordered_json run_window(bool offscreen);

/// Rows of section "screen": delay from a frame in the source's pipe to the window, whose pixels are read
/// back, and the program's own figure. Throws RunError if no window opens.
nlohmann::ordered_json run_screen(bool offscreen);

/// Starts the programs specklescope-peers… in this program's folder; rows of section "peers". Logs a message
/// if one is missing. A row without a time of ours gets it from `ours`, rows of stages in the same run.
nlohmann::ordered_json run_peers(const std::string& filter, const nlohmann::ordered_json& ours);

struct DoorRun {
    std::string name; ///< "no door"
    ProgramRun program;
    int clients = 0;
    long unread = 0; ///< bytes received by the clients at the end of the run, unread
};

/// Each about `seconds` long; `backend` of the program. Omits what this build does not support.
std::vector<DoorRun> run_doors(const std::string& backend, double seconds = 8);

/// One source or recorder on 1392×1040 u16.
struct FeedRun {
    std::string name;  ///< "TIFF recorder"
    std::string place; ///< location of its file: "memory, /dev/shm", "disk, /tmp"; empty without a file
    double frames_per_s = 0;
    double mb_per_s = 0; ///< of pixels
    double cpu = 0;      ///< processor time of this process over wall-clock time, in cores
    long frames = 0;
    long dropped = 0;
};

/// Rows whose name "feeds NAME" contains `filter`, each about `seconds` long. Sources run unpaced through the
/// pipeline with an empty chain. Recorders get frames that are already in slots, and the time includes
/// closing the file; "plain write" writes the same bytes with one system call per frame, the upper limit for
/// a recorder. Cases that cannot be measured are logged and omitted.
std::vector<FeedRun> run_feeds(const std::string& filter, double seconds = 1.5);
/// True if there is such a row.
bool any_feed(const std::string& filter);

struct StreamRun {
    double frames_per_s = 0;
    double up_gb_per_s = 0;   ///< input bytes over the time
    double down_gb_per_s = 0; ///< output bytes to the host; 0 without downloads
    double latency_ms = 0;    ///< mean from submit to collect, with a full executor
    double submit_us = 0;     ///< mean duration of submit()
    double kernels_ms = 0;    ///< mean of timed frames, all stages together
    int frames = 0;
};

/// Stages as chain text; at least `seconds` long.
StreamRun run_stream(Executor& executor, const std::vector<std::string>& stages, const Shape& shape,
                     bool want_host, double seconds = 1);

/// Rows of section "gpus": kernel-bound work on 1, 2, 4 … and all GPUs, without downloads. Empty without a
/// GPU.
nlohmann::ordered_json run_gpus();

/// Rows of speckle:radius=2 on 1392×1040 u16 without copies of the results: on the host, unless only the GPU
/// is requested, and on the GPU if there is one.
nlohmann::ordered_json run_regions(const Settings& settings, bool gpu);

/// Rows of section "traces": TraceHistory with a million values and more, in µs per call.
nlohmann::ordered_json run_traces();

} // namespace specklescope::bench
