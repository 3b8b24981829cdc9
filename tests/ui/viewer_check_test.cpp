// By keys: a check of the source that is open, compared with that of the command.
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_check_test {

class ViewerCheckTest : public ViewerTest {
protected:
    void record(const std::string& scene, const std::vector<std::string>& more) {
        std::vector<std::string> words = {"run", scene};
        words.insert(words.end(), more.begin(), more.end());
        const ChildResult made = run_program(words, folder_.path().string());
        ASSERT_EQ(made.status, 0) << made.all();
    }
    nlohmann::json json(const std::string& name) const {
        return nlohmann::json::parse(read_text(folder_ / name), nullptr, false);
    }
    /// The saved check; empty: none.
    std::string saved() const {
        for (const std::string& name : folder_.names())
            if (name.ends_with(".json") && json(name).is_object() && json(name).contains("findings") &&
                name != "command.json")
                return name;
        return "";
    }
    static void ask(const Viewer& viewer) {
        viewer.key("ctrl+shift+k");
        ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("check.close"); })) << viewer.log();
    }
};

TEST_F(ViewerCheckTest, FindsInAFileWhatTheCommandFinds) {
    record("synthetic:uniform?width=256&height=192&live=false&speckle=1",
           {"--frames", "40", "--record-raw", "raw.tiff"});
    const ChildResult command =
        run_program({"check", "raw.tiff", "--json", "command.json"}, folder_.path().string());
    ASSERT_EQ(command.status, 0) << command.all();
    Viewer viewer(*desktop_, folder_, with({"raw.tiff", "--no-remember", "--loop"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ask(viewer);
    ASSERT_TRUE(viewer.until([&] { return viewer.number("check.frames") == 40; })) << viewer.log();
    EXPECT_TRUE(Viewer::has_word(viewer.text("check.findings"), "speckle")) << viewer.text("check.text");
    EXPECT_NE(command.all().find(viewer.text("check.text")), std::string::npos) << viewer.text("check.text");
    viewer.click("check.save");
    ASSERT_TRUE(viewer.until([&] { return !saved().empty(); })) << viewer.log();
    nlohmann::json here = json(saved()), there = json("command.json");
    here.erase("source");
    there.erase("source");
    EXPECT_EQ(here, there);
    viewer.key("Return");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("check.close"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerCheckTest, NamesAFaultOfALiveSource) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:uniform?width=256&height=192&speckle=1", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ask(viewer);
    ASSERT_TRUE(viewer.until([&] { return viewer.number("check.frames") > 1; })) << viewer.log();
    EXPECT_TRUE(Viewer::has_word(viewer.text("check.findings"), "speckle")) << viewer.text("check.text");
    const double before = viewer.number("sequence");
    EXPECT_TRUE(viewer.until([&] { return viewer.number("sequence") > before; })) << "the run continues";
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

TEST_F(ViewerCheckTest, RefusesResults) {
    record("synthetic:vessels?width=96&height=64&live=false",
           {"--frames", "5", "--stage", "speckle:radius=3,output=contrast", "--record", "k.tiff"});
    Viewer viewer(*desktop_, folder_, with({"k.tiff", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ask(viewer);
    ASSERT_TRUE(viewer.until([&] { return !viewer.text("check.error").empty(); })) << viewer.log();
    EXPECT_FALSE(viewer.has_widget("check.save"));
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("check.close"); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

/// Frames that come too slowly to fill a burst: Escape does not wait for them.
TEST_F(ViewerCheckTest, EscapeCancels) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=96&height=64&rate=0.25", "--no-remember"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ask(viewer);
    EXPECT_TRUE(std::isnan(viewer.number("check.frames")));
    viewer.key("Escape");
    EXPECT_TRUE(viewer.until([&] { return !viewer.has_widget("check.close"); }));
    ask(viewer); // again, from the beginning
    EXPECT_TRUE(std::isnan(viewer.number("check.frames")));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_check_test
