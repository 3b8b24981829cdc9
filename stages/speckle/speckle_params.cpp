#include "stages/speckle/speckle.hpp"

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
                    {.cost = Cost::rebuild, .doc = kContrastBorderDoc})
            .table();
    return table;
}

Quantity speckle_quantity(const Params& params, const Quantity&) {
    return contrast_quantity(params.as<SpeckleParams>().output);
}

Shape speckle_shape(const SpeckleParams& params, const Shape& input) {
    return contrast_window_shape("stage speckle", params.radius, params.border == SpeckleParams::Border::crop,
                                 input);
}

ContrastScale speckle_scale(const SpeckleParams& params, const FrameInfo& info) {
    const double side = 2.0 * params.radius + 1;
    return contrast_scale(params.output, side * side, params.exposure_ms, info);
}

} // namespace specklescope
