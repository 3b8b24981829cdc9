// Sums over images for the mean of every pixel.
#pragma once

#include "pipeline/image.hpp"
#include "pipeline/regions/regions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace specklescope {

/// A row of pixels in one or two images, and of their sums.
struct PixelSums {
    std::array<const std::byte*, 2> rows{}; ///< the second may be null
    PixelType type = PixelType::f32;
    std::size_t width = 0;
    double* sums = nullptr;
    std::uint32_t* left_out = nullptr; ///< number of values that are not in the sum
};
/// Adds the values, their squares or their inverses. Leaves out NaN, and infinite values except from
/// inverses.
void add_pixels(const PixelSums& row, RegionMean mean);

} // namespace specklescope
