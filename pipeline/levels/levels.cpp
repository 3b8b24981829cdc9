#include "pipeline/levels/levels.hpp"

#include <cassert>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {

constexpr double kHighestLevel = std::numeric_limits<std::uint16_t>::max();

template <class T> void round_all(View<const T> from, const LevelScale& scale, View<std::uint16_t> to) {
    for (int y = 0; y < from.height; ++y) {
        const T* in = from.row(y);
        std::uint16_t* out = to.row(y);
        for (int x = 0; x < from.width; ++x) {
            const double level = (static_cast<double>(in[x]) - scale.offset) / scale.scale;
            const double positive = level > 0 ? level : 0; // NaN is not
            out[x] = static_cast<std::uint16_t>(
                std::floor((positive < kHighestLevel ? positive : kHighestLevel) + 0.5));
        }
    }
}

} // namespace

LevelScale level_scale(PixelType type, ValueRange range) {
    if (type != PixelType::f32)
        return {};
    return {(range.high - range.low) / kHighestLevel, range.low};
}

void to_levels(ConstHostView image, const LevelScale& scale, View<std::uint16_t> levels) {
    assert(image.shape.channels == 1);
    assert(levels.width == image.shape.width && levels.height == image.shape.height);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        round_all<T>(image.as<T>(), scale, levels);
    });
}

} // namespace specklescope
