#include "ui/canvas/ticks.hpp"

#include <cmath>

namespace specklescope {

namespace {

constexpr int kMostParts = 20; ///< three steps of them at least lie between the ends, whatever these are

} // namespace

Ticks ticks_of(double low, double high, int parts, double apart) {
    Ticks ticks;
    const double span = high - low;
    if (!(span > 0) || !std::isfinite(span))
        return ticks;
    for (;; ++parts) {
        ticks.scale = tick_scale(low, high, parts);
        const double step = ticks.scale.step;
        const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
        constexpr double kExact = 9007199254740992; // 2^53: beyond, neighbours are the same
        if (!(std::abs(first) < kExact) || !(std::abs(last) < kExact))
            return {};
        ticks.first = static_cast<std::int64_t>(first);
        ticks.last = static_cast<std::int64_t>(last);
        if ((last - first) * step >= apart * span || parts >= kMostParts)
            return ticks;
    }
}

} // namespace specklescope
