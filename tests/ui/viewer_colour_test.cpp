// Colour and grey images in the window: which chain they open with, and in which colours they are drawn.
#include "config/cli.hpp"
#include "session/session.hpp"
#include "tests/support/eventually.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_colour_test {

using test::eventually;

constexpr int kWidth = 40, kHeight = 30;

/// Noise with some pixels at full scale.
std::string noise(std::size_t bytes) {
    std::string pixels;
    for (std::size_t i = 0; i < bytes; ++i)
        pixels += static_cast<char>(i % 11 == 0 ? 255 : 30 + (i * 7919 ^ i / 64) % 200);
    return pixels;
}

struct Films {
    explicit Films(const TemporaryFolder& folder) {
        constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight * 3;
        rgb = noise(3 * kPixels);
        write_text(folder / "colour.raw", rgb);
        write_text(folder / "grey.raw", noise(kPixels));
        const std::string size = "?width=" + std::to_string(kWidth) + "&height=" + std::to_string(kHeight);
        colour = "raw:" + (folder / "colour.raw") + size + "&format=rgb8";
        grey = "raw:" + (folder / "grey.raw") + size + "&format=gray8";
    }
    std::string rgb, colour, grey;
};

TEST_F(ViewerTest, AColourFilmOpensAsItself) {
    const Films films(folder_);
    Viewer viewer(*desktop_, folder_,
                  with({films.colour, "--no-remember"},
                       {"--view", "low=0", "--view", "high=255", "--view", "overlay=false"}));
    ASSERT_TRUE(viewer.until([&] {
        return viewer.number("displayed") > 0 && viewer.number("image.scale") > 4;
    })) << viewer.log();
    EXPECT_EQ(viewer.text("chain"), "none");
    viewer.key("space");
    const auto wrong = [&] { // samples that differ from one frame of the file by more than rounding
        const Screenshot screen = at_rest(viewer);
        const double x0 = viewer.number("image.x"), y0 = viewer.number("image.y"),
                     scale = viewer.number("image.scale");
        const auto frame = static_cast<std::size_t>(viewer.number("film.position"));
        int count = 0;
        for (int y = 0; y < kHeight * 2 / 3; y += 3) // the lower part has a message
            for (int x = 0; x < kWidth; ++x)
                for (std::size_t c = 0; c < 3; ++c) {
                    const std::size_t at = ((frame * kHeight + static_cast<std::size_t>(y)) * kWidth +
                                            static_cast<std::size_t>(x)) *
                                               3 +
                                           c;
                    const auto seen = screen.at(static_cast<int>(x0 + (x + 0.5) * scale),
                                                static_cast<int>(y0 + (y + 0.5) * scale));
                    count += std::abs(seen[c] - static_cast<unsigned char>(films.rgb[at])) > 1 ? 1 : 0;
                }
        return count;
    };
    EXPECT_EQ(wrong(), 0);
    viewer.key("2");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    viewer.click("raw.stretch"); // 0 to full scale
    EXPECT_EQ(viewer.number("raw.saturated"), 0);
    EXPECT_EQ(wrong(), 0) << "full scale is not painted";
    viewer.key("x");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("raw.saturated") == 1; }));
    EXPECT_GT(wrong(), 0) << "painted on request";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerTest, AGreyImageIsGreyUntilAMapIsChosen) {
    const Films films(folder_);
    {
        Viewer viewer(*desktop_, folder_, with({films.grey, "--no-remember", "--stage", "none"}));
        ASSERT_TRUE(viewer.until([&] { return viewer.number("displayed") > 0; })) << viewer.log();
        EXPECT_EQ(viewer.text("colormap"), "grey");
        viewer.key("m");
        EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") != "grey"; }));
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
    Viewer asked(*desktop_, folder_,
                 with({films.grey, "--no-remember", "--stage", "none", "--colormap", "viridis"}));
    ASSERT_TRUE(asked.until([&] { return asked.number("displayed") > 0; })) << asked.log();
    EXPECT_EQ(asked.text("colormap"), "viridis");
    EXPECT_EQ(asked.quit(), 0) << asked.log();
}

/// The chain of a window that was started with these words and then opens `next`.
class ChainsTest : public testing::Test {
protected:
    static void ignore() {}
    Session& start(std::vector<const char*> words) {
        words.insert(words.begin(), "specklescope");
        words.push_back("--no-remember");
        ParseOutcome outcome = parse_command_line(static_cast<int>(words.size()), words.data());
        session_.emplace(std::move(outcome.settings));
        session_->start(ignore);
        return *session_;
    }
    std::string chain() { return to_string(session_->chain()); }
    void open(const std::string& source) {
        session_->open(source);
        ASSERT_TRUE(eventually([&] {
            session_->poll();
            return !session_->opening();
        }));
        ASSERT_FALSE(session_->open_error().has_value()) << *session_->open_error();
    }
    TemporaryFolder folder_;
    const Films films_{folder_};
    const std::string speckle_ = to_string(default_chain());
    std::optional<Session> session_;
};

TEST_F(ChainsTest, TheDefaultChainFollowsTheSource) {
    start({films_.colour.c_str()});
    EXPECT_EQ(chain(), "none");
    open(films_.grey);
    EXPECT_EQ(chain(), speckle_);
    open(films_.colour);
    EXPECT_EQ(chain(), "none");
}

TEST_F(ChainsTest, AChainThatTheUserChoseStays) {
    start({films_.colour.c_str(), "--stage", "speckle"});
    EXPECT_EQ(chain(), speckle_);
    session_->set_chain(chain_from_text("gaussian:sigma=2"));
    const std::string edited = chain();
    open(films_.grey);
    EXPECT_EQ(chain(), edited);
    open(films_.colour);
    EXPECT_EQ(chain(), edited);
}

TEST_F(ChainsTest, AChainAddedToColourStaysWhenThatIsOpenedAgain) {
    start({films_.colour.c_str()});
    session_->set_chain(default_chain());
    open(films_.colour);
    EXPECT_EQ(chain(), speckle_);
}

} // namespace specklescope::viewer_colour_test
