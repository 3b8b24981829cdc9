// The inner loops of spatial speckle contrast: one tile of output pixels at a time, in the best instruction
// set that the processor has. Used by stages/speckle.cpp alone.
#pragma once

#include "stages/speckle.hpp"

#include <cstdint>

namespace specklescope {

/// How the columns of integer input are summed. Both are exact; results differ by roundings of f32 at most.
enum class SpeckleSums : std::uint8_t {
    narrow, ///< of I − reference, in 32 bits: where N·max(I − reference)² < 2³²
    wide    ///< of I, squares in 64 bits: any u16
};

struct SpeckleTile {
    ConstHostView input;
    HostView output;
    SpeckleParams params;
    double scale = 1;                   ///< of params.output: speckle_scale()
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0; ///< output pixels [x0, x1) × [y0, y1)
    SpeckleSums sums = SpeckleSums::wide;
    std::uint32_t reference = 0; ///< narrow sums
};

/// Columns of output pixels that keep a tile's sums in the nearest caches.
int speckle_tile_width(PixelType type);
/// Scratch memory for tiles up to `width` output pixels of input `input_width` wide; 64-byte aligned.
std::size_t speckle_scratch_bytes(PixelType type, int radius, int width, int input_width);
/// Writes the tile and adds its undefined and infinite pixels to `counts`.
void run_speckle_tile(const SpeckleTile& tile, std::byte* scratch, PixelCounts& counts);

struct SampleRange {
    std::uint32_t min = 0, max = 0;
};
/// Smallest and largest sample of rows [begin, end), u8 or u16.
SampleRange sample_range(ConstHostView image, int begin, int end);

/// Row or column of the image that stands at `index`, which may lie outside [0, size); −1: zeros stand there.
inline int border_index(int index, int size, SpeckleParams::Border border) {
    if (index >= 0 && index < size)
        return index;
    switch (border) {
    case SpeckleParams::Border::replicate:
        return index < 0 ? 0 : size - 1;
    case SpeckleParams::Border::reflect:
        return index < 0 ? -index - 1 : 2 * size - 1 - index;
    case SpeckleParams::Border::crop:
    case SpeckleParams::Border::zero:
        break;
    }
    return -1;
}

} // namespace specklescope
