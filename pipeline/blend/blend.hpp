// A result over the raw picture that it was made of, as the window shows it.
#pragma once

#include <cmath>

namespace specklescope {

/// raw·(1 − a) + result·a of their colours: a is the opacity; it is 0 where the colour's index is below
/// first_index() and where the result is undefined or has no pixel. An infinite pixel has kInfiniteColor.
struct Blend {
    double opacity = 0.6; ///< 0…1, of the result
    double threshold = 0; ///< 0…1, a part of the range: below it the raw picture alone is seen
    /// The first colour of the map that is seen, 0…256.
    int first_index() const { return static_cast<int>(std::ceil(threshold * 256)); }
};

} // namespace specklescope
