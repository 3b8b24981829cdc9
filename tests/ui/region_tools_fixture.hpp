// A short film in the real window, with real mouse and keyboard events over its pixels.
#pragma once

#include "tests/ui/viewer_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

inline constexpr int kWidth = 160, kHeight = 120, kFrames = 4;

class RegionToolsTest : public ViewerTest {
protected:
    /// Ends after a moment; the last frame stays.
    std::string film(int width = kWidth, int height = kHeight, const std::string& name = "film.raw") {
        std::string pixels;
        std::uint32_t state = 12345;
        for (int i = 0; i < width * height * kFrames; ++i) {
            state = state * 1664525U + 1013904223U;
            pixels += static_cast<char>(30 + (state >> 24) % 150);
        }
        write_text(folder_ / name, pixels);
        return "raw:" + name + "?width=" + std::to_string(width) + "&height=" + std::to_string(height) +
               "&format=gray8&rate=10";
    }
    std::unique_ptr<Viewer> open(const std::vector<std::string>& more = {}, bool remember = false) {
        std::vector<std::string> words = {film()};
        if (!remember)
            words.emplace_back("--no-remember");
        words.insert(words.end(), more.begin(), more.end());
        if (std::none_of(more.begin(), more.end(), [](const std::string& w) { return w == "--stage"; }))
            words.insert(words.end(), {"--stage", "speckle:radius=2,output=contrast"});
        // Without the trace strip, which appears with the first region and moves the picture.
        words.insert(words.end(), {"--view", "traces=hidden"});
        auto viewer = std::make_unique<Viewer>(*desktop_, folder_, with(words));
        EXPECT_TRUE(viewer->shows_picture()) << viewer->log();
        EXPECT_TRUE(viewer->until([&] { return viewer->text("banner").starts_with("End of"); }));
        return viewer;
    }
    /// Moves to the middle of a pixel of the raw picture, which the result covers unless its border is
    /// cropped.
    void point(const Viewer& viewer, int x, int y) {
        const double scale = viewer.number("image.scale");
        desktop_->events({"mousemove",
                          std::to_string(std::lround(viewer.number("image.x") + (x + 0.5) * scale)),
                          std::to_string(std::lround(viewer.number("image.y") + (y + 0.5) * scale))});
        ASSERT_TRUE(viewer.until([&] {
            const bool outside = x < 0 || y < 0 || x >= kWidth || y >= kHeight;
            return outside ? viewer.number("hover.x") == -1
                           : viewer.number("hover.x") == x && viewer.number("hover.y") == y;
        })) << x
            << " " << y;
    }
    /// Drags with the button down from the first to the last.
    void draw(const Viewer& viewer, const std::vector<std::pair<int, int>>& path) {
        ASSERT_NO_FATAL_FAILURE(point(viewer, path[0].first, path[0].second));
        desktop_->events({"mousedown", "1"});
        for (std::size_t i = 1; i < path.size(); ++i)
            ASSERT_NO_FATAL_FAILURE(point(viewer, path[i].first, path[i].second));
        desktop_->events({"mouseup", "1"});
    }
    void click(const Viewer& viewer, int x, int y) {
        ASSERT_NO_FATAL_FAILURE(point(viewer, x, y));
        // Longer than a double click.
        desktop_->events({"sleep", "0.4", "mousedown", "1", "sleep", "0.2", "mouseup", "1"});
    }
    /// Presses a button after it has stopped moving: rows above it may change.
    static void press(const Viewer& viewer, const std::string& name) {
        Rect last = viewer.widget(name);
        double frame = viewer.probe()["frame"].get<double>();
        ASSERT_TRUE(viewer.until([&] {
            const nlohmann::json now = viewer.probe();
            if (!now.is_object() || now["frame"].get<double>() < frame + 2)
                return false;
            frame = now["frame"].get<double>();
            const Rect before = std::exchange(last, viewer.widget(name));
            return before.x == last.x && before.y == last.y;
        })) << name;
        viewer.click(name);
    }
    static bool count(const Viewer& viewer, int regions) {
        return viewer.until([&] { return viewer.number("regions.count") == regions; });
    }
    static bool points(const Viewer& viewer, int region, const std::string& expected) {
        const std::string name = "region.points." + std::to_string(region);
        return viewer.until([&] { return viewer.text(name) == expected; }) ||
               (ADD_FAILURE() << name << " is " << viewer.text(name) << ", not " << expected, false);
    }
    static bool selected(const Viewer& viewer, int region) {
        return viewer.until([&] { return viewer.number("regions.selected") == region; },
                            std::chrono::seconds(20));
    }
    static bool tool(const Viewer& viewer, const std::string& key, const std::string& name) {
        viewer.key(key);
        return viewer.until([&] { return viewer.text("region.tool") == name; });
    }
    void save_as(const Viewer& viewer, const std::string& path) const {
        viewer.key("ctrl+s");
        ASSERT_TRUE(
            viewer.until([&] { return viewer.has_widget("regions.path") && viewer.number("typing") == 1; }));
        desktop_->events({"type", "--delay", "40", path}); // over the selected text
        viewer.key("Return");
        ASSERT_TRUE(viewer.until([&] { return std::filesystem::exists(folder_ / path); })) << viewer.log();
        ASSERT_TRUE(viewer.until([&] { return !viewer.has_widget("regions.path"); }));
    }
};

} // namespace specklescope
