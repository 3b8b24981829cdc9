#include "recording/video_color.hpp"

#include <algorithm>
#include <cstdint>

namespace specklescope {

namespace {
constexpr int kShift = 16;
constexpr std::int32_t fixed(double value) {
    return static_cast<std::int32_t>(value * (1 << kShift) + (value < 0 ? -0.5 : 0.5));
}

struct Row {
    std::int32_t red, green, blue, offset;
    std::byte operator()(std::int32_t r, std::int32_t g, std::int32_t b) const {
        const std::int32_t sum = red * r + green * g + blue * b + offset + (1 << (kShift - 1));
        return static_cast<std::byte>(std::clamp(sum >> kShift, 0, 255));
    }
};

struct Rows {
    Row luma, blue_difference, red_difference;
};
/// Of the weights of red and blue in luma; luma has `luma` steps above `black`, differences `chroma` in all.
constexpr Rows rows(double red, double blue, double black, double luma, double chroma) {
    const double green = 1 - red - blue, y = luma / 255, c = chroma / 255;
    return {{fixed(red * y), fixed(green * y), fixed(blue * y), fixed(black)},
            {fixed(-red / (2 * (1 - blue)) * c), fixed(-green / (2 * (1 - blue)) * c), fixed(0.5 * c),
             128 << kShift},
            {fixed(0.5 * c), fixed(-green / (2 * (1 - red)) * c), fixed(-blue / (2 * (1 - red)) * c),
             128 << kShift}};
}
constexpr Rows kBt709Full = rows(0.2126, 0.0722, 0, 255, 255);
constexpr Rows kBt709Limited = rows(0.2126, 0.0722, 16, 219, 224);
constexpr Rows kBt601Full = rows(0.299, 0.114, 0, 255, 255);
constexpr Rows kBt601Limited = rows(0.299, 0.114, 16, 219, 224);
} // namespace

void to_video_planes(ConstHostView rgb, const VideoPlanes& planes, VideoColors colors) {
    const Rows& rows = colors == VideoColors::bt709_full      ? kBt709Full
                       : colors == VideoColors::bt709_limited ? kBt709Limited
                       : colors == VideoColors::bt601_full    ? kBt601Full
                                                              : kBt601Limited;
    for (int y = 0; y < rgb.shape.height; ++y) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(rgb.row(y));
        const auto row = static_cast<std::size_t>(y);
        std::byte* luma = planes.data[0] + row * planes.pitch[0];
        std::byte* blue = planes.data[1] + row * planes.pitch[1];
        std::byte* red = planes.data[2] + row * planes.pitch[2];
        for (int x = 0; x < rgb.shape.width; ++x, from += 3) {
            luma[x] = rows.luma(from[0], from[1], from[2]);
            blue[x] = rows.blue_difference(from[0], from[1], from[2]);
            red[x] = rows.red_difference(from[0], from[1], from[2]);
        }
    }
}

} // namespace specklescope
