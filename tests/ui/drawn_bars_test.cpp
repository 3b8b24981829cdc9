// The bars above and below the picture, and what needs OpenGL to be drawn: offscreen, in memory.
#include "have_egl.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/canvas/texture.hpp"
#include "ui/canvas/window.hpp"
#include "ui/panels/overlay.hpp"

#include <cstdlib>
#include <optional>

namespace specklescope {
namespace {

#ifdef SPECKLESCOPE_HAVE_EGL

class DrawnBars : public testing::Test {
protected:
    DrawnBars() {
        setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1); // NOLINT(concurrency-mt-unsafe): no other thread reads it
        ViewSettings view;
        view.width = 1280;
        view.height = 800;
        window_.emplace(view, true);
        ImGui::GetIO().GetClipboardTextFn = nullptr;
        ImGui::GetIO().SetClipboardTextFn = [](void*, const char* text) { said() = text; };
    }
    /// Two frames, for what finds its place in the first; the texts of the last one are in said().
    template <class F> void frames(F&& draw) {
        for (int i = 0; i < 2; ++i) {
            window_->begin_frame();
            ImGui::LogToClipboard();
            draw();
            ImGui::LogFinish();
            window_->end_frame([](void*) {}, nullptr);
        }
    }
    static std::string& said() {
        static std::string text;
        return text;
    }
    static Settings settings_of(const std::string& source) {
        Settings settings;
        settings.source = source;
        settings.program.set_text("backend", "cpu");
        settings.chain.add("speckle");
        return settings;
    }
    std::optional<Window> window_;
};

/// Letters are squares of four corners, in the order in which they are written.
TEST_F(DrawnBars, WhatMattersOfTheRunStandsSideBySide) {
    Session session(settings_of("synthetic:uniform?width=64&height=48&live=false"));
    session.start([] {});
    const Display display;
    frames([&] { draw_status_bar({0, 770, 1280, 30}, session, {}, display, 1, "!"); });
    for (const char* part : {"no drops", " frames/s", "latency "})
        EXPECT_NE(said().find(part), std::string::npos) << said();
    std::vector<ImVec2> letters; // from x to y
    const std::vector<ImDrawVert> all = drawn_vertices();
    for (std::size_t i = 0; i + 3 < all.size(); ++i)
        if (all[i].col == theme::kDim && all[i + 2].col == theme::kDim && all[i].pos.x < all[i + 1].pos.x &&
            all[i + 1].pos.y < all[i + 2].pos.y && all[i].pos.x == all[i + 3].pos.x) {
            letters.emplace_back(all[i].pos.x, all[i + 2].pos.x);
            i += 3;
        }
    ASSERT_GT(letters.size(), 20U);
    std::sort(letters.begin(), letters.end(), [](const ImVec2& a, const ImVec2& b) { return a.x < b.x; });
    int gaps = 0;
    for (std::size_t i = 1; i < letters.size(); ++i) {
        EXPECT_GT(letters[i].x, letters[i - 1].y - 2) << "letter " << i << " lies on the one before";
        gaps += letters[i].x > letters[i - 1].y + 12 ? 1 : 0;
    }
    EXPECT_EQ(gaps, 2) << "between three parts";
    EXPECT_LE(letters.back().y, 1280);
}

TEST_F(DrawnBars, TheSourceIsNamedOnceThereIsOne) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    ViewState state;
    const Display display;
    const auto bar = [&] { draw_tool_bar({0, 0, 1280, 46}, session, state, display); };
    frames(bar);
    EXPECT_NE(said().find("No source"), std::string::npos) << said();
    session.start([] {});
    frames(bar);
    EXPECT_EQ(said().find("No source"), std::string::npos) << said();
    EXPECT_NE(said().find(session.pipeline()->status().source.name), std::string::npos) << said();
}

TEST_F(DrawnBars, TheStatisticsLieOnThePicture) {
    const Display display;
    for (const double width : {200.0, 300.0, 700.0}) {
        const Rect canvas{40, 50, width, 700};
        float right = 0;
        frames([&] {
            ImGui::Begin("picture");
            right = draw_statistics(canvas, StatsSnapshot{}, display, "nothing");
            ImGui::End();
        });
        EXPECT_GT(right, canvas.x + 100);
        EXPECT_LE(right, canvas.x + canvas.width) << width;
    }
}

/// One pixel over the limit is too large; every second one is kept, and the last is the one that is there.
TEST_F(DrawnBars, APictureLargerThanTheLargestTextureIsThinnedUntilItFits) {
    GLint limit = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &limit);
    ASSERT_GT(limit, 1000);
    for (const int over : {0, 1, 2}) {
        const Shape shape{limit + over, 2, 1, PixelType::f32};
        std::vector<float> pixels(shape.pixels());
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<float>(i);
        ImageTexture texture;
        texture.upload({reinterpret_cast<const std::byte*>(pixels.data()), shape});
        EXPECT_EQ(texture.thinning(), over == 0 ? 1 : 2) << over;
        EXPECT_LE(texture.stored().width, limit) << over;
        for (const int x : {0, 500, limit - 2 + limit % 2})
            EXPECT_EQ(texture.read_pixel(x, 0)[0], static_cast<float>(x)) << over;
        EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)) << over;
    }
}

#endif

} // namespace
} // namespace specklescope
