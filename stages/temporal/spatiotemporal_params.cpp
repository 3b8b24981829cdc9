#include "stages/temporal/spatiotemporal.hpp"
#include "stages/temporal/temporal_sums.hpp"

namespace specklescope {

const ParamTable& spatiotemporal_table() {
    static const ParamTable table =
        Declare<SpatiotemporalParams>("stage spatiotemporal")
            .integer("radius", &SpatiotemporalParams::radius,
                     {.unit = "px",
                      .min = 1,
                      .max = kMaxSpatiotemporalRadius,
                      .cost = Cost::rebuild,
                      .doc = "window radius w; the window holds (2w+1)² pixels of every frame"})
            .integer("frames", &SpatiotemporalParams::frames,
                     {.min = 1,
                      .max = kMaxTemporalFrames,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "how many of the last frames the window reaches back over"})
            .real("exposure", &SpatiotemporalParams::exposure_ms,
                  {.unit = "ms", .min = 0.001, .max = 10000, .logarithmic = true, .doc = kExposureDoc})
            .choice("output", &SpatiotemporalParams::output, contrast_output_names(),
                    {.doc = kContrastOutputDoc})
            .choice("border", &SpatiotemporalParams::border, {"replicate", "reflect", "crop", "zero"},
                    {.cost = Cost::rebuild, .doc = kContrastBorderDoc})
            .table();
    return table;
}

Quantity spatiotemporal_quantity(const Params& params, const Quantity&) {
    return contrast_quantity(params.as<SpatiotemporalParams>().output);
}

Shape spatiotemporal_shape(const SpatiotemporalParams& params, const Shape& input) {
    return contrast_window_shape("stage spatiotemporal", params.radius,
                                 params.border == SpeckleParams::Border::crop, input);
}

ContrastScale spatiotemporal_scale(const SpatiotemporalParams& params, int held, const FrameInfo& info) {
    const double side = 2.0 * params.radius + 1;
    return contrast_scale(params.output, side * side * held, params.exposure_ms, info);
}

} // namespace specklescope
