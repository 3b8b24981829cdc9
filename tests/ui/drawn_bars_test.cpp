// The bars above and below the picture, and parts that need OpenGL: offscreen, in memory.
#include "config/numbers.hpp"
#include "have_egl.hpp"
#include "tests/support/eventually.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/canvas/texture.hpp"
#include "ui/canvas/window.hpp"
#include "ui/panels/overlay.hpp"

#include <cstdlib>
#include <optional>

namespace specklescope::drawn_bars_test {

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
    /// Draws two frames, since the first may determine the layout; said() has the texts of the last.
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

/// Letters are quads of four vertices, in writing order.
TEST_F(DrawnBars, WhatMattersOfTheRunStandsSideBySide) {
    Session session(settings_of("synthetic:uniform?width=64&height=48&live=false"));
    session.start([] {});
    const Display display;
    ViewState state;
    state.regions.say("!");
    frames([&] { draw_status_bar({0, 770, 1280, 30}, session, state, {}, display, 1); });
    for (const char* part : {"no drops", " frames/s", "Latency "})
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
    const bool saturated = said().find("saturated") != std::string::npos;
    EXPECT_EQ(gaps, saturated ? 3 : 2) << "between the parts: " << said();
    EXPECT_LE(letters.back().y, 1280);
}

/// A run that has ended has no frame rate.
TEST_F(DrawnBars, ARateIsSaidWhileFramesCome) {
    Settings settings = settings_of("synthetic:uniform?width=64&height=48&live=false");
    settings.program.set("frames", std::int64_t{5});
    Session session(settings);
    session.start([] {});
    ASSERT_TRUE(test::eventually([&] { return has_ended(session); }));
    const Display display;
    ViewState state;
    state.regions.say("!");
    frames([&] { draw_status_bar({0, 770, 1280, 30}, session, state, {}, display, 1); });
    EXPECT_NE(said().find("no drops"), std::string::npos) << said();
    EXPECT_EQ(said().find("frames/s"), std::string::npos) << said();
}

TEST_F(DrawnBars, TheSourceIsNamedOnceThereIsOne) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    ViewState state;
    const Display display;
    const auto bar = [&] { draw_tool_bar({0, 0, 1280, 46}, session, state, display, [](bool) {}); };
    frames(bar);
    EXPECT_NE(said().find("No source"), std::string::npos) << said();
    session.start([] {});
    frames(bar);
    EXPECT_EQ(said().find("No source"), std::string::npos) << said();
    EXPECT_NE(said().find(session.pipeline()->status().source.name), std::string::npos) << said();
}

TEST_F(DrawnBars, TheStatisticsLieOnThePicture) {
    const Display display;
    StatsSnapshot stats;
    stats.to_screen = {.count = 1, .median_ms = 12.5, .p99_ms = 123.5};
    for (const char* name :
         {"background", "temporal", "average", "flow", "gaussian", "equalize", "clahe", "gamma"})
        stats.stages.push_back({.name = name, .note = "25 frames, 163 MB"});
    for (const double width : {200.0, 300.0, 700.0})
        for (const double height : {250.0, 400.0, 740.0}) {
            const Rect canvas{40, 50, width, height};
            Rect at;
            frames([&] {
                ImGui::Begin("picture");
                at = draw_statistics(canvas, stats, display, "nothing");
                ImGui::End();
            });
            EXPECT_GT(at.width, 88);
            EXPECT_LE(at.x + at.width, canvas.x + canvas.width) << width;
            EXPECT_LE(at.y + at.height, canvas.y + canvas.height) << width << " × " << height;
        }
}

