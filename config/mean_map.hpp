// The mean of every pixel over a run, as an image.
#pragma once

#include "pipeline/sink.hpp"

#include <memory>
#include <string>

namespace specklescope {

struct Settings;

/// Mean of one image over a run. Its files share it.
struct MeanOfRun;

/// Writes the mean of all results without warm-up, taken as a baseline is (docs/science.md, Traces and their
/// baseline), in the formats of a snapshot when the run ends. 16 bytes of memory per pixel. Several files of
/// one mean share its sums: `mean` is null for the first, which makes it.
std::shared_ptr<Sink> make_mean_map(const std::string& path, const Settings& settings,
                                    std::shared_ptr<MeanOfRun>& mean);

} // namespace specklescope
