// Inner loops of stage clahe on the host, in the best instruction set of the processor. Used only by
// stages/equalize/clahe.cpp.
#pragma once

#include "pipeline/image.hpp"
#include "stages/equalize/clahe_math.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace specklescope {

/// low > high: no finite value.
struct ClaheRange {
    float low = std::numeric_limits<float>::infinity();
    float high = -std::numeric_limits<float>::infinity();
};

/// Pixels [x0, x1) × [y0, y1).
struct ClaheArea {
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
};

/// Scratch memory of one slot: rows of V, of bins and of mapped bins, and a table of mappings.
std::size_t clahe_scratch_bytes(const Shape& input, int bins);

/// Smallest and largest finite V of rows [begin, end) of an f32 image.
ClaheRange clahe_range(ConstHostView image, int begin, int end);

/// Mapping of a tile, `levels.bins` entries of the image's type. The tile may extend beyond the image to the
/// right and below.
void clahe_map_tile(ConstHostView image, const ClaheArea& tile, const ClaheLevels& levels, int limit,
                    std::byte* mapping, std::byte* scratch);

struct ClaheCell {
    ConstHostView input;
    HostView output;
    ClaheArea area;
    const std::byte* mappings[4] = {}; ///< of the tiles above left, above right, below left, below right
    const float* right = nullptr;      ///< weight of the right tiles, by image column
    const float* below = nullptr;      ///< weight of the lower tiles, by row
};
void clahe_map_cell(const ClaheCell& cell, const ClaheLevels& levels, std::byte* scratch);

} // namespace specklescope
