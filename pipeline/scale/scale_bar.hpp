// Length and label of a scale bar.
#pragma once

#include <string>

namespace specklescope {

/// A length of 1, 2 or 5 times a power of ten µm, and its label: "500 nm", "200 µm", "1 mm", "2 cm".
struct ScaleBar {
    double um = 0;
    double length = 0; ///< on the screen
    std::string text;
};
/// Longest bar that fits into `room`, with `um` µm per unit of screen length; both above 0.
ScaleBar scale_bar(double um, double room);

} // namespace specklescope
