// An edit by a request takes effect from its version on, or its refusal is reported. A waiting client does
// not delay others.
#include "session/requests.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/idle_host.hpp"

namespace specklescope::control_edits_test {

using test::Answer;
using test::ControlClient;
using test::ControlledRun;
using test::ControlTest;
using test::eventually;
using test::Json;

constexpr const char* kNoDark = "background:dark=file,dark_file=/nowhere/dark.tiff";

TEST_F(ControlTest, AnEditOfAChainThatIsRefusedChangesNoOther) {
    auto program = run({"--stage", "average:frames=4", "--stage", "speckle:radius=2"});
    const Answer wanted =
        program->ask("set_chain", {{"chain", std::string("temporal:frames=25 | ") + kNoDark}});
    const Answer set = program->ask("set", {{"stage", "temporal"}, {"key", "frames"}, {"value", 60}});
    ASSERT_TRUE(wanted.ok()) << wanted.error();
    const Answer refused = program->ask("frame", {{"version", wanted.json["version"]}});
    EXPECT_FALSE(refused.ok());
    EXPECT_NE(refused.error().find("/nowhere/dark.tiff"), std::string::npos) << refused.error();
    if (set.ok()) { // requested before the refusal was known
        const Answer of_it = program->ask("frame", {{"version", set.json["version"]}});
        EXPECT_FALSE(of_it.ok());
        EXPECT_NE(of_it.error().find("/nowhere/dark.tiff"), std::string::npos) << of_it.error();
    } else {
        EXPECT_NE(set.error().find("temporal"), std::string::npos) << set.error();
    }
    ASSERT_TRUE(eventually([&] {
        const Answer got = program->ask("get", {{"stage", 0}, {"key", "frames"}});
        return got.ok() && got.json["value"] == 4;
    })) << "what was refused is not what is";
    const Answer frame = program->ask("frame");
    EXPECT_NE(frame.json["chain"].get<std::string>().find("average:frames=4"), std::string::npos)
        << frame.json["chain"];
    const Answer next = program->ask("set", {{"stage", "average"}, {"key", "frames"}, {"value", 8}});
    ASSERT_TRUE(next.ok()) << next.error();
    const Answer with = program->ask("frame", {{"version", next.json["version"]}});
    ASSERT_TRUE(with.ok()) << with.error();
    EXPECT_NE(with.json["chain"].get<std::string>().find("average:frames=8"), std::string::npos);
    EXPECT_FALSE(program->ask("frame", {{"version", wanted.json["version"]}}).ok())
        << "later versions do not make it one that was";
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, WhatIsRefusedTakesNothingOfWhatElseIsAskedForAway) {
    auto program = run({"--stage", "average:frames=4"});
    ASSERT_TRUE(program->ask("set_chain", {{"chain", kNoDark}}).ok());
    const Answer chain = program->ask("set_chain", {{"chain", "flip | gamma:gamma=0.5"}});
    ASSERT_TRUE(chain.ok());
    const Answer set = program->ask("set", {{"stage", "gamma"}, {"key", "gamma"}, {"value", 2.0}});
    ASSERT_TRUE(set.ok()) << set.error();
    const Answer bypassed = program->ask("bypass", {{"stage", "flip"}});
    ASSERT_TRUE(bypassed.ok()) << bypassed.error();
    const Answer frame = program->ask("frame", {{"version", bypassed.json["version"]}});
    ASSERT_TRUE(frame.ok()) << frame.error();
    const auto text = frame.json["chain"].get<std::string>();
    EXPECT_NE(text.find("gamma=2"), std::string::npos) << text;
    EXPECT_NE(text.find("bypass"), std::string::npos) << text;
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, AMarkIsNotHeldUpByWhatAnotherWaitsFor) {
    auto program = run();
    ControlClient waits(program->address);
    waits.only_ask(R"({"request":"frame","version":1000000})");
    for (int i = 0; i < 30; ++i) { // it has been read long ago
        const Answer before = program->ask("frame");
        const Answer marked = program->ask("mark", {{"label", "stimulus"}});
        ASSERT_TRUE(before.ok() && marked.ok()) << before.error() << marked.error();
        const Answer after = program->ask("frame", {{"after", marked.json["sequence"]}});
        ASSERT_TRUE(after.ok()) << after.error();
        EXPECT_GE(marked.json["sequence"], before.json["sequence"]);
        ASSERT_FALSE(waits.is_answered()) << "it would have been waited for";
    }
    EXPECT_EQ(program->quit().status, 0);
}

/// Counts the requested pixels.
class CountingHost final : public test::IdleHost {
public:
    std::optional<Result> newest(bool pixels) override {
        with_pixels += pixels ? 1 : 0;
        Result result;
        result.info.sequence = sequence;
        result.raw = result.image = pixels_;
        return result;
    }
    std::uint64_t sequence = 5;
    int with_pixels = 0;

private:
    FrameRing ring_{{4, 3, 1, PixelType::u8}, 1, host_memory()};
    Frame pixels_ = ring_.try_acquire();
};

TEST(ControlFrame, BringsNoPixelsBeforeTheFrameIsThere) {
    CountingHost host;
    const ControlWork work = read_request(R"({"request":"frame","after":10})", host.session, host);
    for (; host.sequence <= 10; ++host.sequence)
        EXPECT_FALSE(work());
    EXPECT_EQ(host.with_pixels, 0);
    const std::optional<ControlReply> reply = work();
    ASSERT_TRUE(reply);
    EXPECT_EQ(Json::parse(reply->text)["sequence"], 11);
    EXPECT_EQ(reply->frames.size(), 1U);
    EXPECT_EQ(host.with_pixels, 1);
}

} // namespace specklescope::control_edits_test
