// Camera profiles: what `specklescope calibrate` measured of a camera, kept as a file of settings and used
// whenever this camera is opened.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/source.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// NaN and "": not measured.
struct CameraProfile {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::string name;          ///< of the profile
    std::string camera;        ///< name of the source that it is for, with model and serial number; "": any
    double gain = kNone;       ///< DN per electron
    double read_noise = kNone; ///< DN
    double black = kNone;      ///< DN
    double beta = kNone;
    double speckle_size = kNone;      ///< px
    std::string dark_file, flat_file; ///< full paths; bad pixels have no light in the flat field
};

/// A file, or a name in the user's folder. Throws UsageError or RunError with the line.
CameraProfile load_profile(const std::string& name);
/// Path for a profile: of a name in the user's folder, or as given with its ending .toml.
std::string profile_path(const std::string& name);
/// Replaces the file at `path`. `comments`: lines that begin with #. Throws RunError.
void write_profile(const CameraProfile& profile, const std::string& comments, const std::string& path);
std::vector<CameraProfile> profiles(); ///< in the user's folder; broken ones are logged

/// The profile to use with this source: `wanted` a name or file; "auto": the one whose camera is the source,
/// "none": none. Throws as load_profile().
std::optional<CameraProfile> profile_for(const std::string& wanted, const SourceInfo& source);

/// Sets the values that stages take and the user has not given: gain, read_noise, black (unless a dark frame
/// comes before), speckle_size and β; and the files of stage background. Those of an earlier profile return
/// to their defaults. Returns what was set, for the log: "speckle:gain=0.37, flow:beta=0.8"; empty: nothing.
std::string use_profile(const std::optional<CameraProfile>& profile, Chain& chain);

} // namespace specklescope