TEST_F(DrawnBars, WhatIsUnderTheMouseIsSaidWholeInANarrowWindow) {
    Session session(settings_of("synthetic:uniform?width=64&height=48&live=false"));
    session.start([] {});
    Display display;
    Result result;
    ASSERT_TRUE(test::eventually([&] { return session.pipeline()->mailbox().take(result); }));
    display.show(*session.pipeline(), result, true, true);
    ViewState state;
    Hover hover{true, 16383, 12345, 65535.0, 1.2345e-7, {}, {}, -12.34};
    for (const double width : {480.0, 640.0, 1280.0}) {
        frames([&] { draw_status_bar({0, 770, width, 30}, session, state, hover, display, 1); });
        const std::string raw = sample_text(65535, PixelType::u16) + " DN";
        for (const char* part : {"16383", "12345", raw.c_str(), "1.23·10⁻⁷ 1/s", "-12.34 %"})
            EXPECT_NE(said().find(part), std::string::npos) << part << " in " << said();
        for (const ImDrawVert& vertex : drawn_vertices())
            if (vertex.col == theme::kText) {
                EXPECT_LE(vertex.pos.x, width) << "all of it is in the window";
            }
    }
    hover.second_raw = 128; // counts of the film that is compared
    hover.second_type = PixelType::u8;
    frames([&] { draw_status_bar({0, 770, 1280, 30}, session, state, hover, display, 1); });
    EXPECT_NE(said().find(" | 128"), std::string::npos) << said();
    EXPECT_EQ(said().find(" | 128."), std::string::npos) << said();
}

/// The raw image of a recording of results has no counts.
TEST_F(DrawnBars, ARawValueHasTheUnitOfItsSource) {
    Session session(settings_of("synthetic:uniform?width=64&height=48&live=false"));
    session.start([] {});
    Display display;
    Result result;
    ASSERT_TRUE(test::eventually([&] { return session.pipeline()->mailbox().take(result); }));
    ViewState state;
    for (const auto& [unit, wanted] :
         {std::pair{"DN", "0.2500 DN"}, {"1/s", "0.2500 1/s"}, {"1", "0.2500"}}) {
        Chain chain = *result.chain;
        Quantity quantity;
        quantity.unit = unit;
        chain.set_input(quantity);
        Result other = result;
        other.chain = std::make_shared<const Chain>(chain);
        FrameRing ring({64, 48, 1, PixelType::f32}, 1, host_memory());
        other.raw = ring.try_acquire();
        display.show(*session.pipeline(), other, false, true);
        const Hover hover{true, 1, 2, 0.25, {}, {}, {}, {}};
        frames([&] { draw_status_bar({0, 770, 1280, 30}, session, state, hover, display, 1); });
        EXPECT_NE(said().find(wanted), std::string::npos) << said();
        EXPECT_EQ(said().find("DN") != std::string::npos, std::string(unit) == "DN") << said();
    }
}

/// At any requested scale and window size, the text is limited to the available space.
TEST_F(DrawnBars, TextIsAsLargeAsItsWindowHasRoomFor) {
    struct Case {
        int width, height;
        double wanted, scale;
    };
    for (const Case& one : {Case{1280, 800, 2, 2},
                            {1280, 800, 4, 2.125},
                            {640, 480, 2, 1.25},
                            {480, 360, 4, 1},
                            {320, 240, 1, 1},
                            {320, 240, 0.5, 0.5},
                            {3840, 2160, 4, 4},
                            {1280, 800, 0, 1}}) {
        window_.reset();
        ViewSettings view;
        view.width = one.width;
        view.height = one.height;
        view.ui_scale = one.wanted;
        window_.emplace(view, true);
        EXPECT_EQ(window_->scale(), one.scale) << one.width << "×" << one.height << " at " << one.wanted;
        window_->set_scale(1);
        EXPECT_EQ(window_->scale(), 1);
        window_->set_scale(one.wanted);
        EXPECT_EQ(window_->scale(), one.scale);
        EXPECT_EQ(theme::dp(8), static_cast<float>(8 * one.scale));
    }
}

/// One pixel over the limit is too large: every second pixel is kept, and the last one is correct.
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

} // namespace specklescope::drawn_bars_test
