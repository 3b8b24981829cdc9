// The inner loops of spatial speckle contrast: one tile of output pixels at a time, in the best instruction
// set that the processor has. Used by stages/speckle/speckle.cpp alone.
#pragma once

#include "stages/speckle/speckle.hpp"

#include <algorithm>
#include <cstdint>

namespace specklescope {

/// How the columns of integer input are summed. Both are exact; results differ by roundings of f32 at most.
enum class SpeckleSums : std::uint8_t {
    narrow, ///< of I − reference, in 32 bits: where N·max(I − reference)² < 2³²
    wide    ///< of I, squares in 64 bits: any u16
};

/// Rows of an image.
struct InputRows {
    int begin = 0, end = 0;
};

struct SpeckleTile {
    ConstHostView input;
    HostView output;
    SpeckleParams params;
    double scale = 1;                   ///< of params.output: speckle_scale()
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0; ///< output pixels [x0, x1) × [y0, y1)
    bool streamed = false;              ///< write past the caches: the output is larger than they are
    // Of u8 and u16:
    SpeckleSums sums = SpeckleSums::wide;
    std::uint32_t reference = 0;       ///< narrow sums
    std::uint32_t largest = 0;         ///< no sample is larger
    std::uint32_t limit = 0;           ///< samples from here on are saturated
    InputRows rows;                    ///< input_rows()
    std::uint8_t* saturated = nullptr; ///< of each of them: becomes 1 where one of its samples is
};

/// Columns of output pixels that keep a tile's sums in the nearest caches.
int speckle_tile_width(PixelType type);
/// Scratch memory for tiles up to `width` output pixels of input `input_width` wide; 64-byte aligned.
std::size_t speckle_scratch_bytes(PixelType type, int radius, int width, int input_width);
/// Writes the tile and adds its undefined and infinite pixels to `counts`. False if a sample is larger than
/// `largest`: the result is wrong then.
bool run_speckle_tile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts);

/// Rows of the image that the windows of output rows [y0, y1) hold.
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
/// saturated[y − begin] becomes 1 for each row of f32 with a sample at `threshold` or above.
void find_saturated_rows(ConstHostView image, InputRows rows, double threshold, std::uint8_t* saturated);

} // namespace specklescope
