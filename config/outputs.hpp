// The files that a run writes: that none of them is another of them, or one that it reads.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// Every name of a file to write, with the option that gives it.
std::vector<std::pair<const char*, std::vector<std::string*>>> written_names(Settings& settings);

/// Before anything is opened. Throws UsageError where two files that these runs write are one, whatever
/// names, links or folders lead to it, and where one of them is read.
void check_outputs(const std::vector<Settings>& runs);
/// The same of what `bench` writes and reads.
void check_outputs(const BenchSettings& bench);

} // namespace specklescope
