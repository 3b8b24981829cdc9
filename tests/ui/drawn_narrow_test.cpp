// Items on the picture and in the panel in small areas: all are visible, without overlaps.
#include "tests/support/folder.hpp"
#include "tests/ui/drawn_narrow.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

namespace specklescope::drawn_narrow_test {

constexpr ImU32 kMark = IM_COL32(10, 13, 16, 215);

TEST_F(DrawnNarrow, MarksOnThePictureLieWithinItAndClearOfTheStatistics) {
    Result warming;
    warming.warmup = {"spatiotemporal", 7, 25};
    for (const double width : {300.0, 394.0, 520.0, 900.0, 1600.0})
        for (const bool statistics : {false, true}) {
            const Rect canvas{32, 46, width, 300};
            const Rect taken =
                statistics ? Rect{canvas.x + 12, canvas.y + 12, std::min(330.0, width - 24), 140} : Rect{};
            on_picture([&] { draw_warmup(canvas, warming, taken); });
            const Rect warmup = box_of(kMark);
            EXPECT_TRUE(within(warmup, canvas))
                << width << ": " << warmup.x << " … " << warmup.x + warmup.width;
            if (statistics) {
                EXPECT_TRUE(apart(warmup, taken)) << width << ": " << warmup.x << ", " << warmup.y;
            }
        }
}

class StandingSink final : public Sink {
public:
    void open(const StreamInfo&) override {}
    void push(const Result&, bool) override {}
    void close() noexcept override {}
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override {
        SinkStatus status;
        status.path = "a.tiff";
        status.written = 123456;
        status.dropped = 1234;
        status.bytes = 987654321;
        status.disk_left_s = 7384;
        return status;
    }
};

TEST_F(DrawnNarrow, ARecordingIsMarkedWithAsMuchAsHasRoom) {
    const std::vector<Recording> recordings = {
        {&output_kind(RecordWhat::processed), std::make_shared<StandingSink>(), ""},
        {&output_kind(RecordWhat::screen), std::make_shared<StandingSink>(), ""}};
    double last = 0;
    for (const double width : {330.0, 394.0, 500.0, 1200.0}) {
        const Rect canvas{32, 46, width, 300};
        std::vector<Rect> places;
        on_picture([&] { places = draw_record_marks(canvas, recordings); });
        ASSERT_EQ(places.size(), 2U);
        for (const Rect& place : places)
            EXPECT_TRUE(within(place, canvas)) << width << ": " << place.x << " … " << place.x + place.width;
        EXPECT_GE(places[0].width, last);
        last = places[0].width;
    }
    EXPECT_GT(last, 450) << "all of it where there is room";
}

TEST_F(DrawnNarrow, ThePresetsAreWholeInEveryWindow) {
    ImGuiIO& io = ImGui::GetIO();
    for (const ImVec2& size : {ImVec2(480, 360), ImVec2(480, 800), ImVec2(800, 600), ImVec2(1280, 800)})
        for (const float part : {0.05F, 0.5F, 0.9F}) {
            io.DisplaySize = size;
            Session session{Settings()};
            PresetMenu menu;
            const ImGuiWindow* popup = nullptr;
            for (int i = 0; i < 8; ++i) {
                frame([&] {
                    ImGui::SetNextWindowPos({size.x * 0.58F, 0});
                    ImGui::SetNextWindowSize({size.x * 0.42F, size.y});
                    ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration);
                    ImGui::SetCursorPosY(size.y * part);
                    menu.button(session, i == 0);
                    ImGui::End();
                });
                popup = nullptr;
                for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
                    if (window->Active && (window->Flags & ImGuiWindowFlags_Popup) != 0)
                        popup = window;
            }
            ASSERT_TRUE(popup) << size.x << "×" << size.y;
            EXPECT_GE(popup->Pos.x, 0) << size.x << "×" << size.y;
            EXPECT_GE(popup->Pos.y, 0) << size.x << "×" << size.y << ", " << part;
            EXPECT_LE(popup->Pos.x + popup->Size.x, size.x) << size.x << "×" << size.y;
            EXPECT_LE(popup->Pos.y + popup->Size.y, size.y) << size.x << "×" << size.y << ", " << part;
            frame([] { ImGui::ClosePopupToLevel(0, false); });
        }
}

