// By mouse and keys: movies of the screen, and the frames from before the button was pressed.
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_movie_test {

class ViewerMovieTest : public ViewerTest {
protected:
    std::string named(const std::string& beginning) const {
        for (const std::string& name : folder_.names())
            if (name.starts_with(beginning))
                return name;
        return "";
    }
    static bool recorded(const Viewer& viewer) {
        return viewer.until([&] { return viewer.log().find("Recorded ") != std::string::npos; });
    }
};

TEST_F(ViewerMovieTest, AKeyRecordsWhatIsSeenWithTheMarksThatWereTicked) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=320&height=240", "--no-remember", "--view", "layout=raw",
                        "--view", "panel_sections=Record,Stages,Display"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    viewer.scroll_to("record.marks", "record.raw");
    viewer.click("record.marks");
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("record.burn_time"); }));
    viewer.scroll_to("record.burn_time", "record.marks");
    viewer.click("record.burn_time");
    viewer.key("shift+r");
    EXPECT_TRUE(viewer.until([&] {
        const std::string name = named("screen_");
        return !name.empty() && std::filesystem::file_size(folder_ / name) > 100000;
    })) << viewer.log();
    viewer.key("shift+r");
    EXPECT_TRUE(recorded(viewer)) << viewer.log();
    const std::string name = named("screen_");
    EXPECT_TRUE(name.ends_with(".mkv")) << name;
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    // Raw pictures are grey, and a box of another brightness is at their upper left, equal in all.
    EXPECT_TRUE(test::python(folder_, "name = '" + name + R"py('
import cv2, numpy
film, frames = cv2.VideoCapture(name), []
while True:
    ok, frame = film.read()
    if not ok:
        break
    frames.append(frame.astype(int))
assert len(frames) > 2 and frames[0].shape == (240, 320, 3)
grey = numpy.array([abs(f[100:, :, 0] - f[100:, :, 2]) < 24 for f in frames])
assert grey.mean() > 0.9, grey.mean()
box = numpy.array([f[5:9, 5:60] for f in frames])
rest = numpy.array([f[205:209, 5:60] for f in frames])
assert box.std(axis=0).mean() < 0.5 * rest.std(axis=0).mean(), (box.std(axis=0).mean(), rest.std(axis=0).mean())
)py")) << read_text(folder_ / "python.log");
}

TEST_F(ViewerMovieTest, TheToolBarRecordsOneWhereThatWasChosen) {
    Viewer viewer(*desktop_, folder_, with({"synthetic:vessels?width=96&height=64", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    const Rect button = viewer.widget("tool.record");
    desktop_->events({"mousemove", std::to_string(std::lround(button.x + button.width / 2)),
                      std::to_string(std::lround(button.y + button.height / 2)), "sleep", "0.4", "click",
                      "3"});
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("tool.records.3"); }));
    viewer.click("tool.records.3");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("tool.records") == 3; }));
    viewer.click("tool.record");
    EXPECT_TRUE(viewer.until([&] { return !named("screen_").empty(); })) << viewer.log();
    viewer.click("tool.record");
    EXPECT_TRUE(recorded(viewer)) << viewer.log();
    EXPECT_EQ(named("processed_"), "");
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerMovieTest, ARecordingOfRawFramesBeginsBeforeItsButton) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64&rate=20", "--no-remember", "--pre-trigger",
                        "0.5", "--view", "panel_sections=Record,Stages,Display"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.text("record.kept") == "keeps the last 0.5 s, 0 MiB"; }))
        << viewer.text("record.kept");
    viewer.key("w");
    ASSERT_TRUE(viewer.until([&] { return !named("raw_").empty(); })) << viewer.log();
    EXPECT_TRUE(viewer.until(
        [&] { return viewer.text("record.kept").find("in the recording") != std::string::npos; }));
    viewer.key("w");
    EXPECT_TRUE(recorded(viewer)) << viewer.log();
    EXPECT_TRUE(viewer.until([&] { return viewer.text("record.kept").starts_with("keeps the last"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    EXPECT_TRUE(test::python(folder_, "name = '" + named("raw_") + R"py('
import json, tifffile
pages = [p.tags['ImageDescription'].value for p in tifffile.TiffFile(name).pages]
about = [json.loads(p[p.index('{'):]) for p in pages]
trigger = about[0]['trigger_sequence']
numbers = [(a.get('frame') or a)['sequence'] for a in about]
times = [(a.get('frame') or a)['capture_ns'] for a in about]
before = [t for n, t in zip(numbers, times) if n < trigger]
assert abs((before[-1] - before[0]) * 1e-9 - 0.5) < 0.1, before
lost = sum(b - a - 1 for a, b in zip(numbers, numbers[1:]))
assert lost == about[0]['dropped'] + about[0]['lost_before_recorder'], (lost, about[0])
)py")) << read_text(folder_ / "python.log");
}

} // namespace specklescope::viewer_movie_test
