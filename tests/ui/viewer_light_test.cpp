// A display-coded image in the window: its values are intensities, and the displayed picture equals the
// original.
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include "pipeline/mapping.hpp"

namespace specklescope::viewer_light_test {

TEST_F(ViewerTest, ACodedPictureIsLightInNumbersAndItselfOnTheScreen) {
    ASSERT_TRUE(test::python(folder_, R"py(
import numpy as np
from PIL import Image, PngImagePlugin
code = np.random.default_rng(3).integers(0, 256, (30, 40, 3), np.uint8)
chunks = PngImagePlugin.PngInfo()
chunks.add(b"sRGB", b"\0")
Image.fromarray(code).save("picture.png", pnginfo=chunks)
code.tofile("code.raw")
)py")) << read_text(folder_ / "python.log");
    const std::string code = read_text(folder_ / "code.raw");
    ASSERT_EQ(code.size(), 30U * 40 * 3);
    Viewer viewer(*desktop_, folder_,
                  with({"picture.png", "--no-remember", "--stage", "none"},
                       {"--view", "low=0", "--view", "high=1", "--view", "overlay=false"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    // Camera counts are stretched between percentiles. Intensities are not, so that they can be compared
    // with the result.
    ASSERT_EQ(viewer.number("raw.stretch"), 1);
    const auto codes = [&](int x, int y) {
        std::array<double, 3> rgb{};
        for (std::size_t c = 0; c < 3; ++c)
            rgb[c] = static_cast<unsigned char>(
                code[(static_cast<std::size_t>(y) * 40 + static_cast<std::size_t>(x)) * 3 + c]);
        return rgb;
    };
    for (const char* layout : {"1", "2"}) { // processed, raw: the same intensity with stage none
        viewer.key(layout);
        ASSERT_TRUE(
            viewer.until([&] { return viewer.text("layout") == (*layout == '1' ? "processed" : "raw"); }));
        const double x0 = viewer.number("image.x"), y0 = viewer.number("image.y"),
                     scale = viewer.number("image.scale");
        ASSERT_GT(scale, 4);
        // The first messages may cover the picture for a while.
        int wrong = -1;
        EXPECT_TRUE(viewer.until([&] {
            const Screenshot screen = shot();
            wrong = 0;
            for (int y = 0; y < 30; ++y)
                for (int x = 0; x < 40; ++x) {
                    const auto seen = screen.at(static_cast<int>(x0 + (x + 0.5) * scale),
                                                static_cast<int>(y0 + (y + 0.5) * scale));
                    for (std::size_t c = 0; c < 3; ++c)
                        wrong += std::abs(static_cast<double>(seen[c]) - codes(x, y)[c]) > 1 ? 1 : 0;
                }
            return wrong == 0;
        })) << wrong
            << " samples of layout " << layout;
        const int x = 13, y = 7;
        desktop_->events({"mousemove", std::to_string(static_cast<int>(x0 + (x + 0.5) * scale)),
                          std::to_string(static_cast<int>(y0 + (y + 0.5) * scale))});
        ASSERT_TRUE(
            viewer.until([&] { return viewer.number("hover.x") == x && viewer.number("hover.y") == y; }));
        const auto rgb = codes(x, y);
        const auto light = [](double v) {
            return v <= 0.04045 * 255 ? v / 255 / 12.92 : std::pow((v / 255 + 0.055) / 1.055, 2.4);
        };
        const double luma = 0.299 * light(rgb[0]) + 0.587 * light(rgb[1]) + 0.114 * light(rgb[2]);
        EXPECT_NEAR(viewer.number("hover.raw"), luma, 1e-6);
        if (*layout == '1') {
            EXPECT_NEAR(viewer.number("hover.value"), luma, 1e-6);
        }
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_light_test
