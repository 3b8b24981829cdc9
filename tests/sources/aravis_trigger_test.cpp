// Software triggers over the real protocol: with aravis' fake camera as far as possible, otherwise with
// tests/sources/gige_camera.py. Each is answered by a frame or counted.
#include "pipeline/pipeline.hpp"

#include "tests/sources/camera_tests.hpp"

namespace aravis_trigger_test {

using namespace specklescope;
using namespace specklescope::test;

TEST_F(FakeTrigger, TenThousandSoftwareTriggersAreAllAccountedFor) {
    constexpr std::uint64_t kTriggers = 10000;
    const auto source = camera(kName, {{"trigger", "software"},
                                       {"rate", "1000"},
                                       {"trigger-rate", "400"},
                                       {"triggers", std::to_string(kTriggers)},
                                       {"exposure", "1"},
                                       {"width", "128"},
                                       {"height", "96"}});
    const SourceInfo info = source->open();
    EXPECT_TRUE(info.patient);
    EXPECT_EQ(info.rate, 400);
    EXPECT_EQ(info.clock, "camera");
    TestPort port(false);
    ASSERT_TRUE(read_frames(*source, port)) << "it ends behind the last";
    std::cout << port.frames.size() << " came\n";
    EXPECT_EQ(port.frames.size() + reasons(port), kTriggers);
    EXPECT_EQ(port.next_sequence, kTriggers) << "the numbers have a gap for each that was lost";
    EXPECT_GT(port.frames.size(), 0U);
    for (std::size_t i = 1; i < port.frames.size(); ++i)
        ASSERT_GT(port.frames[i].info.capture_ns, port.frames[i - 1].info.capture_ns);
}

TEST_F(FakeTrigger, ACameraThatDiesBetweenTriggersLosesNoneOfTheCount) {
    constexpr std::uint64_t kTriggers = 600;
    const auto source = camera(kName, {{"trigger", "software"},
                                       {"rate", "1000"},
                                       {"trigger-rate", "100"},
                                       {"triggers", std::to_string(kTriggers)},
                                       {"width", "128"},
                                       {"height", "96"}});
    source->open();
    TestPort port(false);
    ASSERT_TRUE(read_frames(*source, port, 50));
    device_->kill_it();
    EXPECT_NE(sentence([&] {
                  while (source->next(port) != Source::Status::end) {
                  }
              }).find("The camera "),
              std::string::npos);
    source->close();
    device_ = std::make_unique<FakeCamera>("GV01");
    const auto died = SteadyClock::now();
    bool opened = false;
    while (!opened && SteadyClock::now() - died < std::chrono::seconds(120)) { // like the pipeline
        try {
            source->open();
            opened = true;
        } catch (const RunError&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
        }
    }
    ASSERT_TRUE(opened);
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size() + reasons(port), kTriggers);
    EXPECT_EQ(port.next_sequence, kTriggers);
    EXPECT_GT(port.lost_because["were triggered when the camera was disconnected"], 0U);
    for (std::size_t i = 1; i < port.frames.size(); ++i)
        ASSERT_GT(port.frames[i].info.capture_ns, port.frames[i - 1].info.capture_ns);
}

// This camera answers every trigger, possibly late.
TEST_F(GigeCamera, TenThousandSoftwareTriggersAreTenThousandFrames) {
    constexpr std::uint64_t kTriggers = 10000;
    start({"--first-id", "60000"});
    const auto source = camera(
        kName, {{"trigger", "software"}, {"trigger-rate", "500"}, {"triggers", std::to_string(kTriggers)}});
    source->open();
    TestPort port(false);
    ASSERT_TRUE(read_frames(*source, port));
    std::cout << port.frames.size() << " came\n";
    EXPECT_EQ(port.frames.size() + reasons(port), kTriggers);
    EXPECT_EQ(port.next_sequence, kTriggers);
    source->close();
    const nlohmann::json did = report();
    EXPECT_EQ(did["triggers"], kTriggers);
    EXPECT_EQ(did["sent"], kTriggers);
    EXPECT_GT(port.frames.size(), kTriggers * 9 / 10);
}

TEST_F(GigeCamera, UnansweredTriggersAreCountedAndTheRunEnds) {
    start({"--ignore", "7", "--skip", "11", "--lose", "13", "--first-id", "65300"});
    const auto source =
        camera(kName, {{"trigger", "software"}, {"trigger-rate", "100"}, {"triggers", "500"}});
    source->open();
    TestPort port(false);
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size() + reasons(port), 500U);
    EXPECT_EQ(port.next_sequence, 500U);
    source->close();
    const nlohmann::json did = report();
    EXPECT_EQ(did["triggers"], 500);
    EXPECT_EQ(did["ignored"], 500 / 7);
    EXPECT_EQ(did["sent"], port.frames.size());
    EXPECT_EQ(port.lost_because["came without some of their packets"], did["broken"]);
    EXPECT_EQ(port.lost_because["were triggered, and the camera did not answer"] +
                  port.lost_because["are missing in the camera's own count"],
              did["ignored"].get<std::uint64_t>() + did["skipped"].get<std::uint64_t>());
}

