#include "stages/geometry/geometry.hpp"

#include <algorithm>

namespace specklescope {

const ParamTable& crop_table() {
    static const ParamTable table = Declare<CropParams>("stage crop")
                                        .integer("x", &CropParams::x,
                                                 {.unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide - 1,
                                                  .cost = Cost::rebuild,
                                                  .doc = "first column of the rectangle, from the left"})
                                        .integer("y", &CropParams::y,
                                                 {.unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide - 1,
                                                  .cost = Cost::rebuild,
                                                  .doc = "first row of the rectangle, from the top"})
                                        .integer("width", &CropParams::width,
                                                 {.unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide,
                                                  .cost = Cost::rebuild,
                                                  .doc = "columns to keep; 0: to the right edge"})
                                        .integer("height", &CropParams::height,
                                                 {.unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide,
                                                  .cost = Cost::rebuild,
                                                  .doc = "rows to keep; 0: to the lower edge"})
                                        .table();
    return table;
}

const ParamTable& flip_table() {
    static const ParamTable table =
        Declare<FlipParams>("stage flip")
            .choice("direction", &FlipParams::direction, {"horizontal", "vertical", "both"},
                    {.doc = "horizontal exchanges left and right, vertical top and bottom"})
            .table();
    return table;
}

const ParamTable& rotate_table() {
    static const ParamTable table =
        Declare<RotateParams>("stage rotate90")
            .integer("turns", &RotateParams::turns,
                     {.min = 1, .max = 3, .cost = Cost::rebuild, .doc = "quarter turns, clockwise"})
            .table();
    return table;
}

const ParamTable& downsample_table() {
    static const ParamTable table =
        Declare<DownsampleParams>("stage downsample")
            .integer(
                "factor", &DownsampleParams::factor,
                {.unit = "px",
                 .min = 2,
                 .max = 16,
                 .cost = Cost::rebuild,
                 .doc = "side of the blocks that become one pixel; blocks that are not whole are cut off"})
            .choice("method", &DownsampleParams::method, {"mean", "nearest"},
                    {.doc = "mean of the block, or its first pixel"})
            .table();
    return table;
}

namespace {

[[noreturn]] void refuse_crop(const std::string& name, int value, int allowed, const Shape& input) {
    throw UsageError("stage crop: " + name + " = " + std::to_string(value) + " leaves the image of " +
                     std::to_string(input.width) + "×" + std::to_string(input.height) +
                     " pixels; allowed: up to " + std::to_string(allowed) + ".");
}

} // namespace

Shape crop_shape(const CropParams& params, const Shape& input) {
    if (params.x >= input.width)
        refuse_crop("x", params.x, input.width - 1, input);
    if (params.y >= input.height)
        refuse_crop("y", params.y, input.height - 1, input);
    if (params.width > input.width - params.x)
        refuse_crop("width", params.width, input.width - params.x, input);
    if (params.height > input.height - params.y)
        refuse_crop("height", params.height, input.height - params.y, input);
    Shape output = input;
    output.width = params.width > 0 ? params.width : input.width - params.x;
    output.height = params.height > 0 ? params.height : input.height - params.y;
    return output;
}

Shape rotate_shape(const RotateParams& params, const Shape& input) {
    Shape output = input;
    if (params.turns % 2 != 0)
        std::swap(output.width, output.height);
    return output;
}

Shape downsample_shape(const DownsampleParams& params, const Shape& input) {
    const int side = std::min(input.width, input.height);
    if (params.factor > side)
        throw UsageError(
            "stage downsample: factor = " + std::to_string(params.factor) + " is too large for an image of " +
            std::to_string(input.width) + "×" + std::to_string(input.height) + " pixels; " +
            (side < 2 ? "leave the stage out." : "allowed: 2…" + std::to_string(std::min(side, 16)) + "."));
    Shape output = input;
    output.width = input.width / params.factor;
    output.height = input.height / params.factor;
    return output;
}

} // namespace specklescope
