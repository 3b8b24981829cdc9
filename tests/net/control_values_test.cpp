// Several values of a stage in one request: all of them take effect with the same result, or none.
#include "have_egl.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"

namespace specklescope::control_values_test {

using test::Answer;
using test::ControlClient;
using test::ControlledRun;
using test::eventually;
using test::Json;

/// In a run, or in a window without a display.
class ControlledValues : public testing::TestWithParam<const char*> {
protected:
    std::unique_ptr<ControlledRun> start(std::vector<std::string> more) const {
        more.insert(more.begin(), test::kScene);
        const bool run = std::string(GetParam()) == "run";
        auto made = std::make_unique<ControlledRun>(
            std::move(more), folder_.path().string(), "zmq://127.0.0.1:0",
            run ? std::vector<std::string>{test::program_path(), "run"} : test::offscreen_window());
        made->client->wait_no_longer_than(100'000);
        return made;
    }
    const TemporaryFolder folder_;
};

TEST_P(ControlledValues, OfAnotherKindAreRefused) {
    auto program = start({"--stage", "speckle:radius=4"});
    for (const char* text :
         {R"({"output":"sfi","radius":[5]})", R"({"output":"sfi","radius":null})", "{}", "5"}) {
        const Answer refused =
            program->ask("set_values", {{"stage", "speckle"}, {"values", Json::parse(text)}});
        EXPECT_FALSE(refused.ok()) << text;
        EXPECT_EQ(refused.json.value("kind", ""), "usage");
        EXPECT_NE(refused.error().find("values"), std::string::npos) << refused.error();
    }
    EXPECT_EQ(program->ask("get", {{"stage", "speckle"}, {"key", "radius"}}).json["value"], 4);
    EXPECT_EQ(program->quit().status, 0);
}

/// Each value alone would exceed the image.
TEST_P(ControlledValues, ThatOnlyFitTogetherAreSet) {
    auto program = start({"--stage", "crop:x=0,width=32"});
    for (const char* text : {R"({"x":56,"width":8})", R"({"x":0,"width":64})"}) {
        const Json values = Json::parse(text);
        const Answer set = program->ask("set_values", {{"stage", "crop"}, {"values", values}});
        ASSERT_TRUE(set.ok()) << set.error();
        const Answer frame = program->ask("frame", {{"version", set.json["version"]}});
        ASSERT_TRUE(frame.ok()) << frame.error();
        EXPECT_EQ(frame.json["image"]["width"], values["width"]);
    }
    EXPECT_EQ(program->quit().status, 0);
}

/// A result never combines the values of two clients.
TEST_P(ControlledValues, OfTwoClientsDoNotMingle) {
    auto program = start({"--stage", "speckle:radius=1"});
    ControlClient other(program->address);
    for (int i = 0; i < 20; ++i) {
        const auto ask = [](const char* output, int radius) {
            return Json{{"request", "set_values"},
                        {"stage", "speckle"},
                        {"values", {{"output", output}, {"radius", radius}}}};
        };
        other.only_ask(ask("sfi", 2).dump());
        const Answer mine = program->client->ask(ask("contrast", 3));
        ASSERT_TRUE(mine.ok()) << mine.error();
        const Answer frame = program->ask("frame", {{"version", mine.json["version"]}});
        const auto chain = frame.json["chain"].get<std::string>();
        EXPECT_EQ(chain.find("radius=3") != std::string::npos,
                  chain.find("output=contrast") != std::string::npos)
            << chain;
        ASSERT_TRUE(eventually([&] { return other.is_answered(); }));
    }
    EXPECT_EQ(program->quit().status, 0);
}

#ifdef SPECKLESCOPE_HAVE_EGL
INSTANTIATE_TEST_SUITE_P(Faces, ControlledValues, testing::Values("run", "window"),
                         [](const auto& face) { return std::string(face.param); });
#else
INSTANTIATE_TEST_SUITE_P(Faces, ControlledValues, testing::Values("run"),
                         [](const auto& face) { return std::string(face.param); });
#endif

} // namespace specklescope::control_values_test
