// The static part of the light of each pixel, from a file.
#include "base/error.hpp"
#include "stages/background/background.hpp"
#include "stages/flow/flow.hpp"

#include <cmath>

namespace specklescope {

StaticMap read_static_map(const FlowParams& params, const Shape& input, std::size_t stride) {
    if (!has_static_map(params))
        return {};
    const std::string what = "stage flow: static_file";
    if (params.fixed_file.empty())
        throw UsageError(what + " is not set. Set static_file = a map of the static light.");
    CalibrationFile file = read_calibration(what, params.fixed_file, input, stride, PagesUsed::last);
    const std::string& symbol = file.quantity.symbol;
    const bool dynamic = symbol == "ρ";
    if (!dynamic && symbol != "1-ρ" && symbol != Quantity{}.symbol)
        throw UsageError(what + " '" + params.fixed_file + "' holds " + file.quantity.name +
                         ". Give a recording of stage static.");
    std::uint64_t outside = 0, unknown = 0;
    float largest = 0;
    for (int y = 0; y < input.height; ++y)
        for (int x = 0; x < input.width; ++x) {
            float& part = file.plane[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)];
            if (dynamic)
                part = 1 - part;
            if (std::isnan(part)) {
                ++unknown;
            } else if (part < 0 || part > 1) {
                if (std::fabs(part) > std::fabs(largest))
                    largest = part;
                ++outside;
                part = NAN;
            }
        }
    const std::string pixels = std::to_string(outside) + " of " + std::to_string(input.pixels()) + " pixels";
    if (outside * 2 > input.pixels())
        throw UsageError(what + " '" + params.fixed_file + "' has values outside 0…1 in " + pixels +
                         ", such as " + to_string(ParamValue(static_cast<double>(largest))) +
                         ". Give the static part of the light, from 0 to 1.");
    StaticMap map{std::move(file.plane), {}};
    if (outside + unknown > 0)
        map.note = "static light: " + std::to_string(outside) + " pixels outside 0…1, " +
                   std::to_string(unknown) + " without a value";
    return map;
}

} // namespace specklescope
