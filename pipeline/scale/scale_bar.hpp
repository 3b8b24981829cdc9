// How long a scale bar is, and what stands on it.
#pragma once

#include <string>

namespace specklescope {

/// A length of 1, 2 or 5 times a power of ten µm, and how it is written: "500 nm", "200 µm", "1 mm", "2 cm".
struct ScaleBar {
    double um = 0;
    double length = 0; ///< on the screen
    std::string text;
};
/// The longest that fits into `room`, where a unit of length on the screen is `um` µm; both above 0.
ScaleBar scale_bar(double um, double room);

} // namespace specklescope
