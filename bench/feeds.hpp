// What brings frames in and what takes them away: sources through the pipeline, recorders into a folder.
#pragma once

#include <string>
#include <vector>

namespace specklescope::bench {

/// One source or recorder on 1392×1040 u16.
struct FeedRun {
    std::string name;  ///< "TIFF recorder"
    std::string place; ///< where its file lies: "memory, /dev/shm", "disk, /tmp"; empty without a file
    double frames_per_s = 0;
    double mb_per_s = 0; ///< of pixels
    double cpu = 0;      ///< processor time of this process over wall-clock time, in cores
    long frames = 0;
    long dropped = 0;
};

/// The rows whose name "feeds NAME" contains `filter`, each about `seconds` long. Sources run unpaced through
/// the pipeline with an empty chain. Recorders take frames that lie in slots already, and the time counts
/// until the file is closed; "plain write" puts the same bytes into a file with one system call a frame, and
/// is what a recorder there can reach. What cannot be measured is said in the log and left out.
std::vector<FeedRun> run_feeds(const std::string& filter, double seconds = 1.5);
/// True if there is such a row.
bool any_feed(const std::string& filter);

} // namespace specklescope::bench
