// Speckle contrast of one pixel by definition in double: the reference for results.
#pragma once

#include "pipeline/result.hpp"
#include "stages/speckle/speckle.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope::test {

/// K² over (2·radius+1)² pixels around (x, y), sample variance, border replicated.
inline double contrast2_at(ConstHostView raw, int radius, int x, int y) {
    double sum = 0;
    double squares = 0;
    double n = 0;
    dispatch(raw.shape.type, [&](auto zero) {
        const auto pixels = raw.as<decltype(zero)>();
        for (int j = y - radius; j <= y + radius; ++j)
            for (int i = x - radius; i <= x + radius; ++i) {
                const double v =
                    pixels.row(std::clamp(j, 0, pixels.height - 1))[std::clamp(i, 0, pixels.width - 1)];
                sum += v;
                squares += v * v;
                n += 1;
            }
    });
    const double mean = sum / n;
    return (squares - n * mean * mean) / (n - 1) / (mean * mean);
}

/// True if a result of the chain "speckle" with output = sfi or contrast2 matches its own parameters and raw
/// frame at a few pixels.
inline bool agrees(const Result& result) {
    const auto& params = result.chain->stages().at(0).params.as<SpeckleParams>();
    const auto image = static_cast<ConstHostView>(result.image.host()).as<float>();
    for (const auto& [x, y] :
         {std::pair{0, 0}, {image.width / 3, image.height / 2}, {image.width - 1, image.height - 1}}) {
        const double k2 = contrast2_at(result.raw.host(), params.radius, x, y);
        const double expected =
            params.output == SpeckleParams::Output::sfi ? 1 / (2 * params.exposure_ms * 1e-3 * k2) : k2;
        if (std::abs(image.row(y)[x] / expected - 1) > 1e-5)
            return false;
    }
    return true;
}

} // namespace specklescope::test
