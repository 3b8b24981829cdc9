// What the numbers of a picture mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace specklescope {

/// What a stage behind may do with the numbers.
enum class Measure : std::uint8_t {
    intensity, ///< of the source, filtered or not
    contrast,  ///< K
    contrast2, ///< K²
    time,      ///< proportional to K²: a correlation time
    flow,      ///< proportional to 1/K²: a flow index
    other      ///< none of these
};
/// "contrast2"; recordings say it so.
std::string_view to_string(Measure measure);
/// `other` for what is no name of one.
Measure measure_named(std::string_view name);

/// For axes, colour bars, file metadata.
struct Quantity {
    std::string name = "intensity"; ///< "speckle flow index"
    std::string symbol = "I";       ///< "SFI"
    std::string unit = "DN";        ///< "1/s"; "1" for a pure number
    Measure measure = Measure::intensity;
    bool operator==(const Quantity&) const = default;
};

} // namespace specklescope
