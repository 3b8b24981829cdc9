#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>
#include <cmath>

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

std::string_view scale_origin(const StreamInfo& stream) {
    constexpr double kSame = 1e-9; // rounding error of dividing by a chain's factor and back
    const double um = stream.um_per_source_px, said = stream.source.um_per_px;
    return um <= 0 ? "unknown" : std::abs(um - said) <= kSame * um ? "file" : "given";
}

std::string scale_text(const StreamInfo& stream, const Chain* chain) {
    const double um = um_per_px(stream, chain), said = stream.source.um_per_px;
    if (um <= 0)
        return "";
    const std::string text = to_string(um) + " µm per pixel, as ";
    if (scale_origin(stream) == "file")
        return text + "the file says";
    return text + "given" +
           (said > 0 ? "; the file says " + to_string(said * um / stream.um_per_source_px) : "");
}

} // namespace specklescope
