// The name that a recording will have, known before its first frame has come.
#pragma once

#include <string>
#include <vector>

namespace specklescope {

/// Of a recording of this name, or a report: each file that it writes, `path` the first.
std::vector<std::string> files_of_recording(const std::string& path);

/// `wanted`, or the first numbered name at which there is nothing, nor at those of the files that this format
/// writes beside, and which is none of `promised`. A stream_target() as it is. Throws RunError where all are
/// taken.
std::string free_recording_name(const std::string& wanted, const std::vector<std::string>& promised);

} // namespace specklescope
