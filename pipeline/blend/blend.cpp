#include "pipeline/blend/blend.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace specklescope {

namespace {

/// Marks the visible pixels of a row of results: those whose index in the colour map is at least `first`.
void seen_pixels(ConstHostView row, const Coloring& coloring, int first, std::vector<std::uint8_t>& seen) {
    const Shape grey{row.shape.width, 1, 3, PixelType::u8};
    std::vector<std::byte> index(grey.bytes());
    // In the grey map, colour and index are equal.
    map_colors(row, ColorMap::grey, coloring.range, coloring.curve, HostView(index.data(), grey));
    seen.assign(static_cast<std::size_t>(row.shape.width), 1);
    dispatch(row.shape.type, [&](auto zero) {
        const auto* values = row.as<decltype(zero)>().row(0);
        for (int x = 0; x < row.shape.width; ++x) {
            const auto value = static_cast<float>(values[x]);
            const auto at = static_cast<std::size_t>(x);
            seen[at] = std::isinf(value) ? 1
                       : std::isnan(value)
                           ? 0
                           : static_cast<std::uint8_t>(std::to_integer<int>(index[3 * at]) >= first);
        }
    });
}

ConstHostView row_of(ConstHostView image, int y) {
    Shape shape = image.shape;
    shape.height = 1;
    return {image.row(y), shape};
}

} // namespace

int Blend::first_index() const { return static_cast<int>(std::ceil(threshold * 256)); }

void blend_colors(ConstHostView raw, const Coloring& of_raw, ConstHostView result, const Coloring& of_result,
                  const Blend& blend, HostView rgb) {
    assert(rgb.shape.width == raw.shape.width && rgb.shape.height == raw.shape.height);
    map_colors(raw, of_raw.map, of_raw.range, of_raw.curve, rgb);
    const int left = (raw.shape.width - result.shape.width) / 2;
    const int above = (raw.shape.height - result.shape.height) / 2;
    if (left < 0 || above < 0)
        return;
    const Shape line{result.shape.width, 1, 3, PixelType::u8};
    std::vector<std::byte> color(line.bytes());
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(line.width), 1);
    const View<std::uint8_t> out = rgb.as<std::uint8_t>();
    for (int y = 0; y < result.shape.height; ++y) {
        const ConstHostView row = row_of(result, y);
        map_colors(row, of_result.map, of_result.range, of_result.curve, HostView(color.data(), line));
        if (result.shape.channels == 1)
            seen_pixels(row, of_result, blend.first_index(), seen);
        std::uint8_t* to = out.row(y + above) + 3 * left;
        for (int i = 0; i < 3 * line.width; ++i) {
            if (!seen[static_cast<std::size_t>(i / 3)])
                continue;
            const double over = std::to_integer<int>(color[static_cast<std::size_t>(i)]);
            to[i] =
                static_cast<std::uint8_t>(std::lround(to[i] * (1 - blend.opacity) + over * blend.opacity));
        }
    }
}

} // namespace specklescope
