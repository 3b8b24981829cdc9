#include "pipeline/scale/pixel_size.hpp"

namespace specklescope {

double source_pixels_per_pixel(const Chain& chain) {
    double side = 1;
    for (const ChainStage& stage : chain.stages())
        if (stage.type->pixel_side && !stage.bypassed)
            side *= stage.type->pixel_side(stage.params);
    return side;
}

double um_per_px(const StreamInfo& stream, const Chain* chain) {
    return stream.um_per_source_px * (chain ? source_pixels_per_pixel(*chain) : 1);
}

} // namespace specklescope
