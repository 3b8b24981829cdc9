// The window executes requests, and a request ends it.
#include "tests/support/control_client.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::control_window_test {

using test::Answer;
using test::ControlClient;
using test::Json;

class ViewerControlTest : public ViewerTest {
protected:
    std::string at() const { return "ipc://" + (folder_ / "flow.socket"); }
};

TEST_F(ViewerControlTest, DoesWhatAScriptAsksFor) {
    std::filesystem::create_directory(folder_ / "out");
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=64&height=48&rate=30", "--no-remember", "--stage", "speckle",
                        "--control", at(), "--control-folder", "out"}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ControlClient client(at());
    const Answer set = client.ask("set", {{"stage", "speckle"}, {"key", "radius"}, {"value", 5}});
    ASSERT_TRUE(set.ok()) << set.error();
    const Answer frame = client.ask("frame", {{"version", set.json["version"]}, {"raw", true}});
    ASSERT_TRUE(frame.ok()) << frame.error();
    EXPECT_NE(frame.json["chain"].get<std::string>().find("radius=5"), std::string::npos);
    ASSERT_EQ(frame.parts.size(), 2U);
    EXPECT_EQ(frame.parts[0].size(), 64U * 48U * 4U);
    EXPECT_EQ(frame.parts[1].size(), 64U * 48U * 2U);
    EXPECT_TRUE(viewer.until([&] { return viewer.text("chain").find("radius=5") != std::string::npos; }))
        << "the slider is where the script has put it";

    const std::string before = viewer.text("colormap");
    ASSERT_TRUE(client.ask("act", {{"action", "next_colormap"}}).ok());
    EXPECT_TRUE(viewer.until([&] { return viewer.text("colormap") != before; }));
    ASSERT_TRUE(client.ask("set_view", {{"key", "layout"}, {"value", "raw"}}).ok());
    EXPECT_TRUE(viewer.until([&] { return viewer.text("layout") == "raw"; }));
    const Answer impossible = client.ask("act", {{"action", "faster"}});
    EXPECT_NE(impossible.error().find("not possible now"), std::string::npos) << impossible.error();
    EXPECT_NE(client.ask("act", {{"action", "next_colourmap"}}).error().find("next_colormap"),
              std::string::npos);

    const Json box = {{{"name", "box"}, {"shape", "rectangle"}, {"points", {{10, 8}, {29, 27}}}}};
    ASSERT_TRUE(client.ask("set_regions", {{"regions", box}}).ok());
    EXPECT_TRUE(viewer.until([&] { return client.ask("baseline", {{"seconds", 0.5}}).ok(); }));
    EXPECT_TRUE(client.ask("mark", {{"label", "stimulus"}}).ok());
    ASSERT_TRUE(client.ask("record", {{"what", "traces"}, {"file", "t.csv"}}).ok());
    ASSERT_TRUE(client.ask("record", {{"what", "results"}, {"file", "r.tiff"}}).ok());
    EXPECT_TRUE(viewer.until([&] {
        const Json got = client.ask("get").json;
        return got["recordings"].size() == 2 && got["recordings"][1]["written"] > 3;
    }));
    for (const char* what : {"traces", "results"}) {
        const Answer stopped = client.ask("stop", {{"what", what}});
        EXPECT_TRUE(stopped.ok()) << stopped.error();
        EXPECT_TRUE(stopped.json["complete"].get<bool>());
    }
    EXPECT_TRUE(client.ask("snapshot", {{"file", "s.png"}}).ok());
    EXPECT_EQ(names_in(folder_ / "out"), (std::vector<std::string>{"r.tiff", "s.png", "t.csv"}));
    EXPECT_TRUE(client.ask("quit").ok());
    EXPECT_EQ(viewer.wait(), 0) << viewer.log();
}

TEST_F(ViewerControlTest, EndsWhileARequestWaits) {
    Viewer viewer(*desktop_, folder_,
                  with({"synthetic:vessels?width=64&height=48&rate=30", "--no-remember", "--control", at()}));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ControlClient client(at());
    std::thread asks([&] {
        const Answer never = client.ask("frame", {{"version", 1'000'000}});
        EXPECT_TRUE(never.json.is_object() && !never.ok()) << "it is answered all the same";
    });
    EXPECT_TRUE(viewer.until([&] { return viewer.number("displayed") > 20; }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
    asks.join();
}

} // namespace specklescope::control_window_test
