// Handling of pixels outside the image for all neighbourhood stages, on host and device. Each stage offers a
// suitable subset.
#pragma once

#include "base/host_device.hpp"

#include <cstdint>

namespace specklescope {

enum class Border : std::uint8_t {
    replicate, ///< a a | a b c | c c
    reflect,   ///< b a | a b c | c b   (scipy "reflect", numpy "symmetric")
    wrap,      ///< b c | a b c | a b
    zero,      ///< 0 0 | a b c | 0 0
    omit,      ///< only existing pixels count: weights are renormalised
    crop       ///< only results with a complete neighbourhood: smaller output
};

/// Pixel that replaces pixel `i` of a line of `size` pixels, at any distance outside; −1: none (zero, omit,
/// crop).
SPECKLESCOPE_BOTH constexpr int border_index(int i, int size, Border border) {
    if (i >= 0 && i < size)
        return i;
    if (border == Border::replicate)
        return i < 0 ? 0 : size - 1;
    if (border == Border::wrap) {
        const int rest = i % size;
        return rest < 0 ? rest + size : rest;
    }
    if (border == Border::reflect) {
        const int period = 2 * size; // at most 2·kMaxSide
        int rest = i % period;
        if (rest < 0)
            rest += period;
        return rest < size ? rest : period - 1 - rest;
    }
    return -1;
}

} // namespace specklescope
