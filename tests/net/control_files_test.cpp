// Files written by requests: only in their folder, under the reported names, and reported when they end.
#include "config/keys/actions.hpp"
#include "have_egl.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

#include <set>

namespace specklescope::control_files_test {

using test::Answer;
using test::ControlledRun;
using test::eventually;
using test::Json;

const Json kBox = {{{"name", "box"}, {"shape", "rectangle"}, {"points", {{10, 8}, {29, 27}}}}};

/// In a run, or in a window without a display.
class ControlledFiles : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { std::filesystem::create_directory(folder_ / "out"); }
    std::unique_ptr<ControlledRun> start(std::vector<std::string> more = {}) const {
        more.insert(more.begin(),
                    {"synthetic:vessels?width=64&height=48&rate=60", "--control-folder", "out"});
        const bool run = std::string(GetParam()) == "run";
        auto made = std::make_unique<ControlledRun>(
            std::move(more), folder_.path().string(), "zmq://127.0.0.1:0",
            run ? std::vector<std::string>{test::program_path(), "run"} : test::offscreen_window());
        made->client->wait_no_longer_than(100'000);
        return made;
    }
    static Answer record(ControlledRun& program, const char* what, const char* file) {
        return program.ask("record", {{"what", what}, {"file", file}});
    }
    static bool writes(ControlledRun& program, const char* what) {
        return eventually([&] {
            const Json got = program.ask("get").json;
            for (const Json& one : got["recordings"])
                if (one["what"] == what && one["written"] > 3)
                    return true;
            return false;
        });
    }
    static bool tells(ControlledRun& program, const std::string& words) {
        return eventually(
            [&] { return program.ask("messages").json.dump().find(words) != std::string::npos; });
    }
    static bool runs_none(ControlledRun& program) {
        return eventually([&] { return program.ask("get").json["recordings"].empty(); });
    }
    TemporaryFolder folder_;
};

TEST_P(ControlledFiles, HaveTheNamesThatAreTold) {
    for (const char* name : {"out/b.csv", "out/c.tiff", "out/d.raw.jsonl"})
        write_text(folder_ / name, "mine");
    std::filesystem::create_symlink("nowhere", folder_ / "out/e.csv");
    auto program = start();
    ASSERT_TRUE(program->ask("set_regions", {{"regions", kBox}}).ok());
    struct Case {
        const char *what, *wanted, *written;
    };
    for (const Case& one : {Case{"traces", "b.csv", "out/b-1.csv"}, Case{"traces", "e.csv", "out/e-1.csv"},
                            Case{"raw", "c.tiff", "out/c-1.tiff"}, Case{"raw", "d.raw", "out/d-1.raw"},
                            Case{"results", "f.tiff", "out/f.tiff"}}) {
        const Answer begun = record(*program, one.what, one.wanted);
        ASSERT_TRUE(begun.ok()) << begun.error();
        EXPECT_EQ(begun.json["file"], one.written);
        ASSERT_TRUE(writes(*program, one.what)) << one.wanted;
        const Answer stopped = program->ask("stop", {{"what", one.what}});
        ASSERT_TRUE(stopped.ok()) << stopped.error();
        EXPECT_EQ(stopped.json["files"], Json::array({one.written}));
        EXPECT_TRUE(std::filesystem::exists(folder_ / one.written)) << one.written;
    }
    for (const char* name : {"out/b.csv", "out/c.tiff", "out/d.raw.jsonl"})
        EXPECT_EQ(read_text(folder_ / name), "mine") << name;
    // Two with the same name, neither of which exists yet.
    EXPECT_EQ(record(*program, "raw", "g.tiff").json["file"], "out/g.tiff");
    EXPECT_EQ(record(*program, "results", "g.tiff").json["file"], "out/g-1.tiff");
    ASSERT_TRUE(writes(*program, "raw") && writes(*program, "results"));
    EXPECT_EQ(program->ask("stop", {{"what", "raw"}}).json["files"], Json::array({"out/g.tiff"}));
    EXPECT_EQ(program->ask("stop", {{"what", "results"}}).json["files"], Json::array({"out/g-1.tiff"}));
    EXPECT_EQ(program->quit().status, 0);
}

TEST_P(ControlledFiles, ThatEndByThemselvesAreToldOnceToWhoStopsThem) {
    auto program = start({"--record-frames", "7"});
    ASSERT_TRUE(record(*program, "results", "a.tiff").ok());
    ASSERT_TRUE(runs_none(*program));
    EXPECT_TRUE(tells(*program, "out/a.tiff, complete with ")) << program->ask("messages").json;
    const Answer stopped = program->ask("stop", {{"what", "results"}});
    ASSERT_TRUE(stopped.ok()) << stopped.error();
    EXPECT_EQ(stopped.json["files"], Json::array({"out/a.tiff"}));
    EXPECT_EQ(stopped.json["written"].get<int>() + stopped.json["dropped"].get<int>(), 7)
        << "a length counts what a slow disk drops: " << stopped.json;
    EXPECT_EQ(stopped.json["complete"], true);
    EXPECT_NE(program->ask("stop", {{"what", "results"}}).error().find("No recording of results runs"),
              std::string::npos);
    // With two requests, the last one counts.
    for (const char* name : {"b.tiff", "c.tiff"}) {
        ASSERT_TRUE(record(*program, "results", name).ok());
        ASSERT_TRUE(runs_none(*program));
    }
    EXPECT_EQ(program->ask("stop", {{"what", "results"}}).json["files"], Json::array({"out/c.tiff"}));
    EXPECT_FALSE(program->ask("stop", {{"what", "results"}}).ok());
    EXPECT_EQ(program->quit().status, 0);
}

TEST_P(ControlledFiles, AndTheirEndsAreAmongTheMessages) {
    auto program = start();
    ASSERT_TRUE(record(*program, "raw", "a.raw").ok());
    ASSERT_TRUE(writes(*program, "raw"));
    ASSERT_TRUE(program->ask("stop", {{"what", "raw"}}).ok());
    EXPECT_TRUE(tells(*program, " frames to out/a.raw.")) << program->ask("messages").json;
    ASSERT_TRUE(record(*program, "results", "b.tiff").ok());
    ASSERT_TRUE(writes(*program, "results"));
    std::filesystem::remove(folder_ / "out/b.tiff");
    ASSERT_TRUE(runs_none(*program));
    EXPECT_TRUE(tells(*program, "was removed")) << program->ask("messages").json;
    const Answer stopped = program->ask("stop", {{"what", "results"}});
    EXPECT_NE(stopped.error().find("was removed"), std::string::npos) << stopped.json;
    EXPECT_EQ(program->quit().status, 1) << "a recording has failed";
}

TEST_P(ControlledFiles, OfTheScreenShowTheViewAsItIsSet) {
    auto program = start({"--view", "colormap=inferno", "--stage", "flip"});
    const auto five_more_come = [&] {
        const Answer now = program->ask("frame");
        return now.ok() && program->ask("frame", {{"after", now.json["sequence"].get<int>() + 5}}).ok();
    };
    for (const char* name : {"before.png", "after.png"}) {
        ASSERT_TRUE(record(*program, "screen", name).ok());
        ASSERT_TRUE(five_more_come());
        if (std::string(name) == "after.png") {
            ASSERT_TRUE(program->ask("set_view", {{"key", "colormap"}, {"value", "grey"}}).ok());
            ASSERT_TRUE(five_more_come());
        }
        const Answer stopped = program->ask("stop", {{"what", "screen"}});
        ASSERT_TRUE(stopped.ok()) << stopped.error();
    }
    EXPECT_EQ(program->quit().status, 0);
    EXPECT_TRUE(test::python(folder_, R"py(
import cv2
before, after = (cv2.imread(f'out/{name}.png').astype(int) for name in ('before', 'after'))
assert (before[..., 0] != before[..., 2]).any()
assert (after[..., 0] == after[..., 2]).all() and (after[..., 0] == after[..., 1]).all() and after.max() > 0
)py")) << read_text(folder_ / "python.log");
}

#ifdef SPECKLESCOPE_HAVE_EGL
INSTANTIATE_TEST_SUITE_P(Faces, ControlledFiles, testing::Values("run", "window"),
                         [](const auto& face) { return std::string(face.param); });

/// Each image has its own recording, with the file, the state and the end that its name selects.
TEST_P(ControlledFiles, FurtherImagesAreRecordedAtTheSameTime) {
    auto program = start({"--stage", "speckle:radius=2,also=contrast+mean"});
    const auto named = [](const char* image, Json more) {
        more["output"] = image;
        return more;
    };
    const Json results = {{"what", "results"}};
    ASSERT_TRUE(record(*program, "results", "flow.tiff").ok());
    for (const std::string image : {"contrast", "mean"}) {
        const Json wanted = named(image.c_str(), {{"what", "results"}, {"file", image + ".tiff"}});
        const Answer begun = program->ask("record", wanted);
        ASSERT_TRUE(begun.ok()) << begun.error();
        EXPECT_EQ(program->ask("record", wanted).json["kind"], "usage") << "it runs";
    }
    for (const Json& wrong : {named("bfi", {{"what", "results"}, {"file", "b.tiff"}}),
                              named("mean", {{"what", "raw"}, {"file", "r.tiff"}})})
        EXPECT_EQ(program->ask("record", wrong).json["kind"], "usage") << wrong;
    ASSERT_TRUE(eventually([&] {
        const Json all = program->ask("get").json["recordings"];
        return all.size() == 3 && all[0]["written"] > 2 && all[1]["written"] > 2 && all[2]["written"] > 2;
    }));
    std::set<std::string> outputs;
    const Json running = program->ask("get").json["recordings"];
    for (const Json& one : running)
        outputs.insert(one.value("output", ""));
    EXPECT_EQ(outputs, (std::set<std::string>{"", "contrast", "mean"}));
    EXPECT_EQ(program->ask("stop", results).json["files"], Json::array({"out/flow.tiff"}));
    EXPECT_EQ(program->ask("stop", results).json["kind"], "usage") << "two run";
    EXPECT_EQ(program->ask("stop", named("mean", results)).json["files"], Json::array({"out/mean.tiff"}));
    EXPECT_EQ(program->ask("stop", results).json["files"], Json::array({"out/contrast.tiff"}))
        << "the only one";
    EXPECT_EQ(program->ask("stop", named("mean", results)).json["kind"], "usage") << "it was reported";
    EXPECT_TRUE(runs_none(*program));
    const Answer saved = program->ask("snapshot", named("mean", {{"file", "one.tiff"}}));
    EXPECT_TRUE(saved.ok()) << saved.error();
    EXPECT_EQ(program->ask("snapshot", named("bfi", {{"file", "none.tiff"}})).json["kind"], "usage");
    EXPECT_EQ(program->quit().status, 0);
    EXPECT_TRUE(test::python(folder_, R"(import numpy as np, tifffile
flow, contrast, mean, one = (tifffile.imread(f"out/{name}.tiff") for name in ("flow", "contrast", "mean", "one"))
assert contrast[0].max() < 2 and one.shape == mean[0].shape and one.min() > 20 and mean.min() > 20
assert not (set(m.tobytes() for m in mean) & set(f.tobytes() for f in flow))
)")) << test::read_file(folder_ / "python.log");
}

class ControlledActions : public testing::Test {
protected:
    void SetUp() override {
        for (const char* name : {"here", "out"})
            std::filesystem::create_directory(folder_ / name);
    }
    std::unique_ptr<ControlledRun> start(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"synthetic:vessels?width=64&height=48&rate=30"};
        words.insert(words.end(), more.begin(), more.end());
        auto made = std::make_unique<ControlledRun>(words, folder_ / "here", "zmq://127.0.0.1:0",
                                                    test::offscreen_window());
        made->client->wait_no_longer_than(100'000);
        return made;
    }
    TemporaryFolder folder_;
};

TEST_F(ControlledActions, AboutFilesAreRefusedWithoutAFolder) {
    auto program = start();
    ASSERT_TRUE(program->ask("set_regions", {{"regions", kBox}}).ok());
    ASSERT_TRUE(program->ask("frame").ok());
    int about_files = 0;
    for (const ActionInfo& action : actions()) {
        if (action.action == Action::quit)
            continue;
        const Answer answer = program->ask("act", {{"action", action.name}});
        const bool refused = answer.error().find("--control-folder") != std::string::npos;
        EXPECT_EQ(refused, action.files != ActionFiles::none) << action.name << ": " << answer.json;
        about_files += refused ? 1 : 0;
    }
    EXPECT_EQ(about_files, 13);
    ASSERT_TRUE(program->ask("frame").ok());
    EXPECT_EQ(program->quit().status, 0);
    EXPECT_TRUE(names_in(folder_ / "here").empty()) << names_in(folder_ / "here").front();
}

TEST_F(ControlledActions, ThatCannotBeDoneAreRefusedAtOnce) {
    auto program = start({"--control-folder", "../out"});
    ASSERT_TRUE(program->ask("frame").ok());
    const Answer refused = program->ask("act", {{"action", "record_traces"}});
    EXPECT_FALSE(refused.ok());
    EXPECT_NE(refused.error().find("There are no regions whose traces could be recorded"), std::string::npos)
        << refused.json;
    ASSERT_TRUE(program->ask("set_regions", {{"regions", kBox}}).ok());
    EXPECT_TRUE(program->ask("act", {{"action", "record_traces"}}).ok());
    ASSERT_TRUE(program->ask("set_regions", {{"regions", Json::array()}}).ok());
    EXPECT_TRUE(program->ask("act", {{"action", "record_traces"}}).ok()) << "what runs can be ended";
    EXPECT_TRUE(eventually([&] { return program->ask("get").json["recordings"].empty(); }));
    EXPECT_EQ(program->quit().status, 0);
    EXPECT_EQ(names_in(folder_ / "out").size(), 1U);
}

TEST_F(ControlledActions, AboutFilesWriteIntoTheirFolder) {
    auto program = start({"--control-folder", "../out"});
    ASSERT_TRUE(program->ask("set_regions", {{"regions", kBox}}).ok());
    ASSERT_TRUE(program->ask("frame").ok());
    for (const char* action : {"snapshot", "report", "record", "record_raw", "record_traces"}) {
        const Answer answer = program->ask("act", {{"action", action}});
        EXPECT_TRUE(answer.ok()) << answer.error();
    }
    ASSERT_TRUE(eventually([&] {
        const Json all = program->ask("get").json["recordings"];
        return all.size() == 3 && all[0]["written"] > 2 && all[1]["written"] > 2;
    }));
    EXPECT_TRUE(eventually([&] {
        const std::string said = program->ask("messages").json.dump();
        return said.find("Snapshot saved as ../out/") != std::string::npos &&
               said.find("Report saved as ../out/") != std::string::npos;
    })) << program->ask("messages").json;
    EXPECT_EQ(program->quit().status, 0);
    EXPECT_TRUE(names_in(folder_ / "here").empty()) << names_in(folder_ / "here").front();
    EXPECT_GE(names_in(folder_ / "out").size(), 7U);
}
#else
INSTANTIATE_TEST_SUITE_P(Faces, ControlledFiles, testing::Values("run"),
                         [](const auto& face) { return std::string(face.param); });
#endif

} // namespace specklescope::control_files_test
