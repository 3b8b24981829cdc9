// Conversion of sample types: every sample at its place, and nothing in the padding.
#include "pipeline/convert.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace specklescope::convert_test {

/// An image of numbers, with `kBeside` more after each row.
template <class T> struct Padded {
    static constexpr int kBeside = 3;
    static constexpr int kNobodys = 201;

    explicit Padded(const Shape& of)
        : shape(of), in_row(of.width * of.channels + kBeside),
          numbers(static_cast<std::size_t>(in_row * of.height), static_cast<T>(kNobodys)) {}
    T& at(int x, int y) { return numbers[static_cast<std::size_t>(y * in_row + x)]; }
    HostView view() {
        return {reinterpret_cast<std::byte*>(numbers.data()), shape,
                static_cast<std::size_t>(in_row) * sizeof(T)};
    }

    Shape shape;
    int in_row;
    std::vector<T> numbers;
};

template <class T> void expect_as_real(int channels) {
    constexpr int kWidth = 7, kHeight = 50;
    Padded<T> from({kWidth, kHeight, channels, pixel_type_of<T>()});
    Padded<float> to({kWidth, kHeight, channels, PixelType::f32});
    const auto value = [](int x, int y) { return (17 * y + 5 * x) % 199; };
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth * channels; ++x)
            from.at(x, y) = static_cast<T>(value(x, y));
    convert(from.view(), to.view(), GreyChannel::mean);
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < to.in_row; ++x)
            ASSERT_EQ(to.at(x, y), x < kWidth * channels ? value(x, y) : Padded<float>::kNobodys)
                << channels << " channels, " << x << ", " << y;
}

TEST(Convert, EverySampleBecomesTheSameNumberAndNothingElseIsWritten) {
    for (const int channels : {1, 3}) {
        expect_as_real<std::uint8_t>(channels);
        expect_as_real<std::uint16_t>(channels);
    }
}

} // namespace specklescope::convert_test
