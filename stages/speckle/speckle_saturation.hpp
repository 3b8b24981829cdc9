// How many windows hold a saturated sample, at a cost only where there is one.
#pragma once

#include "stages/speckle/simd/speckle_tile.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace specklescope {

/// A row of bits, one for each column of output.
struct SaturationBits {
    std::span<std::uint64_t> words;
    unsigned window = 1; ///< columns
    unsigned before = 0; ///< columns of it before the image's first; the window of output i begins at bit i
};

/// Rows of bits, one for each column of output: whether the window holds a saturated sample in that row. One
/// thread's, for images of one shape.
class SaturatedWindows {
public:
    SaturatedWindows() = default;
    SaturatedWindows(const Shape& input, int radius);

    /// Output pixels of rows [y0, y1) whose window holds a sample at `threshold` or above. `marked` tells for
    /// each of tile.rows whether it has such samples. Border samples repeat image samples that lie in
    /// the same window, so that they need no look.
    std::uint64_t count(const SpeckleTile& tile, double threshold, std::span<const std::uint8_t> marked);

private:
    std::span<std::uint64_t> row_bits(int y) {
        return {rows_.data() + static_cast<std::size_t>(y) % window_ * words_, words_};
    }

    std::size_t window_ = 1, words_ = 0;
    std::vector<std::uint64_t> rows_; ///< of the last window_ rows
    std::vector<std::uint64_t> any_;  ///< of the window's rows together
};

} // namespace specklescope
