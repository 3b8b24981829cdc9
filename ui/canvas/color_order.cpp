#include "ui/canvas/color_order.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

double linear(std::uint8_t code) {
    const double v = code / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

} // namespace

bool grows_in_lightness(ColorMap map) {
    constexpr double kRounding = 0.006; // of full luminance: half a step of each channel where they are steep
    double highest = 0;
    for (const Rgb& colour : color_table(map)) {
        const double luminance =
            0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
        if (luminance < highest - kRounding)
            return false;
        highest = std::max(highest, luminance);
    }
    return true;
}

} // namespace specklescope
