// Inner loops of spatial speckle contrast: one tile of output pixels, in the best instruction set of the
// processor. Used by stages/speckle/speckle.cpp and stages/temporal/spatiotemporal.cpp.
#pragma once

#include "stages/speckle/speckle.hpp"
#include "stages/temporal/temporal_window.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace specklescope {

/// Column sums for integer input. Both are exact; results differ at most by roundings of f32.
enum class SpeckleSums : std::uint8_t {
    narrow, ///< of I − reference, in 32 bits: if N·max(I − reference)² < 2³²
    wide    ///< of I, squares in 64 bits: any u16
};

/// A range of image rows.
struct InputRows {
    int begin = 0, end = 0;
};

struct SpeckleTile {
    ConstHostView input;
    HostView output;
    SpeckleParams params;
    double scale = 1;                        ///< speckle_scale() for params.output
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0;      ///< output pixels [x0, x1) × [y0, y1)
    const ContrastFinish* finish = nullptr;  ///< null: only the output
    bool streamed = false;                   ///< streams() of the output
    const TemporalWindow* history = nullptr; ///< f32: the sums of pixels in place of `input`
    HistoryStep step;                        ///< of the history
    int held = 1;                            ///< samples per pixel
    // For u8 and u16:
    SpeckleSums sums = SpeckleSums::wide;
    std::uint32_t reference = 0;       ///< narrow sums
    std::uint32_t largest = 0;         ///< upper limit of the samples
    std::uint32_t limit = 0;           ///< samples at or above are saturated
    InputRows rows;                    ///< input_rows()
    std::uint8_t* saturated = nullptr; ///< per row of `rows`: set to 1 if it contains saturated samples
};

/// Rows of results after which sums of f32 begin again: results do not depend on the number of threads where
/// bands begin at multiples of it. A band sums 2·radius rows before its first result.
constexpr int speckle_chunk(int radius) { return 4 * (2 * radius + 1); }
/// Output columns whose sums stay in the L1 and L2 caches.
int speckle_tile_width(PixelType type);
/// Scratch memory for tiles of up to `width` output pixels with an input `input_width` wide; 64-byte aligned.
std::size_t speckle_scratch_bytes(PixelType type, int radius, int width, int input_width);
/// Writes the tile and adds its undefined and infinite pixels to `counts`. False if a sample is larger than
/// `largest`: the result is then wrong.
bool run_speckle_tile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts);

/// Image rows covered by the windows of output rows [y0, y1).
InputRows input_rows(const SpeckleTile& tile);

struct SampleRange {
    std::uint32_t min = 0, max = 0;
    void add(SampleRange other) {
        min = std::min(min, other.min);
        max = std::max(max, other.max);
    }
};
inline constexpr SampleRange kNoSamples = {~std::uint32_t{0}, 0};
/// Smallest and largest sample of rows of u8 or u16.
SampleRange sample_range(ConstHostView image, InputRows rows);
/// Sets saturated[y − begin] to 1 for each f32 row with a sample at `threshold` or above.
void find_saturated_rows(ConstHostView image, InputRows rows, double threshold, std::uint8_t* saturated);

// Counts windows with a saturated sample; costs little if there are none.

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
