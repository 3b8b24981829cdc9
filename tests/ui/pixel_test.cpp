// The values under the pointer equal the image.
#include "ui/canvas/pixel.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::pixel_test {

Frame frame_of(FrameRing& ring) {
    Frame frame = ring.try_acquire();
    const HostView view = frame.host();
    dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = 0; y < view.shape.height; ++y)
            for (int x = 0; x < view.shape.width * view.shape.channels; ++x)
                view.as<T>().row(y)[x] = static_cast<T>(10 + 7 * x + 31 * y);
    });
    return frame;
}

TEST(PixelUnderThePointer, IsTheSampleOfAGreyFrame) {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
        FrameRing ring({7, 5, 1, type}, 1, host_memory());
        const Frame frame = frame_of(ring);
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 7; ++x)
                EXPECT_EQ(grey_at(frame, x, y), 10 + 7 * x + 31 * y);
        EXPECT_EQ(color_at(frame, 2, 2), std::nullopt);
    }
}

TEST(PixelUnderThePointer, IsBt601LumaOfColours) {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
        FrameRing ring({5, 3, 3, type}, 1, host_memory());
        const Frame frame = frame_of(ring);
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 5; ++x) {
                const double r = 10 + 21 * x + 31 * y, g = r + 7, b = r + 14;
                EXPECT_EQ(color_at(frame, x, y), (Color{r, g, b}));
                EXPECT_NEAR(grey_at(frame, x, y).value_or(NAN), 0.299 * r + 0.587 * g + 0.114 * b, 2e-3);
            }
    }
}

TEST(PixelUnderThePointer, IsNothingBesideThePicture) {
    FrameRing ring({5, 3, 3, PixelType::u8}, 1, host_memory());
    const Frame frame = frame_of(ring);
    for (const auto& [x, y] : {std::pair{-1, 0}, {0, -1}, {5, 0}, {0, 3}}) {
        EXPECT_EQ(grey_at(frame, x, y), std::nullopt) << x << ", " << y;
        EXPECT_EQ(color_at(frame, x, y), std::nullopt) << x << ", " << y;
    }
    EXPECT_EQ(grey_at(Frame(), 0, 0), std::nullopt);
    EXPECT_EQ(color_at(Frame(), 0, 0), std::nullopt);
}

} // namespace specklescope::pixel_test
