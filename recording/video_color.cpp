#include "recording/video_color.hpp"

#include <algorithm>
#include <cstdint>

namespace specklescope {

namespace {
constexpr int kShift = 16;
constexpr std::int32_t fixed(double value) {
    return static_cast<std::int32_t>(value * (1 << kShift) + (value < 0 ? -0.5 : 0.5));
}
constexpr double kRed = 0.2126, kBlue = 0.0722, kGreen = 1 - kRed - kBlue; // ITU-R BT.709

struct Row {
    std::int32_t red, green, blue, offset;
    std::byte operator()(std::int32_t r, std::int32_t g, std::int32_t b) const {
        const std::int32_t sum = red * r + green * g + blue * b + offset + (1 << (kShift - 1));
        return static_cast<std::byte>(std::clamp(sum >> kShift, 0, 255));
    }
};
constexpr Row kLuma{fixed(kRed), fixed(kGreen), fixed(kBlue), 0};
constexpr Row kBlueDifference{fixed(-kRed / (2 * (1 - kBlue))), fixed(-kGreen / (2 * (1 - kBlue))),
                              fixed(0.5), 128 << kShift};
constexpr Row kRedDifference{fixed(0.5), fixed(-kGreen / (2 * (1 - kRed))), fixed(-kBlue / (2 * (1 - kRed))),
                             128 << kShift};
} // namespace

void to_video_planes(ConstHostView rgb, const VideoPlanes& planes) {
    for (int y = 0; y < rgb.shape.height; ++y) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(rgb.row(y));
        const auto row = static_cast<std::size_t>(y);
        std::byte* luma = planes.data[0] + row * planes.pitch[0];
        std::byte* blue = planes.data[1] + row * planes.pitch[1];
        std::byte* red = planes.data[2] + row * planes.pitch[2];
        for (int x = 0; x < rgb.shape.width; ++x, from += 3) {
            luma[x] = kLuma(from[0], from[1], from[2]);
            blue[x] = kBlueDifference(from[0], from[1], from[2]);
            red[x] = kRedDifference(from[0], from[1], from[2]);
        }
    }
}

} // namespace specklescope
