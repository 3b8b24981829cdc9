#include "stages/speckle.hpp"

#include <cmath>

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
                  {.unit = "ms",
                   .min = 0.001,
                   .max = 10000,
                   .logarithmic = true,
                   .doc = "exposure time T, used where the camera does not report its own"})
            .choice("output", &SpeckleParams::output, {"sfi", "contrast", "contrast2", "tau", "bfi"},
                    {.doc = "sfi 1/(2TK²) in 1/s, contrast K, contrast2 K², tau 2TK² in s, bfi 1/K²"})
            .choice("border", &SpeckleParams::border, {"replicate", "reflect", "crop", "zero"},
                    {.cost = Cost::rebuild,
                     .doc = "what lies outside the image; zero gives false high contrast at the edge"})
            .table();
    return table;
}

Quantity speckle_quantity(const Params& params, const Quantity&) {
    switch (params.as<SpeckleParams>().output) {
    case SpeckleParams::Output::contrast:
        return {"speckle contrast", "K", "1"};
    case SpeckleParams::Output::contrast2:
        return {"speckle contrast squared", "K²", "1"};
    case SpeckleParams::Output::tau:
        return {"correlation time 2TK²", "τ", "s"};
    case SpeckleParams::Output::bfi:
        return {"blood flow index 1/K²", "BFI", "1"};
    case SpeckleParams::Output::sfi:
        break;
    }
    return {"speckle flow index 1/(2TK²)", "SFI", "1/s"};
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

SpeckleCoefficients speckle_coefficients(const SpeckleParams& params, const FrameInfo& info) {
    const double exposure_s =
        (std::isfinite(info.exposure_ms) ? info.exposure_ms : params.exposure_ms) * 1e-3;
    const double side = 2.0 * params.radius + 1;
    const double n = side * side;
    SpeckleCoefficients c;
    c.k2 = n / (n - 1);
    switch (params.output) {
    case SpeckleParams::Output::sfi:
        c.flow = (n - 1) / (2 * exposure_s * n);
        break;
    case SpeckleParams::Output::bfi:
        c.flow = (n - 1) / n;
        break;
    case SpeckleParams::Output::tau:
        c.flow = 2 * exposure_s * n / (n - 1);
        break;
    case SpeckleParams::Output::contrast:
    case SpeckleParams::Output::contrast2:
        break;
    }
    return c;
}

} // namespace specklescope
