#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>

namespace specklescope {

double source_pixels_per_pixel(const Chain& chain) {
    double side = 1;
    for (const ChainStage& stage : chain.stages())
        if (stage.type->pixel_side && !stage.bypassed)
            side *= stage.type->pixel_side(stage.params);
    return side;
}

bool moves_pixels(const Chain& chain) {
    return std::any_of(chain.stages().begin(), chain.stages().end(),
                       [](const ChainStage& stage) { return stage.type->moves_pixels && !stage.bypassed; });
}

double um_per_px(const StreamInfo& stream, const Chain* chain) {
    return stream.um_per_source_px * (chain ? source_pixels_per_pixel(*chain) : 1);
}

} // namespace specklescope
