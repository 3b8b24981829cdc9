#include "stages/speckle.hpp"

#include <algorithm>
#include <string>

namespace specklescope {

const ParamTable& speckle_table() {
    static const ParamTable table =
        Declare<SpeckleParams>("stage speckle")
            .integer("radius", &SpeckleParams::radius,
                     {.unit = "px",
                      .min = 1,
                      .max = 15,
                      .cost = Cost::rebuild,
                      .doc = "window radius w; the window holds (2w+1)² pixels"})
            .real("exposure", &SpeckleParams::exposure_ms,
                  {.unit = "ms", .min = 0.001, .max = 10000, .logarithmic = true, .doc = kExposureDoc})
            .choice("output", &SpeckleParams::output, contrast_output_names(), {.doc = kContrastOutputDoc})
            .choice("border", &SpeckleParams::border, {"replicate", "reflect", "crop", "zero"},
                    {.cost = Cost::rebuild,
                     .doc = "what lies outside the image; zero gives false high contrast at the edge"})
            .table();
    return table;
}

Quantity speckle_quantity(const Params& params, const Quantity&) {
    return contrast_quantity(params.as<SpeckleParams>().output);
}

Shape speckle_shape(const SpeckleParams& params, const Shape& input) {
    const int side = std::min(input.width, input.height);
    const bool crop = params.border == SpeckleParams::Border::crop;
    if (crop ? 2 * params.radius + 1 > side : params.radius > side)
        throw UsageError(
            "stage speckle: radius = " + std::to_string(params.radius) + " is too large for an image of " +
            std::to_string(input.width) + "×" + std::to_string(input.height) + " pixels; allowed: up to " +
            std::to_string(crop ? (side - 1) / 2 : side) + (crop ? " with border = crop." : "."));
    const int margin = crop ? 2 * params.radius : 0;
    return {input.width - margin, input.height - margin, 1, PixelType::f32};
}

ContrastScale speckle_scale(const SpeckleParams& params, const FrameInfo& info) {
    const double side = 2.0 * params.radius + 1;
    return contrast_scale(params.output, side * side, params.exposure_ms, info);
}

} // namespace specklescope
