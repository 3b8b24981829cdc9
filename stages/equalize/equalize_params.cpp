#include "stages/equalize/equalize.hpp"

#include <limits>

namespace specklescope {

const ParamTable& equalize_table() {
    static const ParamTable table =
        Declare<EqualizeParams>("stage equalize")
            .integer("bins", &EqualizeParams::bins,
                     {.min = 2,
                      .max = 65536,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "bins of the histogram; integers need no more than they have levels"})
            .choice(
                "scaling", &EqualizeParams::scaling, {"maxabs", "minmax"},
                {.doc = "maxabs r/r_max; minmax (r−r_min)/(r_max−r_min), the darkest value becomes black"})
            .real("strength", &EqualizeParams::strength,
                  {.min = 0, .max = 1, .doc = "0 leaves the picture as it is, 1 equalises it fully"})
            .table();
    return table;
}

Quantity equalized_quantity(const Quantity& input) {
    const std::string mark = " eq.";
    if (input.symbol.ends_with(mark))
        return input;
    return {"equalised " + input.name, input.symbol + mark, "a.u."};
}

Quantity equalize_quantity(const Params& params, const Quantity& input) {
    if (params.as<EqualizeParams>().strength == 0)
        return input;
    return equalized_quantity(input);
}

Shape equalize_shape(const Shape& input) {
    if (input.pixels() > std::numeric_limits<std::uint32_t>::max())
        throw UsageError("stage equalize: an image of " + std::to_string(input.width) + "×" +
                         std::to_string(input.height) +
                         " pixels is too large; allowed: fewer than 2³² pixels.");
    return input;
}

std::string equalize_note(int bins, PixelType type) {
    const bool each = type != PixelType::f32 && bins > static_cast<int>(type_full_scale(type));
    return each ? "a bin for each level" : "";
}

} // namespace specklescope