TEST_F(GigeCamera, ALateAnswerIsCountedOnce) {
    start({"--late", "2:4"});
    const auto source = camera(kName, {{"trigger", "software"}});
    source->open();
    TestPort port(false);
    for (std::int64_t pressed = 1; pressed <= 3; ++pressed) {
        source->set("fire", pressed);
        read_all(*source, port, std::chrono::seconds(pressed == 2 ? 6 : 1));
    }
    source->close();
    EXPECT_EQ(report()["sent"], 3);
    EXPECT_EQ(port.frames.size(), 2U);
    EXPECT_EQ(port.frames.size() + reasons(port), 3U);
    EXPECT_EQ(port.next_sequence, 3U);
}

// Two frames are missing before the last: one of them answers a trigger that was already counted as lost, the
// other does not.
TEST_F(GigeCamera, MissingFramesOfTimedOutTriggersAreNotCountedTwice) {
    start({"--hide", "2:3"});
    const auto source = camera(kName, {{"trigger", "software"}});
    source->open();
    TestPort port(false);
    source->set("fire", std::int64_t{1});
    ASSERT_TRUE(read_frames(*source, port, 1));
    source->set("fire", std::int64_t{2});
    read_all(*source, port, std::chrono::seconds(4)); // two seconds beyond its timeout
    EXPECT_EQ(port.lost_because["were triggered, and the camera did not answer"], 1U);
    source->set("fire", std::int64_t{3});
    source->set("fire", std::int64_t{4});
    ASSERT_TRUE(read_frames(*source, port, 2));
    source->close();
    const nlohmann::json did = report();
    EXPECT_EQ(did["triggers"], 4);
    EXPECT_EQ(did["skipped"], 2);
    EXPECT_EQ(reasons(port), 2U);
    EXPECT_EQ(port.lost_because["are missing in the camera's own count"], 1U);
    EXPECT_EQ(port.next_sequence, 4U);
}

// Whether it reconnects or not.
TEST_F(GigeCamera, PendingTriggersAreCountedWhenItDisconnects) {
    start({"--ignore", "1"});
    const auto source = camera(kName, {{"trigger", "software"}});
    source->open();
    TestPort port(false);
    for (std::int64_t pressed = 1; pressed <= 3; ++pressed)
        source->set("fire", pressed);
    for (int i = 0; i < 3; ++i)
        source->next(port);
    device_->kill_it();
    EXPECT_NE(sentence([&] {
                  for (std::int64_t pressed = 4;; ++pressed) {
                      source->set("fire", pressed);
                      while (source->next(port) != Source::Status::end) {
                      }
                  }
              }).find("The camera "),
              std::string::npos);
    EXPECT_EQ(port.frames.size(), 0U);
    const std::uint64_t counted = reasons(port);
    EXPECT_GE(counted, 3U);
    EXPECT_EQ(port.next_sequence, counted);
    source->close();
}

TEST_F(GigeCamera, FiresOnRequestAndOncePerRequest) {
    start({});
    const auto source = camera(kName, {{"trigger", "software"}});
    source->open();
    TestPort port(false);
    read_all(*source, port, std::chrono::milliseconds(300));
    EXPECT_TRUE(port.frames.empty());
    for (std::int64_t pressed = 1; pressed <= 3; ++pressed) {
        source->set("fire", pressed);
        EXPECT_TRUE(read_frames(*source, port, static_cast<std::size_t>(pressed)));
    }
    source->close();
    EXPECT_EQ(report()["triggers"], 3);
    EXPECT_EQ(port.frames.size(), 3U);
}

TEST_F(GigeCamera, TriggersBeginAndEndWithARecording) {
    start({});
    const auto source =
        camera(kName, {{"trigger", "software"}, {"trigger-rate", "50"}, {"trigger-start", "record"}});
    source->open();
    TestPort port(false);
    read_all(*source, port, std::chrono::milliseconds(300));
    EXPECT_TRUE(port.frames.empty());
    source->recording(true);
    EXPECT_TRUE(read_frames(*source, port, 10));
    source->recording(false);
    read_all(*source, port, std::chrono::milliseconds(500));
    const std::size_t then = port.frames.size();
    source->close();
    EXPECT_EQ(report()["triggers"], then);
}

// The watchdog for silent cameras accepts one that waits for a trigger.
TEST_F(GigeCamera, ACameraThatWaitsForATriggerIsNotDead) {
    start({});
    PipelineOptions options;
    options.silence_s = 0.2;
    Pipeline pipeline(camera(kName, {{"trigger", "software"}}), Chain(), options);
    pipeline.start();
    const auto wait = [&](std::uint64_t frames) {
        const auto begin = SteadyClock::now();
        while (pipeline.stats().frames.processed < frames &&
               SteadyClock::now() - begin < std::chrono::seconds(30))
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return pipeline.stats().frames.processed;
    };
    std::this_thread::sleep_for(std::chrono::seconds(1)); // five times the timeout
    pipeline.edit_source("fire", std::int64_t{1});
    EXPECT_EQ(wait(1), 1U);
    EXPECT_EQ(pipeline.stats().away.reopened, 0U);
    pipeline.stop();
}

} // namespace aravis_trigger_test
