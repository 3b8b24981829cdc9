// The picture painted by the shader, offscreen: its colours equal those of files, for all values and for
// very thin pictures.
#include "have_egl.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/canvas/view.hpp"
#include "ui/canvas/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>

namespace specklescope::drawn_picture_test {

#ifdef SPECKLESCOPE_HAVE_EGL

class DrawnPicture : public testing::Test {
protected:
    static constexpr int kWidth = 320, kHeight = 240;
    DrawnPicture() {
        setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1); // NOLINT(concurrency-mt-unsafe): no other thread reads it
        ViewSettings view;
        view.width = kWidth;
        view.height = kHeight;
        window_.emplace(view, true);
        shader_.emplace();
        window_->on_drawn = [this](SurfaceSize size) {
            screen_.resize(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3);
            glPixelStorei(GL_PACK_ALIGNMENT, 1);
            glReadPixels(0, 0, size.width, size.height, GL_RGB, GL_UNSIGNED_BYTE, screen_.data());
        };
    }
    void draw(ConstHostView image, const PictureStyle& style, const Rect& canvas,
              const Camera::Placement& placement) {
        struct Job {
            DrawnPicture* self;
            ConstHostView image;
            const PictureStyle& style;
            const Rect& canvas;
            const Camera::Placement& placement;
        } job{this, image, style, canvas, placement};
        window_->begin_frame();
        window_->end_frame(
            [](void* given) {
                const Job& what = *static_cast<Job*>(given);
                ImageTexture texture;
                texture.upload(what.image);
                what.self->shader_->draw(texture, what.style, what.canvas, what.placement, 1);
            },
            &job);
    }
    Rgb at(int x, int y) const {
        const std::size_t i =
            3 * (static_cast<std::size_t>(kHeight - 1 - y) * kWidth + static_cast<std::size_t>(x));
        return {screen_.at(i), screen_.at(i + 1), screen_.at(i + 2)};
    }
    std::optional<Window> window_;
    std::optional<PictureShader> shader_;
    std::vector<std::uint8_t> screen_;
};

TEST_F(DrawnPicture, OfAnyNumbersHasTheColoursThatFilesHave) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> part(-0.2F, 1.2F);
    const Shape shape{16, 12, 1, PixelType::f32}, colour{16, 12, 3, PixelType::u8};
    for (const auto& [low, high] : {std::pair{-3.3e38, 3.3e38},
                                    {0.0, 3.4e38},
                                    {-1e38, 2e38},
                                    {-5.0, 700.0},
                                    {0.1, 0.2},
                                    {1e-30, 9e-30},
                                    {1e-37, 6e-37},
                                    {-2e-36, 3e-36}}) { // OpenGL may treat values below 1.2e-38 as 0
        std::vector<float> pixels(shape.pixels());
        for (float& pixel : pixels)
            pixel = static_cast<float>(
                std::clamp(low + (high - low) * static_cast<double>(part(random)), -3.4e38, 3.4e38));
        pixels[0] = std::numeric_limits<float>::quiet_NaN();
        pixels[1] = std::numeric_limits<float>::infinity();
        const ConstHostView image(reinterpret_cast<const std::byte*>(pixels.data()), shape);
        // As files, in a unit in which a float represents each difference: the colours are the same.
        const double unit = std::ldexp(1.0, -std::ilogb(std::max(std::abs(low), std::abs(high))));
        std::vector<float> scaled(pixels.size());
        std::transform(pixels.begin(), pixels.end(), scaled.begin(),
                       [&](float pixel) { return static_cast<float>(pixel * unit); });
        std::vector<std::byte> rgb(colour.bytes());
        const HostView painted(rgb.data(), colour);
        map_colors({reinterpret_cast<const std::byte*>(scaled.data()), shape}, ColorMap::grey,
                   {low * unit, high * unit}, ToneCurve::linear, painted);
        draw(image, {ColorMap::grey, {low, high}, ToneCurve::linear, 0}, {0, 0, kWidth, kHeight}, {0, 0, 10});
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const Rgb seen = at(10 * x + 5, 10 * y + 5);
                const auto* wanted = reinterpret_cast<const std::uint8_t*>(painted.row(y)) + 3 * x;
                for (std::size_t c = 0; c < 3; ++c)
                    ASSERT_NEAR(seen[c], wanted[c], 1)
                        << low << " … " << high << ": "
                        << pixels[static_cast<std::size_t>(y) * 16 + static_cast<std::size_t>(x)];
            }
    }
}

TEST_F(DrawnPicture, ThatIsThinnerThanAPixelOfTheScreenIsSeen) {
    for (const auto& [width, height] : {std::pair{1, 2000}, {2000, 1}, {16000, 16}}) {
        const Shape shape{width, height, 1, PixelType::u8};
        const std::vector<std::byte> pixels(shape.bytes(), std::byte{200});
        const double scale =
            std::min(static_cast<double>(kWidth) / width, static_cast<double>(kHeight) / height);
        const Camera::Placement placement{(kWidth - width * scale) / 2, (kHeight - height * scale) / 2,
                                          scale};
        draw({pixels.data(), shape}, {ColorMap::grey, {0, 255}, ToneCurve::linear, 0},
             {0, 0, kWidth, kHeight}, placement);
        int seen = 0;
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x)
                seen += at(x, y)[0] > 150 ? 1 : 0;
        EXPECT_GE(seen, std::min(kWidth, kHeight) - 2) << width << " × " << height;
        EXPECT_LE(seen, 2 * kWidth) << width << " × " << height;
    }
}

#endif

} // namespace specklescope::drawn_picture_test
