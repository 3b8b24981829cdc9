// The window on a separate virtual screen, for one test.
#pragma once

#include "tests/ui/desktop.hpp"

namespace specklescope {

class ViewerTest : public testing::Test {
protected:
    void SetUp() override {
        for (const char* tool : {"Xvfb", "xdotool", "import"})
            ASSERT_TRUE(have_tool(tool)) << tool << " is not installed; ./dev test installs it.";
        desktop_ = std::make_unique<Desktop>(folder_ / "log.txt");
        if (desktop_->display().empty())
            GTEST_SKIP() << "Xvfb does not start: " << read_text(folder_ / "log.txt");
    }
    Screenshot shot() { return desktop_->shot(folder_ / "shot.ppm"); }

    /// The picture without a pointer over it, once two screenshots half a second apart are equal: the first
    /// messages have disappeared.
    Screenshot at_rest(const Viewer& viewer) {
        desktop_->events({"mousemove", "5", "5"});
        Screenshot screen = shot();
        EXPECT_TRUE(viewer.until([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            const Screenshot last = std::exchange(screen, shot());
            const Rect c = viewer.widget("canvas");
            for (int y = static_cast<int>(c.y); y < static_cast<int>(c.y + c.height); ++y)
                for (int x = static_cast<int>(c.x); x < static_cast<int>(c.x + c.width); ++x)
                    if (last.at(x, y) != screen.at(x, y))
                        return false;
            return viewer.number("image.scale") > 4;
        }));
        return screen;
    }

    /// Options for a window as large as the screen.
    static std::vector<std::string> with(std::vector<std::string> words,
                                         const std::vector<std::string>& more = {}) {
        words.insert(words.end(), {"--view", "width=1280", "--view", "height=800"});
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    TemporaryFolder folder_;
    std::unique_ptr<Desktop> desktop_;
};

} // namespace specklescope
