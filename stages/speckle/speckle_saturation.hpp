// Counts windows with a saturated sample; costs little if there are none.
#pragma once

#include "stages/speckle/simd/speckle_tile.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace specklescope {

/// A row of bits, one per output column.
struct SaturationBits {
    std::span<std::uint64_t> words;
    unsigned window = 1; ///< columns
    unsigned before = 0; ///< columns before the image's first; the window of output i begins at bit i
};

/// Rows of bits, one per output column: whether the window contains a saturated sample in that row. One
/// object per thread, for images of one shape.
class SaturatedWindows {
public:
    SaturatedWindows() = default;
    SaturatedWindows(const Shape& input, int radius);

    /// Number of output pixels in rows [y0, y1) whose window contains a sample at `threshold` or above.
    /// `marked`: for each of tile.rows, whether it contains such samples. Border samples repeat image samples
    /// of the same window and need no check.
    std::uint64_t count(const SpeckleTile& tile, double threshold, std::span<const std::uint8_t> marked);

private:
    std::span<std::uint64_t> row_bits(int y) {
        return {rows_.data() + static_cast<std::size_t>(y) % window_ * words_, words_};
    }

    std::size_t window_ = 1, words_ = 0;
    std::vector<std::uint64_t> rows_; ///< of the last window_ rows
    std::vector<std::uint64_t> any_;  ///< of all rows of the window
};

} // namespace specklescope
