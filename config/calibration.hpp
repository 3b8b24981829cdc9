// `specklescope calibrate` and the window's dialog: measure a camera from recordings and keep its profile.
#pragma once

#include "analysis/camera_calibration.hpp"
#include "config/camera_profile.hpp"
#include "config/settings.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

struct MeasuredCamera {
    CameraProfile profile; ///< without name and files
    std::optional<PhotonTransfer> noise;
    std::optional<StaticScatterer> still;
    std::size_t bad_pixels = 0, pixels = 0;
    Shape shape;                   ///< of the maps
    std::vector<float> dark, flat; ///< empty: not measured
    bool black_known = true;       ///< false: β without a dark recording
};

/// Long work (base/long_work.hpp). Throws UsageError, also where a recording is unsuitable, RunError, and
/// Cancelled.
MeasuredCamera measure_camera(const CalibrateSettings& settings);
/// "gain", "0.37 ± 0.001 DN per electron": the measured values for a reader.
std::vector<std::pair<std::string, std::string>> calibration_rows(const MeasuredCamera& measured);
/// Writes the profile `name` in place of an earlier one, and its maps next to it. Returns its path. Throws
/// UsageError or RunError.
std::string save_calibration(const MeasuredCamera& measured, const std::string& name);

/// `specklescope calibrate`: measures, saves and prints. Returns the exit status. Throws as these.
int calibrate(const CalibrateSettings& settings);

} // namespace specklescope
