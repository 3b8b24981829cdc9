// Playback of a file in the real window: the time line under the mouse, steps, marks, speed, the end.
#include "tests/ui/viewer_fixture.hpp"

#include <set>

namespace specklescope::viewer_film_test {

class ViewerFilmTest : public ViewerTest {
protected:
    /// A film of 64 × 48 pixels in which all frames differ.
    std::string film(int frames, const std::string& more = "&rate=20") const {
        std::string pixels;
        for (int frame = 0; frame < frames; ++frame)
            for (int i = 0; i < 64 * 48; ++i)
                pixels += static_cast<char>(40 + ((i * 7919 ^ i / 64) + frame * 31) % 150);
        write_text(folder_ / "film.raw", pixels);
        return "raw:film.raw?width=64&height=48&format=gray8" + more;
    }
    static bool at(const Viewer& viewer, double frame) {
        return viewer.until([&] { return viewer.number("film.position") == frame; });
    }
    static bool is(const Viewer& viewer, const std::string& state) {
        return viewer.until([&] { return viewer.text("film.state") == state; });
    }
    static void stand(const Viewer& viewer) {
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        viewer.key("space");
        ASSERT_TRUE(is(viewer, "paused"));
    }
    /// Fraction of the time line at which drag() finds this frame.
    static double part_of(const Viewer& viewer, double frame, double last) {
        const Rect r = viewer.widget("film.line");
        return (viewer.number("film.line.x") + frame / last * viewer.number("film.line.width") - r.x) /
               (r.width - 1);
    }
    /// Frame at which drag() ends for this fraction of the time line.
    static double frame_under(const Viewer& viewer, double part, double last) {
        const Rect r = viewer.widget("film.line");
        const double mouse = static_cast<double>(std::lround(r.x + part * (r.width - 1)));
        return std::round((mouse - viewer.number("film.line.x")) / viewer.number("film.line.width") * last);
    }
};

TEST_F(ViewerFilmTest, TheTimeLineIsDraggedToTheFrameUnderTheMouse) {
    Viewer viewer(*desktop_, folder_, with({film(100), "--no-remember", "--loop"}));
    stand(viewer);
    EXPECT_EQ(viewer.number("film.length"), 100);
    for (const auto& [from, to] : {std::pair{0.2, 0.75}, {0.9, 0.31}, {0.5, 0.0}, {0.1, 1.0}}) {
        const double wanted = std::clamp(frame_under(viewer, to, 99), 0.0, 99.0);
        viewer.drag("film.line", from, to);
        EXPECT_TRUE(at(viewer, wanted)) << viewer.number("film.position") << " for " << wanted;
    }
    EXPECT_NE(viewer.text("film.text").find("99 / 99"), std::string::npos) << viewer.text("film.text");
    EXPECT_NE(viewer.text("film.text").find("0:04.95 / 0:04.95"), std::string::npos)
        << viewer.text("film.text");
    viewer.drag("film.line", 0.9, 0.1);
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") < 20; }));
    viewer.key("space"); // and during playback
    ASSERT_TRUE(is(viewer, "running"));
    viewer.drag("film.line", 0.1, 0.5);
    EXPECT_TRUE(is(viewer, "running")) << "it goes on where it was let go";
    EXPECT_TRUE(viewer.until([&] { return viewer.number("film.position") > 52; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, StepsGoBothWaysByKeyAndButton) {
    Viewer viewer(
        *desktop_, folder_,
        with({film(60, "&rate=5"), "--no-remember", "--from", "30", "--stage", "temporal:frames=5"}));
    stand(viewer);
    double here = -1; // a frame may still be waiting to be drawn
    ASSERT_TRUE(viewer.until([&] {
        const double before = here;
        viewer.drawn();
        here = viewer.number("film.position");
        return here == before;
    }));
    ASSERT_GE(here, 30);
    ASSERT_LT(here, 59);
    viewer.key("Left");
    ASSERT_TRUE(at(viewer, here - 1));
    EXPECT_EQ(viewer.text("warmup"), "") << "the history is that of a run";
    viewer.key("comma");
    ASSERT_TRUE(at(viewer, here - 2));
    viewer.click("film.back");
    ASSERT_TRUE(at(viewer, here - 3));
    viewer.key("Right");
    ASSERT_TRUE(at(viewer, here - 2));
    viewer.key("period");
    ASSERT_TRUE(at(viewer, here - 1));
    viewer.click("film.forward");
    ASSERT_TRUE(at(viewer, here));
    viewer.freeze(true); // faster than frames are displayed: none is skipped
    desktop_->events({"key", "--delay", "5", "Left", "Left", "Left", "Left"});
    viewer.freeze(false);
    EXPECT_TRUE(at(viewer, here - 4)) << viewer.number("film.position");
    viewer.key("ctrl+Home");
    ASSERT_TRUE(at(viewer, 0));
    viewer.key("Left");
    EXPECT_EQ(viewer.text("film.state"), "paused");
    viewer.key("Right");
    ASSERT_TRUE(at(viewer, 1));
    viewer.key("ctrl+End");
    ASSERT_TRUE(at(viewer, 59));
    ASSERT_TRUE(is(viewer, "ended"));
    viewer.key("Left");
    EXPECT_TRUE(at(viewer, 58)) << "from the end, too";
    EXPECT_TRUE(is(viewer, "paused"));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, ALoopStaysBetweenItsMarks) {
    Viewer viewer(*desktop_, folder_, with({film(60, "&rate=10"), "--no-remember"}));
    stand(viewer);
    viewer.key("ctrl+Home");
    ASSERT_TRUE(at(viewer, 0));
    for (int frame = 1; frame <= 12; ++frame) {
        viewer.key("Right");
        ASSERT_TRUE(at(viewer, frame));
        if (frame == 4)
            viewer.key("i");
    }
    viewer.key("u");
    viewer.key("j");
    ASSERT_TRUE(viewer.until([&] {
        return viewer.number("film.in") == 4 && viewer.number("film.out") == 12 &&
               viewer.number("film.loops") == 1;
    }));
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") < 12; }));
    const double drawn = viewer.number("displayed");
    std::set<double> seen;
    ASSERT_TRUE(viewer.until([&] {
        seen.insert(viewer.number("film.position"));
        return viewer.number("displayed") > drawn + 60 && seen.size() > 4;
    }));
    EXPECT_GE(*seen.begin(), 4);
    EXPECT_LE(*seen.rbegin(), 12);
    viewer.click("film.loop");
    ASSERT_TRUE(is(viewer, "ended")) << "without the loop it comes to its end";
    viewer.key("space");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("film.position") < 40; })) << "again, from the mark";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, MarksAreSetMovedAndTakenAwayByMouse) {
    Viewer viewer(*desktop_, folder_, with({film(100, "&rate=10"), "--no-remember", "--from", "20"}));
    stand(viewer);
    viewer.drag("film.line", part_of(viewer, 70, 99), part_of(viewer, 30, 99));
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.sought") == -1; }));
    const double in = viewer.number("film.position");
    EXPECT_NEAR(in, 30, 1);
    viewer.click("film.in");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.in") == in; }));
    viewer.key("shift+Right");
    ASSERT_TRUE(at(viewer, in + 10));
    viewer.click("film.out");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.out") == in + 10; }));
    viewer.key("shift+Left"); // away from the mark, otherwise the knob is nearer
    ASSERT_TRUE(at(viewer, in));
    viewer.drag("film.line", part_of(viewer, in + 10, 99), part_of(viewer, 60, 99));
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.out") > in + 10; }));
    const double out = viewer.number("film.out");
    EXPECT_NEAR(out, 60, 1);
    EXPECT_EQ(viewer.number("film.position"), in) << "the mark was taken, not the film";
    EXPECT_EQ(viewer.number("film.loops"), 0);
    viewer.click("film.loop");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.loops") == 1; }));
    viewer.key("ctrl+End");
    ASSERT_TRUE(at(viewer, 99));
    viewer.key("space"); // paused after the loop
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") < 99; }));
    const double drawn = viewer.number("displayed");
    double least = 99, most = 0;
    ASSERT_TRUE(viewer.until([&] {
        least = std::min(least, viewer.number("film.position"));
        most = std::max(most, viewer.number("film.position"));
        return viewer.number("displayed") > drawn + 60;
    }));
    EXPECT_GE(least, in);
    EXPECT_LE(most, out);
    const Rect button = viewer.widget("film.out");
    desktop_->events({"mousemove", std::to_string(std::lround(button.x + button.width / 2)),
                      std::to_string(std::lround(button.y + button.height / 2)), "sleep", "0.4", "mousedown",
                      "3", "sleep", "0.3", "mouseup", "3"});
    EXPECT_TRUE(viewer.until([&] { return viewer.number("film.out") == -1; }));
    EXPECT_TRUE(viewer.until([&] { return viewer.number("film.position") > out; })) << "up to the end now";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, WhereTheLoopIsTurnedOnNothingBehindItIsShown) {
    Viewer viewer(*desktop_, folder_, with({film(60, "&rate=5"), "--no-remember", "--from", "20"}));
    stand(viewer);
    const double out = viewer.number("film.position");
    ASSERT_LT(out, 55);
    viewer.key("u"); // later frames have been read already
    viewer.key("j");
    ASSERT_TRUE(
        viewer.until([&] { return viewer.number("film.out") == out && viewer.number("film.loops") == 1; }));
    viewer.key("Right");
    EXPECT_TRUE(at(viewer, 0)) << "a step, too, goes round";
    viewer.key("ctrl+Down");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("film.speed") == 0.5; }));
    viewer.key("ctrl+Up");
    viewer.key("ctrl+Up");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("film.speed") == 2; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, SpaceAtTheEndBeginsAgain) {
    Viewer viewer(*desktop_, folder_, with({film(40, "&rate=10"), "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(is(viewer, "ended"));
        ASSERT_TRUE(at(viewer, 39));
        viewer.key("space");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") < 39; }));
    }
    ASSERT_TRUE(is(viewer, "ended"));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, TheSpeedIsChosenFromAMenu) {
    Viewer viewer(*desktop_, folder_, with({film(100), "--no-remember", "--loop"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("film.speed"), 1);
    for (const auto& [name, value] : {std::pair{"¼×", 0.25}, {"4×", 4.0}, {"max", 0.0}}) {
        viewer.click("film.speed");
        const std::string choice = std::string("film.speed.") + name;
        double before = -1, now = -2; // a menu moves to its position while it opens
        ASSERT_TRUE(viewer.until([&] {
            viewer.drawn();
            before = std::exchange(now, viewer.has_widget(choice) ? viewer.widget(choice).y : -2);
            return now >= 0 && now == before;
        }));
        EXPECT_LT(now, viewer.widget("film.speed").y) << "it lies on its button";
        viewer.click(choice);
        EXPECT_TRUE(viewer.until([&, speed = value] { return viewer.number("film.speed") == speed; }))
            << name;
    }
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, WhatIsNoFilmHasNoTimeLine) {
    {
        Viewer viewer(*desktop_, folder_, with({"synthetic", "--no-remember"}));
        ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
        EXPECT_FALSE(viewer.has_widget("film.line"));
        viewer.key("Left"); // nothing to go back to
        viewer.key("j");
        EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    }
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:static?width=64&height=48&live=false&rate=30", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("film.line"); }));
    EXPECT_NE(viewer.text("film.text").find("/ ?"), std::string::npos) << "a length that is unknown";
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") > 20; }));
    viewer.key("space");
    ASSERT_TRUE(is(viewer, "paused"));
    viewer.drag("film.line", 0.9, 0.0);
    EXPECT_TRUE(at(viewer, 0)) << "what was seen can be gone back to";
    viewer.key("ctrl+End");
    EXPECT_TRUE(viewer.until(
        [&] { return viewer.log().find("is not known until it has been played") != std::string::npos; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerFilmTest, EverythingFitsInANarrowWindow) {
    Viewer viewer(*desktop_, folder_,
                  {film(100), "--no-remember", "--loop", "--view", "width=520", "--view", "height=600"});
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Rect canvas = viewer.widget("canvas");
    double right = 0;
    for (const char* name : {"film.line", "film.back", "film.play", "film.forward", "film.loop", "film.in",
                             "film.out", "film.speed"}) {
        const Rect r = viewer.widget(name);
        EXPECT_GE(r.x, 0) << name;
        EXPECT_LE(r.x + r.width, 520) << name;
        EXPECT_GE(r.y, canvas.y + canvas.height) << name << " lies on the picture";
        EXPECT_LE(r.y + r.height, 600) << name;
        right = std::max(right, r.x + r.width);
    }
    EXPECT_GT(viewer.widget("film.line").width, 100);
    viewer.key("space");
    ASSERT_TRUE(is(viewer, "paused"));
    const double wanted = frame_under(viewer, 0.5, 99);
    viewer.drag("film.line", 0.1, 0.5);
    EXPECT_TRUE(at(viewer, wanted));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_film_test
