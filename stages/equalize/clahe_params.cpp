#include "stages/equalize/clahe.hpp"

#include "pipeline/error.hpp"
#include "stages/equalize/clahe_math.hpp"
#include "stages/equalize/equalize.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace specklescope {

const ParamTable& clahe_table() {
    static const ParamTable table =
        Declare<ClaheParams>("stage clahe")
            .integer("tiles", &ClaheParams::tiles,
                     {.min = 1,
                      .max = 64,
                      .cost = Cost::rebuild,
                      .doc = "tiles per axis; each has a histogram of its own"})
            .real(
                "clip", &ClaheParams::clip,
                {.min = 0,
                 .max = 100,
                 .doc =
                     "largest height of a histogram bin, in mean heights (OpenCV's clipLimit); 0: no limit"})
            .integer("bins", &ClaheParams::bins,
                     {.min = 2,
                      .max = 4096,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "histogram bins; integer images have at most one a level"})
            .table();
    return table;
}

ClaheTiling clahe_tiling(const ClaheParams& params, const Shape& input) {
    const int tiles = params.tiles;
    const int right = input.width % tiles;
    const int below = input.height % tiles;
    const bool divides = right == 0 && below == 0;
    const ClaheTiling tiling{tiles, (input.width + (divides ? 0 : tiles - right)) / tiles,
                             (input.height + (divides ? 0 : tiles - below)) / tiles};
    if (static_cast<std::int64_t>(tiling.width) * tiling.height > std::numeric_limits<int>::max())
        throw UsageError("stage clahe: tiles of " + std::to_string(tiling.width) + "×" +
                         std::to_string(tiling.height) +
                         " pixels are too large; allowed: fewer than 2³¹ pixels, take more tiles.");
    return tiling;
}

std::vector<int> clahe_cells(int pixels, int tile_side, int tiles) {
    const float tiles_per_pixel = 1.0F / static_cast<float>(tile_side);
    std::vector<int> cells(static_cast<std::size_t>(tiles) + 2, pixels);
    int next = 0;
    for (int i = 0; i < pixels; ++i) {
        const int cell = static_cast<int>(std::floor(clahe_position(i, tiles_per_pixel))) + 1;
        for (; next <= cell; ++next)
            cells[static_cast<std::size_t>(next)] = i;
    }
    return cells;
}

int clahe_full_scale(PixelType type, const FrameInfo& info) {
    const double most = type_full_scale(type);
    const double full = info.full_scale > 0 ? std::min(info.full_scale, most) : most;
    return std::max(1, static_cast<int>(full));
}

int clahe_clip_limit(double clip, int area, int bins) {
    return clip > 0 ? std::max(1, static_cast<int>(std::min(clip * area / bins, 2e9))) : 0;
}

Quantity clahe_quantity(const Params&, const Quantity& input) { return equalized_quantity(input); }

} // namespace specklescope
