// Geometry pixel by pixel, for the tests of host and device.
#pragma once

#include "stages/geometry/geometry.hpp"
#include "tests/support/random.hpp"

#include <cmath>

namespace specklescope::test {

template <class T> TestImage<T> geometry_image(int width, int height, int channels, std::uint64_t stream) {
    std::mt19937_64 random = test_random(stream);
    TestImage<T> image(width, height, 3, channels);
    return image.fill([&] {
        const std::uint64_t bits = random();
        return std::is_integral_v<T> ? static_cast<T>(bits)
                                     : static_cast<T>(static_cast<double>(bits >> 40) / 77);
    });
}

/// out(x, y) = in(f(x, y)).
template <class T, class F> TestImage<T> moved(const TestImage<T>& in, int width, int height, F&& f) {
    const int channels = in.shape().channels;
    TestImage<T> out(width, height, 5, channels);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int c = 0; c < channels; ++c) {
                const auto [from_x, from_y] = f(x, y);
                out.at(x * channels + c, y) = in.at(from_x * channels + c, from_y);
            }
    return out;
}

template <class T> TestImage<T> oracle_crop(const TestImage<T>& in, int x0, int y0, int width, int height) {
    return moved(in, width, height, [&](int x, int y) { return std::pair(x0 + x, y0 + y); });
}

template <class T> TestImage<T> oracle_flip(const TestImage<T>& in, bool left_right, bool top_bottom) {
    const int width = in.shape().width;
    const int height = in.shape().height;
    return moved(in, width, height, [&](int x, int y) {
        return std::pair(left_right ? width - 1 - x : x, top_bottom ? height - 1 - y : y);
    });
}

/// The top row becomes the right column, `turns` times.
template <class T> TestImage<T> oracle_rotate(TestImage<T> in, int turns) {
    for (; turns > 0; --turns) {
        const int height = in.shape().height;
        in = moved(in, height, in.shape().width, [&](int x, int y) { return std::pair(y, height - 1 - x); });
    }
    return in;
}

template <class T> TestImage<T> oracle_nearest(const TestImage<T>& in, int factor) {
    return moved(in, in.shape().width / factor, in.shape().height / factor,
                 [&](int x, int y) { return std::pair(x * factor, y * factor); });
}

/// Integers in long double, where only the last step is rounded; f32 columns first.
template <class T> TestImage<T> oracle_mean(const TestImage<T>& in, int factor) {
    const int channels = in.shape().channels;
    TestImage<T> out(in.shape().width / factor, in.shape().height / factor, 5, channels);
    for (int y = 0; y < out.shape().height; ++y)
        for (int i = 0; i < out.shape().width * channels; ++i) {
            double sum = 0;
            for (int dx = 0; dx < factor; ++dx) {
                double column = 0;
                for (int dy = 0; dy < factor; ++dy)
                    column += static_cast<double>(
                        in.at((i / channels * factor + dx) * channels + i % channels, y * factor + dy));
                sum += column;
            }
            if constexpr (std::is_integral_v<T>)
                out.at(i, y) =
                    static_cast<T>(std::nearbyintl(static_cast<long double>(sum) / (factor * factor)));
            else
                out.at(i, y) = static_cast<T>(sum / (factor * factor));
        }
    return out;
}

/// Number of samples that differ, as bytes.
template <class T> int differing(const TestImage<T>& a, const TestImage<T>& b) {
    EXPECT_EQ(a.shape(), b.shape());
    int count = 0;
    if (a.shape() == b.shape())
        for (int y = 0; y < a.shape().height; ++y)
            for (int x = 0; x < a.shape().width * a.shape().channels; ++x) {
                const T left = a.at(x, y);
                const T right = b.at(x, y);
                count += std::memcmp(&left, &right, sizeof(T)) != 0 ? 1 : 0;
            }
    return count;
}

/// Parameters of a stage as text: "crop:x=1,y=2".
inline constexpr std::pair<int, int> kGeometryShapes[] = {{1, 1},   {2, 3},    {3, 2},   {16, 16}, {17, 33},
                                                          {64, 48}, {85, 131}, {127, 1}, {1, 70},  {260, 66}};

} // namespace specklescope::test