TEST_F(DrawnNarrow, OfTheNameOfAFolderNothingIsHidden) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "run##3");
    FolderDialog dialog;
    dialog.ask(folder.path().string());
    std::string said;
    for (int i = 0; i < 200 && said.find("3/") == std::string::npos; ++i) {
        said = text_of([&] { (void)dialog.draw(false, false); });
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_NE(said.find("3/"), std::string::npos) << said;
}

TEST_F(DrawnNarrow, TheListOfKeysIsScrolledWithoutAMouse) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {480, 360};
    io.KeyMap[ImGuiKey_DownArrow] = 264;
    io.KeyMap[ImGuiKey_PageDown] = 267;
    io.KeyMap[ImGuiKey_UpArrow] = 265;
    bool open = true;
    const KeyBindings keys;
    const auto rows = [] {
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
            if (window->Active && std::string(window->Name).find("##rows") != std::string::npos)
                return window->Scroll.y;
        return -1.0F;
    };
    const auto press = [&](int key) {
        io.KeysDown[key] = true;
        on_picture([&] { draw_keys(&open, false, keys); });
        io.KeysDown[key] = false;
        for (int i = 0; i < 2; ++i)
            on_picture([&] { draw_keys(&open, false, keys); });
        return rows();
    };
    for (int i = 0; i < 4; ++i)
        on_picture([&] { draw_keys(&open, false, keys); });
    ASSERT_EQ(rows(), 0);
    const float line = press(264);
    EXPECT_GT(line, 5);
    const float page = press(267);
    EXPECT_GT(page, line + 50);
    EXPECT_LT(press(265), page);
}

TEST_F(DrawnNarrow, WhatTheKeyboardHasReachedAtTheLowerEdgeIsExplainedThere) {
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.KeyMap[ImGuiKey_Space] = 32;
    io.KeyMap[ImGuiKey_RightArrow] = 262;
    io.MousePos = {-FLT_MAX, -FLT_MAX}; // elsewhere
    const auto draw = [&] {
        on_picture([&] {
            ImGui::SetCursorPosY(760);
            for (const char* name : {"one", "two", "three"}) {
                ImGui::Button(name);
                tooltip(std::string("About ") + name);
                ImGui::SameLine();
            }
        });
    };
    for (int i = 0; i < 8; ++i) {
        io.KeysDown[262] = i % 2 == 1;
        draw();
    }
    const ImGuiWindow* shown = nullptr;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->Active && (window->Flags & ImGuiWindowFlags_Tooltip) != 0)
            shown = window;
    ASSERT_TRUE(shown);
    EXPECT_GE(shown->Pos.x, 0);
    EXPECT_GE(shown->Pos.y, 600);
    EXPECT_LE(shown->Pos.x + shown->Size.x, io.DisplaySize.x);
    EXPECT_LE(shown->Pos.y + shown->Size.y, 768);
}

TEST_F(DrawnNarrow, ASliderWhoseSectionWasClosedWhileANumberWasTypedIsASliderAgain) {
    ImGuiIO& io = ImGui::GetIO();
    double value = 5;
    Rect slider;
    const auto draw = [&](bool there) {
        on_picture([&] {
            if (!there)
                return;
            ImGui::SetNextItemWidth(200);
            (void)value_slider("radius", value, {1, 15, false, true}, "px");
            const ImVec2 low = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
            slider = {low.x, low.y, size.x, size.y};
        });
    };
    const auto is_slider = [] { return box_of(theme::kAccent).width > 0; }; // its grip, away from the mouse
    draw(true);
    ASSERT_TRUE(is_slider());
    io.MousePos = {static_cast<float>(slider.x + 100), static_cast<float>(slider.y + 8)};
    for (const bool down : {false, true, false, true, false}) {
        io.MouseDown[0] = down;
        draw(true);
    }
    io.MousePos = {-FLT_MAX, -FLT_MAX};
    for (int i = 0; i < 3; ++i)
        draw(true);
    ASSERT_FALSE(is_slider()) << "a number is typed";
    for (int i = 0; i < 5; ++i)
        draw(false);
    for (int i = 0; i < 20; ++i)
        draw(true);
    EXPECT_TRUE(is_slider());
}

} // namespace specklescope::drawn_narrow_test
