// Measures sources in the pipeline, and recorders writing to a folder.
#pragma once

#include <string>
#include <vector>

namespace specklescope::bench {

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

} // namespace specklescope::bench
