// However a window's run ends, its files and its statistics are complete.
#include "cli/interrupt.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::ending_test {

class EndingTest : public ViewerTest {
protected:
    const std::vector<std::string> words_ =
        with({"synthetic:uniform?width=64&height=48", "--record-raw", "r.tiff", "--stats", "s.json"});
    void expect_finished(const Viewer& viewer) {
        EXPECT_NE(read_text(folder_ / "s.json").find("\"processed\""), std::string::npos) << viewer.log();
        const std::string file = read_text(folder_ / "r.tiff");
        ASSERT_GT(file.size(), 1000U) << viewer.log();
        EXPECT_NE(file.find("\"finished\": true"), std::string::npos) << viewer.log();
    }
};

TEST_F(EndingTest, AnInterruptThatComesTwiceAtOnceLeavesAllFiles) {
    Viewer viewer(*desktop_, folder_, words_);
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.signal(SIGINT); // timeout(1) signals the process and then its group
    viewer.signal(SIGINT);
    EXPECT_EQ(viewer.wait(), 0) << viewer.log();
    expect_finished(viewer);
}

TEST_F(EndingTest, ADisplayThatGoesAwayLeavesAllFiles) {
    Viewer viewer(*desktop_, folder_, words_);
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    desktop_->vanish();
    EXPECT_EQ(viewer.wait(), 1) << viewer.log();
    expect_finished(viewer);
}

TEST_F(EndingTest, AFolderThatIsRemovedIsSaidAndEndsWithOne) {
    std::filesystem::create_directory(folder_ / "inner");
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:uniform?width=64&height=48", "--record-raw", "inner/r.tiff"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    std::filesystem::remove_all(folder_ / "inner");
    ASSERT_TRUE(viewer.until([&] { return viewer.log().find("was removed") != std::string::npos; }))
        << viewer.log();
    EXPECT_EQ(viewer.quit(), 1) << viewer.log();
}

/// The handler runs within raise(), so the two signals are simultaneous.
TEST(Interrupt, TheSameTwiceAtOneMomentIsOneWish) {
    EXPECT_EXIT(
        {
            const InterruptGuard guard;
            std::raise(SIGINT);
            std::raise(SIGINT);
            std::_Exit(InterruptGuard::interrupted() ? 7 : 8);
        },
        testing::ExitedWithCode(7), "");
    EXPECT_EXIT(
        {
            const InterruptGuard guard;
            std::raise(SIGINT);
            std::raise(SIGTERM);
            std::_Exit(7);
        },
        testing::ExitedWithCode(130), "");
}

} // namespace specklescope::ending_test
