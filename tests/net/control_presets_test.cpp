// Presets and events by request: the same effect as the window's buttons.
#include "config/presets/preset_file.hpp"
#include "have_egl.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"

namespace specklescope::control_presets_test {

using test::Answer;
using test::ControlledRun;
using test::eventually;
using test::Json;

/// In a run, or in a window without a display.
class ControlledPresets : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { std::filesystem::create_directory(folder_ / "out"); }
    std::unique_ptr<ControlledRun> start(const std::vector<std::string>& more = {"--control-folder",
                                                                                 "out"}) const {
        std::vector<std::string> words = {"synthetic:vessels?width=64&height=48&rate=60"};
        words.insert(words.end(), more.begin(), more.end());
        const bool run = std::string(GetParam()) == "run";
        auto made = std::make_unique<ControlledRun>(
            std::move(words), folder_.path().string(), "zmq://127.0.0.1:0",
            run ? std::vector<std::string>{test::program_path(), "run"} : test::offscreen_window());
        made->client->wait_no_longer_than(100'000);
        EXPECT_TRUE(made->ask("frame").ok());
        return made;
    }
    static std::string chain_of(ControlledRun& program) { return program.ask("get").json.value("chain", ""); }
    static Json listed(ControlledRun& program, const std::string& name) {
        const Json answer = program.ask("presets").json;
        for (const Json& one : answer["presets"])
            if (one["name"] == name)
                return one;
        return {};
    }
    TemporaryFolder folder_;
};

TEST_P(ControlledPresets, AreListedAndTakeEffect) {
    auto program = start();
    const Json all = program->ask("presets").json["presets"];
    EXPECT_EQ(all.size(), compiled_presets().size()) << all;
    EXPECT_EQ(listed(*program, "raw")["from"], "program");
    EXPECT_FALSE(listed(*program, "raw")["doc"].get<std::string>().empty());
    for (const Preset& preset : compiled_presets()) {
        const Answer taken = program->ask("load_preset", {{"name", preset.name}});
        ASSERT_TRUE(taken.ok()) << preset.name << ": " << taken.error();
        Settings wanted;
        load_preset(preset.name, wanted);
        const Answer frame = program->ask("frame", {{"version", taken.json["version"]}});
        ASSERT_TRUE(frame.ok()) << preset.name << ": " << frame.error();
        const Json got = program->ask("get").json;
        EXPECT_EQ(got["stages"].size(), wanted.chain.stages().size()) << preset.name;
        for (std::size_t i = 0; i < wanted.chain.stages().size(); ++i)
            EXPECT_EQ(got["stages"][i]["stage"], wanted.chain.stages()[i].type->name) << preset.name;
        const Json colours = std::get<std::string>(wanted.view.get("colormap"));
        EXPECT_TRUE(got["view"]["colormap"] == colours || got["view"]["image_colormap"] == colours)
            << preset.name << got["view"]; // the second one in the window, without contrast
    }
    const std::string before = chain_of(*program);
    const Answer none = program->ask("load_preset", {{"name", "flwo"}});
    EXPECT_EQ(none.json["kind"], "usage");
    EXPECT_NE(none.error().find("There is no preset 'flwo'; allowed: "), std::string::npos) << none.error();
    EXPECT_EQ(chain_of(*program), before);
    EXPECT_EQ(program->quit().status, 0);
}

TEST_P(ControlledPresets, AreSavedIntoTheFolderAloneAndComeBack) {
    auto program = start();
    ASSERT_TRUE(program->ask("set_chain", {{"chain", "flip | gamma:gamma=0.5"}}).ok());
    ASSERT_TRUE(program->ask("set_view", {{"key", "colormap"}, {"value", "viridis"}}).ok());
    Answer saved = program->ask("save_preset", {{"name", "mine"}, {"doc", "of\na test"}});
    ASSERT_TRUE(saved.ok()) << saved.error();
    EXPECT_EQ(saved.json["name"], "mine");
    EXPECT_EQ(saved.json["file"], "out/mine.toml");
    EXPECT_EQ(listed(*program, "mine")["from"], "folder");
    EXPECT_NE(listed(*program, "mine")["doc"].get<std::string>().find("a test"), std::string::npos);
    const std::string first = read_text(folder_ / "out/mine.toml"), chain = chain_of(*program);
    const Answer raw = program->ask("load_preset", {{"name", "raw"}});
    ASSERT_TRUE(raw.ok()) << raw.error();
    EXPECT_NE(chain_of(*program), chain);
    saved = program->ask("save_preset", {{"name", "mine"}});
    EXPECT_EQ(saved.json["name"], "mine-1") << "what is there stays";
    EXPECT_EQ(read_text(folder_ / "out/mine.toml"), first);
    const Answer back = program->ask("load_preset", {{"name", "mine"}});
    ASSERT_TRUE(back.ok()) << back.error();
    EXPECT_EQ(chain_of(*program), chain);
    EXPECT_EQ(program->ask("get").json["view"]["colormap"], "viridis");
    for (const char* name : {"", "../mine", "a/b", ".mine", "a b", "a.toml", "/tmp/a"}) {
        EXPECT_FALSE(program->ask("save_preset", {{"name", name}}).ok()) << name;
        EXPECT_FALSE(program->ask("load_preset", {{"name", name}}).ok()) << name;
    }
    EXPECT_EQ(names_in(folder_ / "out"), (std::vector<std::string>{"mine-1.toml", "mine.toml"}));
    EXPECT_EQ(program->quit().status, 0);
}

TEST_P(ControlledPresets, OfTheFolderAreAStrangersWord) {
    write_text(folder_ / "out/bad.toml", "record = \"/tmp/stolen.tiff\"\n");
    write_text(folder_ / "out/flow.toml", "# another one\n[[stage]]\nname = \"flip\"\n");
    write_text(folder_ / "out/large.toml", std::string(2'000'000, '#'));
    auto program = start();
    EXPECT_NE(listed(*program, "large")["doc"].get<std::string>().find("larger than 1 MiB"),
              std::string::npos);
    EXPECT_FALSE(program->ask("load_preset", {{"name", "large"}}).ok());
    const std::string before = chain_of(*program);
    const Answer bad = program->ask("load_preset", {{"name", "bad"}});
    EXPECT_NE(bad.error().find("--trust"), std::string::npos) << bad.json;
    EXPECT_EQ(chain_of(*program), before);
    EXPECT_EQ(listed(*program, "flow")["doc"], "another one") << "it hides the program's own";
    ASSERT_TRUE(program->ask("load_preset", {{"name", "flow"}}).ok());
    EXPECT_NE(chain_of(*program).find("flip"), std::string::npos);
    EXPECT_EQ(program->quit().status, 0);
}

TEST_P(ControlledPresets, AreNotSavedWithoutAFolder) {
    auto program = start({});
    const Answer refused = program->ask("save_preset", {{"name", "mine"}});
    EXPECT_NE(refused.error().find("--control-folder"), std::string::npos) << refused.json;
    EXPECT_TRUE(program->ask("load_preset", {{"name", "raw"}}).ok());
    EXPECT_EQ(program->quit().status, 0);
}

TEST_P(ControlledPresets, AndEventsAreRenamedAndTakenBack) {
    auto program = start();
    ASSERT_TRUE(program->ask("record", {{"what", "raw"}, {"file", "a.raw"}}).ok());
    ASSERT_TRUE(eventually([&] { return program->ask("get").json["recordings"][0]["written"] > 2; }));
    const Json first = program->ask("mark", {{"label", "stimulos"}}).json;
    const Json second = program->ask("mark").json;
    EXPECT_EQ(program->ask("events").json["events"].size(), 2U);
    const Answer changed = program->ask("relabel", {{"event", first["number"]}, {"label", "stimulus"}});
    ASSERT_TRUE(changed.ok()) << changed.error();
    EXPECT_EQ(changed.json["label"], "stimulus");
    EXPECT_EQ(changed.json["sequence"], first["sequence"]);
    EXPECT_FALSE(program->ask("relabel", {{"event", first["number"]}, {"label", " "}}).ok());
    const Answer gone = program->ask("unmark", {{"event", second["number"]}});
    ASSERT_TRUE(gone.ok()) << gone.error();
    EXPECT_EQ(gone.json["removed"], true);
    const Json left = program->ask("events").json["events"];
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0]["label"], "stimulus");
    for (const char* request : {"unmark", "relabel"}) {
        Json arguments = {{"event", second["number"]}};
        if (std::string(request) == "relabel")
            arguments["label"] = "x";
        EXPECT_NE(program->ask(request, arguments).error().find("There is no event 2"), std::string::npos);
    }
    const int now = program->ask("frame").json["sequence"];
    ASSERT_TRUE(program->ask("frame", {{"after", now + 3}}).ok());
    ASSERT_TRUE(program->ask("stop", {{"what", "raw"}}).ok());
    const std::string lines = read_text(folder_ / "out/a.raw.jsonl");
    EXPECT_NE(lines.find("\"stimulus\""), std::string::npos) << lines;
    EXPECT_NE(lines.find("\"removed\""), std::string::npos) << lines;
    EXPECT_EQ(program->quit().status, 0);
}

#ifdef SPECKLESCOPE_HAVE_EGL
INSTANTIATE_TEST_SUITE_P(Faces, ControlledPresets, testing::Values("run", "window"),
                         [](const auto& face) { return std::string(face.param); });
#else
INSTANTIATE_TEST_SUITE_P(Faces, ControlledPresets, testing::Values("run"),
                         [](const auto& face) { return std::string(face.param); });
#endif

} // namespace specklescope::control_presets_test
