// A window without a display that is controlled by a script: it opens other sources, and stays open when
// they end.
#include "have_egl.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

namespace specklescope::control_open_test {

using test::Answer;
using test::ControlledRun;
using test::eventually;
using test::Json;

#ifdef SPECKLESCOPE_HAVE_EGL

const std::string kCamera = "synthetic:vessels?width=64&height=48&rate=30";
constexpr int kFrames = 20;

class ControlledWindow : public testing::Test {
protected:
    void SetUp() override {
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=32&height=24&live=false", "--frames",
                         std::to_string(kFrames), "--record-raw", "film.tiff", "--stage", "flip"},
                        here());
        ASSERT_EQ(made.status, 0) << made.all();
    }
    std::string here() const { return folder_.path().string(); }
    static std::vector<std::string> window() {
        return {"env",
                "LIBGL_ALWAYS_SOFTWARE=1",
                test::program_path(),
                "view",
                "--offscreen",
                "--view",
                "width=640",
                "--view",
                "height=480"};
    }
    std::unique_ptr<ControlledRun> view(std::vector<std::string> words) const {
        auto made = std::make_unique<ControlledRun>(std::move(words), here(), "zmq://127.0.0.1:0", window());
        made->client->wait_no_longer_than(100'000);
        return made;
    }
    static Answer open(ControlledRun& program, const std::string& source, Json more = Json::object()) {
        more["source"] = source;
        return program.ask("open", more);
    }
    TemporaryFolder folder_;
};

TEST_F(ControlledWindow, OpensAnotherSourceWithTheSettingsThatItWasMadeWith) {
    const auto program = view({kCamera, "--stage", "speckle"});
    const Answer opened = open(*program, "film.tiff");
    ASSERT_TRUE(opened.ok()) << opened.error();
    EXPECT_EQ(opened.json["source"], "film.tiff");
    EXPECT_EQ(opened.json["length"], kFrames);
    EXPECT_EQ(opened.json["live"], false);
    EXPECT_EQ(opened.json["chain"].get<std::string>().find("speckle"), std::string::npos);
    EXPECT_NE(opened.json["chain"].get<std::string>().find("flip"), std::string::npos);
    const Answer frame = program->ask("frame");
    ASSERT_TRUE(frame.ok()) << frame.error();
    EXPECT_EQ(frame.json["image"]["width"], 32) << "of the new source, not the last one of that before";

    ASSERT_TRUE(program->ask("set_chain", {{"chain", "gamma:gamma=0.5"}}).ok());
    ASSERT_TRUE(open(*program, kCamera).ok());
    const Answer as_set = open(*program, "film.tiff", {{"recorded", false}});
    ASSERT_TRUE(as_set.ok()) << as_set.error();
    EXPECT_NE(as_set.json["chain"].get<std::string>().find("gamma"), std::string::npos) << as_set.json;
    const Answer again = open(*program, "film.tiff");
    EXPECT_TRUE(again.ok()) << "the same once more: " << again.error();
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlledWindow, WhatCannotBeOpenedIsSaidAsOnTheCommandLineAndChangesNothing) {
    const auto program = view({kCamera});
    for (const char* source : {"missing.tiff", "nothing:x", "synthetic:vessels?width=-1", "film.tiff?rat=5",
                               "synthetic:nowhere"}) {
        std::vector<std::string> words = window();
        words.insert(words.end(), {source, "--control", "zmq://127.0.0.1:0"});
        const ChildResult line = run_child(words, here());
        const Answer answer = open(*program, source);
        EXPECT_FALSE(answer.ok()) << source;
        EXPECT_EQ(answer.json["kind"], line.status == 2 ? "usage" : "run") << source;
        EXPECT_NE(line.err.find("specklescope: " + answer.error() + "\n"), std::string::npos)
            << answer.error() << "\n"
            << line.all();
    }
    const Answer got = program->ask("get");
    EXPECT_EQ(got.json["source"], kCamera);
    EXPECT_TRUE(program->ask("frame", {{"after", got.json["frame"]["sequence"]}}).ok()) << "it goes on";
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlledWindow, AStrangersTextRunsNothingSendsNothingAndPrintsNoPassword) {
    const auto program = view({kCamera});
    for (const char* source : {"gst:videotestsrc ! tee ! filesink location=stolen", "gst:videotestsrc",
                               "rtsp://127.0.0.1:1/${env:HOME}", "film.tiff?rate=${env:HOME}"}) {
        const Answer answer = open(*program, source);
        EXPECT_EQ(answer.json["kind"], "usage") << source;
        EXPECT_NE(answer.error().find("--trust"), std::string::npos) << answer.error();
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "stolen"));
    const Answer failed = open(*program, "rtsp://me:hunter2@127.0.0.1:1/flow");
    EXPECT_FALSE(failed.ok());
    EXPECT_NE(failed.error().find("rtsp://me:***@127.0.0.1:1/flow"), std::string::npos) << failed.error();
    for (const Answer& answer :
         {failed, program->ask("get"), program->ask("messages"), program->ask("stats")})
        EXPECT_EQ(answer.json.dump().find("hunter2"), std::string::npos) << answer.json;
    const ChildResult end = program->quit();
    EXPECT_EQ(end.status, 0) << end.all();
    EXPECT_EQ(end.all().find("hunter2"), std::string::npos) << end.all();
}

TEST_F(ControlledWindow, WithTrustGstTextsAreOpened) {
    const auto program = view({kCamera, "--trust"});
    const Answer opened = open(*program, "gst:videotestsrc is-live=true ! video/x-raw,width=48,height=32");
    ASSERT_TRUE(opened.ok()) << opened.error();
    EXPECT_EQ(program->ask("frame").json["image"]["width"], 48);
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlledWindow, StaysAtTheEndOfItsFileUntilItIsToldToQuit) {
    const auto program = view({"film.tiff?rate=200", "--stage", "none", "--screenshot", "s.png"});
    const auto is_at = [&](int frame) {
        const Json got = program->ask("get").json;
        return got.contains("frame") && got["frame"].value("position", -1) == frame;
    };
    ASSERT_TRUE(
        eventually([&] { return program->ask("get").json["state"] == "ended" && is_at(kFrames - 1); }));
    const Answer set = program->ask("set_chain", {{"chain", "gamma:gamma=0.5"}});
    ASSERT_TRUE(set.ok()) << set.error();
    EXPECT_TRUE(program->ask("frame", {{"version", set.json["version"]}}).ok()) << "its last picture, again";
    ASSERT_TRUE(program->ask("pause").ok());
    ASSERT_TRUE(program->ask("seek", {{"frame", 3}}).ok());
    EXPECT_TRUE(eventually([&] { return is_at(3); }));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "s.png")) << "it is written at the end";
    const ChildResult end = program->quit();
    EXPECT_EQ(end.status, 0) << end.all();
    EXPECT_TRUE(std::filesystem::exists(folder_ / "s.png"));
}

#endif

} // namespace specklescope::control_open_test
