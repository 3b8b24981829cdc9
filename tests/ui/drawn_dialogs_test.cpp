// Drawn dialogs, messages and buttons: complete also in the smallest window, each in its place.
#include "tests/support/folder.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/panels/icon_button.hpp"
#include "ui/panels/overlay.hpp"

#include <filesystem>
#include <functional>

namespace specklescope::drawn_dialogs_test {

class DrawnDialogs : public DrawnParts {
protected:
    /// In windows of every size the dialog is complete, and its corner is not a resize handle.
    static void expect_whole(const char* title, const std::function<void()>& ask,
                             const std::function<void()>& draw) {
        ImGuiIO& io = ImGui::GetIO();
        bool asked = false;
        for (const ImVec2& size : {ImVec2(1280, 800), ImVec2(400, 300), ImVec2(320, 900)}) {
            io.DisplaySize = size;
            for (int i = 0; i < 6; ++i) // to find its height
                frame([&] {
                    if (!std::exchange(asked, true))
                        ask();
                    draw();
                });
            const ImGuiWindow* dialog = window(title);
            ASSERT_TRUE(dialog) << title;
            const ImVec2 low = dialog->Pos, high(low.x + dialog->Size.x, low.y + dialog->Size.y);
            EXPECT_GE(low.x, 0) << title << " in " << size.x << "×" << size.y;
            EXPECT_GE(low.y, 0) << title << " in " << size.x << "×" << size.y;
            EXPECT_LE(high.x, size.x) << title;
            EXPECT_LE(high.y, size.y) << title << " in " << size.x << "×" << size.y;
            EXPECT_EQ(dialog->ScrollMax.y, 0)
                << "all of " << title << " is seen in " << size.x << "×" << size.y;
            io.MousePos = {high.x - 3, high.y - 3};
            for (int i = 0; i < 2; ++i)
                frame([&] {
                    draw();
                    EXPECT_EQ(ImGui::GetMouseCursor(), ImGuiMouseCursor_Arrow) << title;
                });
        }
    }
    static std::size_t drawn_for(const std::deque<Note>& notes) {
        frame([&] {
            ImGui::SetNextWindowSize({600, 500});
            ImGui::Begin("messages", nullptr, ImGuiWindowFlags_NoDecoration);
            draw_toasts({0, 0, 600, 500}, notes, 0);
            ImGui::End();
        });
        return drawn_vertices().size();
    }
};

TEST_F(DrawnDialogs, AreWholeInEveryWindow) {
    const TemporaryFolder folder;
    for (int i = 0; i < 40; ++i)
        std::filesystem::create_directory(folder.path() / ("day " + std::to_string(i)));
    FolderDialog folders;
    expect_whole(
        "Folder for recordings", [&] { folders.ask(folder.path().string()); },
        [&] { EXPECT_FALSE(folders.draw(false, false)); });
}

TEST_F(DrawnDialogs, ThatAskForFilesOfRegionsAreWholeInEveryWindow) {
    using Ask = RegionFileField::Ask;
    for (const Ask ask : {Ask::save, Ask::load}) {
        Session session{Settings()};
        RegionFileField file;
        expect_whole(
            ask == Ask::save ? "Save regions" : "Load regions", [&] { file.ask = ask; },
            [&] { draw_region_files(session, file, false, false); });
        frame([&] { draw_region_files(session, file, false, true); });
    }
}

TEST_F(DrawnDialogs, OfTheScaleAndOfTheProgramAreWholeInEveryWindow) {
    Session session{Settings()};
    ScaleDialog scale;
    expect_whole(
        "Scale", [&] { scale.ask = true; }, [&] { scale.draw(session, false, false); });
    frame([&] { scale.draw(session, false, true); });
    ViewState state;
    session.open_error() = "'" + std::string(60, 'x') + "' is nowhere.";
    expect_whole(
        "Cannot open this source", [] {}, [&] { draw_open_error(session, state); });
}

TEST_F(DrawnDialogs, OfManyMessagesTheNewestFiveAreShown) {
    std::deque<Note> notes;
    std::vector<std::size_t> drawn;
    for (int i = 0; i < 9; ++i) {
        notes.push_back(note(Message::Level::error, "It cannot be done."));
        (void)drawn_for(notes);
        drawn.push_back(drawn_for(notes));
    }
    for (std::size_t i = 1; i < 5; ++i)
        EXPECT_GT(drawn[i], drawn[i - 1]) << i;
    for (std::size_t i = 5; i < drawn.size(); ++i)
        EXPECT_EQ(drawn[i], drawn[4]) << i;
}

TEST_F(DrawnDialogs, EachIconLiesOnItsButton) {
    const auto same = [](ImU32 a, ImU32 b) { return ((a ^ b) & ~IM_COL32_A_MASK) == 0; };
    for (const Icon icon : {Icon::pause, Icon::play, Icon::step, Icon::step_back, Icon::loop, Icon::mark_in,
                            Icon::mark_out, Icon::record, Icon::camera, Icon::traces}) {
        frame([&] {
            ImGui::SetNextWindowPos({500, 300});
            ImGui::SetNextWindowSize({200, 100});
            ImGui::Begin("buttons", nullptr, ImGuiWindowFlags_NoDecoration);
            icon_button("one", icon, "");
            ImGui::End();
        });
        ImVec2 low(1e9F, 1e9F), high(0, 0);
        int sign = 0, outside = 0;
        for (const ImDrawVert& vertex : drawn_vertices())
            if (same(vertex.col, theme::kField)) {
                low = {std::min(low.x, vertex.pos.x), std::min(low.y, vertex.pos.y)};
                high = {std::max(high.x, vertex.pos.x), std::max(high.y, vertex.pos.y)};
            }
        for (const ImDrawVert& vertex : drawn_vertices())
            if (same(vertex.col, theme::kText) || same(vertex.col, theme::kRecord)) {
                ++sign;
                outside += vertex.pos.x < low.x || vertex.pos.x > high.x || vertex.pos.y < low.y ||
                                   vertex.pos.y > high.y
                               ? 1
                               : 0;
            }
        EXPECT_GT(sign, 2) << static_cast<int>(icon);
        EXPECT_EQ(outside, 0) << static_cast<int>(icon);
    }
}

TEST_F(DrawnDialogs, StopsOfExposureAreNamedBelowTheBar) {
    Mapping mapping;
    mapping.automatic = true; // only the stops have the accent colour
    mapping.low = 0;
    mapping.high = 100;
    mapping.exposure_stops = 1;
    const Rect area{20, 10, static_cast<double>(color_bar_width()), 500};
    frame([&] {
        ImGui::SetNextWindowSize({400, 600});
        ImGui::Begin("scale", nullptr, ImGuiWindowFlags_NoDecoration);
        (void)color_bar(area, mapping, Quantity{}, Exposure{}, ToneCurve::linear, 1, std::nullopt);
        ImGui::End();
    });
    float bar = 0, auto_word = 0, top = 1e9F, bottom = 0;
    for (const ImDrawVert& vertex : drawn_vertices())
        if (vertex.col == IM_COL32_WHITE) // the colours themselves
            bar = std::max(bar, vertex.pos.y);
    for (const ImDrawVert& vertex : drawn_vertices())
        if (vertex.col == theme::kWarning) {
            auto_word = std::max(auto_word, vertex.pos.y);
        } else if (vertex.col == theme::kAccent) {
            top = std::min(top, vertex.pos.y);
            bottom = std::max(bottom, vertex.pos.y);
        }
    ASSERT_GT(bar, 100);
    EXPECT_GT(auto_word, bar);
    EXPECT_GT(top, auto_word - 2) << "beneath \"auto\"";
    EXPECT_LE(bottom, area.y + area.height + 2);
    EXPECT_GT(bottom, top + 5);
}

/// An automatic range is amber, and one click next to this word fixes its limits.
TEST_F(DrawnDialogs, AnAutomaticRangeIsMarkedAndLockedByOneClick) {
    Mapping mapping;
    mapping.automatic = true;
    mapping.low = 10;
    mapping.high = 100;
    const Rect area{20, 10, static_cast<double>(color_bar_width()), 500};
    const auto draw = [&](ImVec2 mouse, bool down) {
        ImGui::GetIO().MousePos = mouse;
        ImGui::GetIO().MouseDown[0] = down;
        frame([&] {
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize({400, 600});
            ImGui::Begin("scale", nullptr, ImGuiWindowFlags_NoDecoration);
            (void)color_bar(area, mapping, Quantity{}, Exposure{}, ToneCurve::linear, 1, std::nullopt);
            ImGui::End();
        });
    };
    const auto amber = [] {
        float left = 1e9F, right = 0, top = 1e9F, bottom = 0;
        for (const ImDrawVert& vertex : drawn_vertices())
            if (vertex.col == theme::kWarning) {
                left = std::min(left, vertex.pos.x);
                right = std::max(right, vertex.pos.x);
                top = std::min(top, vertex.pos.y);
                bottom = std::max(bottom, vertex.pos.y);
            }
        return ImVec4(left, top, right, bottom);
    };
    draw({-1, -1}, false);
    const ImVec4 words = amber();
    ASSERT_GT(words.z, words.x) << "the word and the limits";
    EXPECT_LE(words.z, area.x + area.width + 1);
    EXPECT_LE(words.w, area.y + area.height + 2);
    const float y = words.y + ImGui::GetFontSize() * 0.5F;
    for (float x = words.x; x < words.z && mapping.automatic; x += 3)
        for (const bool down : {false, true, false})
            draw({x, y}, down);
    EXPECT_FALSE(mapping.automatic);
    EXPECT_EQ(mapping.low, 10);
    EXPECT_EQ(mapping.high, 100);
    draw({-1, -1}, false);
    EXPECT_LT(amber().z, amber().x) << "a fixed range is not marked";
}

} // namespace specklescope::drawn_dialogs_test
