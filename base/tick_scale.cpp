#include "base/tick_scale.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

double nice_step(double span, int parts) {
    if (!(span > 0) || parts < 1)
        return 1;
    const double raw = span / parts;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double lead = raw / power;
    return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

int decimals_of(double step) {
    return step >= 1 || !(step > 0) ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
}

TickScale tick_scale(double low, double high, int parts) {
    TickScale scale;
    scale.step = nice_step(high - low, parts);
    const double size = std::max({std::abs(low), std::abs(high), 1e-300});
    const int exponent = static_cast<int>(std::floor(std::log10(size)));
    if (exponent >= 4 || exponent < -3) {
        scale.exponent = exponent - ((exponent % 3) + 3) % 3; // multiples of three: common prefixes
        scale.factor = std::pow(10, -scale.exponent);
    }
    scale.decimals = decimals_of(scale.step * scale.factor);
    return scale;
}

} // namespace specklescope
