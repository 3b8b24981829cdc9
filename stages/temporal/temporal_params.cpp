#include "stages/temporal/temporal.hpp"
#include "stages/temporal/temporal_sums.hpp"

namespace specklescope {

const ParamTable& temporal_table() {
    static const ParamTable table =
        Declare<TemporalParams>("stage temporal")
            .integer("frames", &TemporalParams::frames,
                     {.min = 2,
                      .max = kMaxTemporalFrames,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "how many of the last frames each pixel is looked at over"})
            .real("exposure", &TemporalParams::exposure_ms,
                  {.unit = "ms", .min = 0.001, .max = 10000, .logarithmic = true, .doc = kExposureDoc})
            .choice("output", &TemporalParams::output, contrast_output_names(), {.doc = kContrastOutputDoc})
            .table();
    return table;
}

Quantity temporal_quantity(const Params& params, const Quantity&) {
    return contrast_quantity(params.as<TemporalParams>().output);
}

} // namespace specklescope
