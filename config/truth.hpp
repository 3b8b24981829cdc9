// Truth of a simulated source: maps, and the facts of each frame.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope {

struct Settings;

/// Throws UsageError for other endings than .csv, RunError if a file cannot be written.
void check_truth(const std::string& path);
/// The table and its maps: truth.csv, truth.npy.
std::vector<std::string> truth_files(const std::string& path);
/// A row per frame: exposure, shift of the scene, factor of the pulsating flow; and the maps of mean τc, ρ
/// and β. Throws UsageError if the source is not simulated.
std::shared_ptr<Sink> make_truth(const std::string& path, const Settings& settings);

} // namespace specklescope
