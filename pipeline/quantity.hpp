// Meaning of an image's values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace specklescope {

/// Kind of quantity, for the stages that follow.
enum class Measure : std::uint8_t {
    intensity, ///< of the source, also filtered
    contrast,  ///< K
    contrast2, ///< K²
    time,      ///< proportional to K²: a correlation time
    flow,      ///< proportional to 1/K²: a flow index
    other      ///< none of these
};
/// "contrast2"; used in recordings.
std::string_view to_string(Measure measure);
/// `other` for an unknown name.
Measure measure_named(std::string_view name);

/// For axes, colour bars and file metadata.
struct Quantity {
    std::string name = "intensity"; ///< "speckle flow index"
    std::string symbol = "I";       ///< "SFI"
    std::string unit = "DN";        ///< "1/s"; "1" for a pure number
    Measure measure = Measure::intensity;
    bool operator==(const Quantity&) const = default;
};

} // namespace specklescope
