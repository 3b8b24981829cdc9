// The window on a virtual screen of its own, for one test.
#pragma once

#include "tests/ui/desktop.hpp"

namespace specklescope {

class ViewerTest : public testing::Test {
protected:
    void SetUp() override {
        for (const char* tool : {"Xvfb", "xdotool", "import"})
            if (!have_tool(tool))
                GTEST_SKIP() << tool << " is not installed; the window cannot be driven.";
        desktop_ = std::make_unique<Desktop>(folder_ / "log.txt");
        if (desktop_->display().empty())
            GTEST_SKIP() << "Xvfb does not start: " << read_text(folder_ / "log.txt");
    }
    Screenshot shot() { return desktop_->shot(folder_ / "shot.ppm"); }

    /// The whole screen for the window.
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
