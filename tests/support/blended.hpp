// A result over the raw picture on the host, which the window's blended pixels are compared with.
#pragma once

#include "pipeline/blend/blend.hpp"
#include "pipeline/mapping.hpp"

#include <cassert>
#include <cmath>
#include <vector>

namespace specklescope::test {

/// How a picture becomes colours.
struct Coloring {
    ColorMap map = ColorMap::grey;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear; ///< never automatic
};

/// Which pixels of a row of results are seen: by their colours' place in the map, as map_colors() finds it.
inline void seen_pixels(ConstHostView row, const Coloring& coloring, int first,
                        std::vector<std::uint8_t>& seen) {
    const Shape grey{row.shape.width, 1, 3, PixelType::u8};
    std::vector<std::byte> index(grey.bytes());
    // The grey map's colours are their own places.
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

inline ConstHostView row_of(ConstHostView image, int y) {
    Shape shape = image.shape;
    shape.height = 1;
    return {image.row(y), shape};
}

/// raw·(1 − a) + result·a of their colours (map_colors()), rounded to nearest. a is the opacity; it is 0
/// where the colour's index is below Blend::first_index() and where the result is undefined or has no pixel.
/// A result that is smaller lies in the middle, as one that lacks a border on each side. An infinite pixel
/// has kInfiniteColor. `rgb`: u8, 3 channels, as large as `raw`.
inline void blend_colors(ConstHostView raw, const Coloring& of_raw, ConstHostView result,
                         const Coloring& of_result, const Blend& blend, HostView rgb) {
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

} // namespace specklescope::test
