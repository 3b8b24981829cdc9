#include "pipeline/tone_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace specklescope {

double srgb_decode(double code) {
    const double size = std::abs(code);
    return std::copysign(size <= 0.04045 ? size / 12.92 : std::pow((size + 0.055) / 1.055, 2.4), code);
}

double srgb_encode(double light) {
    const double size = std::abs(light);
    return std::copysign(size <= 0.0031308 ? size * 12.92 : 1.055 * std::pow(size, 1 / 2.4) - 0.055, light);
}

double tone(ToneCurve curve, double t) {
    t = t > 0 ? t : 0;
    switch (curve) {
    case ToneCurve::reinhard:
        return std::isinf(t) ? 1 : srgb_encode(t / (1 + t));
    case ToneCurve::filmic: {
        const double light =
            std::isinf(t) ? 1
                          : t * (2.51 * t + 0.03) / (t * (2.43 * t + 0.59) + 0.14); // 2.51/2.43 at infinity
        return srgb_encode(std::min(light, 1.0));
    }
    case ToneCurve::srgb:
        return srgb_encode(std::min(t, 1.0));
    case ToneCurve::automatic:
    case ToneCurve::linear:
        break;
    }
    return std::min(t, 1.0);
}

namespace {

std::array<float, 255> make_steps(ToneCurve curve) {
    std::array<float, 255> steps{};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const double wanted = static_cast<double>(i + 1) / 256;
        float low = 0; // tone() is below the wanted value there
        float high = 1;
        while (tone(curve, static_cast<double>(high)) < wanted)
            high *= 2;
        while (true) {
            const float middle = low + (high - low) / 2;
            if (middle <= low || middle >= high)
                break;
            (tone(curve, static_cast<double>(middle)) < wanted ? low : high) = middle;
        }
        steps[i] = high;
    }
    return steps;
}

} // namespace

const std::array<float, 255>& tone_steps(ToneCurve curve) {
    static const std::array<std::array<float, 255>, 3> steps{
        make_steps(ToneCurve::srgb), make_steps(ToneCurve::reinhard), make_steps(ToneCurve::filmic)};
    return steps[static_cast<std::size_t>(curve) - static_cast<std::size_t>(ToneCurve::srgb)];
}

} // namespace specklescope
