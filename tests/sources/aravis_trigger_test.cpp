// Triggers, lines, chunks, PTP and frame numbers over the real protocol: with aravis' fake camera as far as it
// goes, with tests/sources/gige_camera.py beyond.
#include "base/error.hpp"
#include "pipeline/clock/clock_fit.hpp"
#include "pipeline/pipeline.hpp"
#include "sources/aravis/aravis_source.hpp"

#include "tests/sources/fake_camera.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>

using namespace specklescope;
using namespace specklescope::test;

namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<Source> camera(const std::string& name, Options options) {
    options.emplace_back("packet-size", "9000");
    const SourceType type = aravis_source_type();
    Params params(*type.table);
    for (const auto& [key, value] : options)
        params.set_text(key, value);
    return type.make({"aravis", name, {}}, params);
}

/// Until it answers.
bool answers(const std::string& name) {
    for (int i = 0; i < 40; ++i)
        for (const auto& [source, text] : aravis_source_type().discover())
            if (source == "aravis:" + name)
                return true;
    return false;
}

std::string sentence(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

/// Until the source has nothing for so long.
void read_all(Source& source, TestPort& port, std::chrono::milliseconds patience) {
    read_frames(source, port, static_cast<std::size_t>(-1), patience);
}

std::uint64_t reasons(const TestPort& port) {
    std::uint64_t sum = 0;
    for (const auto& [why, frames] : port.lost_because) {
        EXPECT_FALSE(why.empty());
        std::cout << frames << ' ' << why << '\n';
        sum += frames;
    }
    return sum;
}

class InNamespace : public testing::Test {
protected:
    void SetUp() override {
        if (!std::getenv("SPECKLESCOPE_IN_NAMESPACE"))
            GTEST_SKIP() << "network namespaces are not permitted here, or aravis-tools is not installed";
    }
};

/// aravis' own. It looks for a trigger once in a frame period, so that two in one of them are answered once.
class FakeTrigger : public InNamespace {
protected:
    void SetUp() override {
        InNamespace::SetUp();
        if (IsSkipped())
            return;
        device_ = std::make_unique<FakeCamera>("GV01");
        ASSERT_TRUE(answers(kName));
    }
    static constexpr const char* kName = "Aravis-Fake-GV01";
    std::unique_ptr<FakeCamera> device_;
};

/// The one in Python.
class GigeCamera : public InNamespace {
protected:
    static constexpr const char* kName = "Test-Python-GV77";
    void start(std::vector<std::string> options) {
        std::vector<std::string> command = {"/usr/bin/python3", source_folder() + "/tests/sources/gige_camera.py",
                                            "--report", report_};
        command.insert(command.end(), options.begin(), options.end());
        device_ = std::make_unique<CameraProcess>(command);
        ASSERT_TRUE(answers(kName));
    }
    /// Ends it: what it did.
    nlohmann::json report() {
        device_->end();
        std::ifstream file(report_);
        return nlohmann::json::parse(file, nullptr, false);
    }
    void TearDown() override { std::filesystem::remove(report_); }
    const std::string report_ =
        (std::filesystem::temp_directory_path() / ("gige-" + std::to_string(::getpid()) + ".json")).string();
    std::unique_ptr<CameraProcess> device_;
};

} // namespace

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
    EXPECT_GT(port.frames.size(), kTriggers / 10);
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
    while (!opened && SteadyClock::now() - died < std::chrono::seconds(120)) { // as the pipeline does
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
    EXPECT_GT(port.lost_because["were asked for by a trigger when the camera went away"], 0U);
    for (std::size_t i = 1; i < port.frames.size(); ++i)
        ASSERT_GT(port.frames[i].info.capture_ns, port.frames[i - 1].info.capture_ns);
}

TEST_F(FakeTrigger, WhatItDoesNotHaveIsNamedAndNothingIsSet) {
    const std::string line =
        sentence([&] { camera(kName, {{"trigger", "Line7"}, {"exposure", "7"}})->open(); });
    EXPECT_NE(line.find("trigger = Line7 is not possible: TriggerSource of Aravis Fake GV01 takes Line0, "
                        "Software; choose one of them."),
              std::string::npos)
        << line;
    EXPECT_NE(sentence([&] { camera(kName, {{"ptp", "on"}})->open(); })
                  .find("ptp = on needs the feature PtpEnable, which Aravis Fake GV01 does not have; leave ptp "
                        "out."),
              std::string::npos);
    EXPECT_NE(sentence([&] { camera(kName, {{"chunks", "on"}})->open(); }).find("ChunkModeActive"),
              std::string::npos);
    EXPECT_NE(sentence([&] { camera(kName, {{"output-line", "Line2"}})->open(); }).find("LineSelector"),
              std::string::npos);
    const auto free = camera(kName, {});
    EXPECT_FALSE(free->open().patient) << "it still runs freely";
    TestPort port(false);
    EXPECT_TRUE(read_frames(*free, port, 3));
}

TEST_F(InNamespace, OptionsThatContradictEachOtherAreRefusedBeforeAnyCamera) {
    EXPECT_NE(sentence([] { camera("x", {{"activation", "rising"}}); }).find("trigger=Line1"), std::string::npos);
    EXPECT_NE(sentence([] { camera("x", {{"trigger-rate", "5"}}); }).find("trigger=software"), std::string::npos);
    EXPECT_NE(sentence([] { camera("x", {{"trigger", "software"}, {"triggers", "5"}}); }).find("trigger-rate"),
              std::string::npos);
    EXPECT_NE(sentence([] { camera("x", {{"trigger", "Line1"}, {"trigger-start", "record"}}); })
                  .find("trigger=software"),
              std::string::npos);
    EXPECT_NE(sentence([] { camera("x", {})->set("fire", std::int64_t{1}); }).find("trigger=software"),
              std::string::npos);
}

TEST_F(GigeCamera, TriggersThatItDoesNotAnswerAreCountedAndTheRunEnds) {
    start({"--ignore", "7", "--skip", "11", "--lose", "13", "--first-id", "65300"});
    const auto source = camera(
        kName, {{"trigger", "software"}, {"trigger-rate", "100"}, {"triggers", "500"}});
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
    EXPECT_EQ(port.lost_because["were asked for by a trigger that the camera did not answer"] +
                  port.lost_because["are missing in the camera's own count"],
              did["ignored"].get<std::uint64_t>() + did["skipped"].get<std::uint64_t>());
}

TEST_F(GigeCamera, GapsAreCountedOverTheEndOfSixteenBitsAndInSixtyFour) {
    for (const bool wide : {false, true}) {
        std::vector<std::string> options = {"--skip", "9", "--first-id", "65500", "--rate", "200"};
        if (wide)
            options.emplace_back("--wide");
        start(options);
        const auto source = camera(kName, {});
        source->open();
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port, 120));
        const auto index = [&](std::size_t i) { return std::to_integer<unsigned>(port.frames[i].pixels[0]); };
        // The pixels tell which frame it is, whatever its number says.
        for (std::size_t i = 1; i < port.frames.size(); ++i)
            ASSERT_EQ((index(i) - index(i - 1)) % 256,
                      port.frames[i].info.sequence - port.frames[i - 1].info.sequence)
                << (wide ? "64" : "16") << " bits, frame " << i;
        EXPECT_GT(port.lost_because["are missing in the camera's own count"], 10U);
        source->close();
        report();
    }
}

TEST_F(GigeCamera, ChunksGiveEachFrameItsExposure) {
    start({});
    const auto source = camera(kName, {{"chunks", "on"}, {"exposure", "5"}});
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 50));
    for (const Delivered& frame : port.frames) {
        const unsigned index = std::to_integer<unsigned>(frame.pixels[0]);
        ASSERT_LT(index, 256U);
        ASSERT_NEAR(frame.info.exposure_ms, (5000 + index % 7) / 1000.0, 1e-9) << "frame " << index;
    }
    source->close();
    const auto plain = camera(kName, {{"chunks", "off"}});
    plain->open();
    TestPort without;
    ASSERT_TRUE(read_frames(*plain, without, 5));
    EXPECT_NEAR(without.frames.back().info.exposure_ms, 5, 1e-9) << "as it is set";
}

// 1000 ppm, so that what a busy machine adds does not matter.
TEST_F(GigeCamera, ItsClockIsFittedFromTheTimesInTheLeaders) {
    start({"--skew", "1000", "--jitter", "2"});
    const auto source = camera(kName, {});
    EXPECT_EQ(source->open().clock, "camera");
    TestPort port(false);
    ASSERT_TRUE(read_frames(*source, port, 1000));
    ClockWatch watch;
    for (const Delivered& frame : port.frames)
        watch.add(frame.info);
    const auto report = watch.report();
    ASSERT_TRUE(report);
    std::cout << to_string(*report) << '\n';
    EXPECT_NEAR(report->skew_ppm, 1000, 200);
    EXPECT_GT(port.frames[0].info.capture_ns, 5'000'000'000) << "as the camera counts, not as we do";
}

TEST_F(GigeCamera, PtpIsSwitchedOnAndItsStateIsTold) {
    start({});
    EXPECT_EQ(camera(kName, {})->open().clock, "camera");
    EXPECT_EQ(camera(kName, {{"ptp", "on"}})->open().clock, "camera, PTP Slave");
    EXPECT_EQ(camera(kName, {})->open().clock, "camera, PTP Slave") << "as the camera is set";
    EXPECT_EQ(camera(kName, {{"ptp", "off"}})->open().clock, "camera");
}

TEST_F(GigeCamera, ALineTriggersAndAnotherTells) {
    start({"--line-rate", "40"});
    const auto source = camera(
        kName, {{"trigger", "line1"}, {"activation", "falling"}, {"output-line", "Line2"}});
    const SourceInfo info = source->open();
    EXPECT_TRUE(info.patient);
    EXPECT_EQ(info.rate, 0) << "nobody knows it";
    TestPort port(false);
    EXPECT_TRUE(read_frames(*source, port, 20));
    source->close();
    const nlohmann::json did = report();
    EXPECT_EQ(did["TriggerMode"], 1);
    EXPECT_EQ(did["TriggerSource"], 2);
    EXPECT_EQ(did["TriggerActivation"], 1);
    EXPECT_EQ(did["LineMode"], (nlohmann::json{0, 1}));
    EXPECT_EQ(did["LineSource"], (nlohmann::json{0, 1})) << "ExposureActive";
}

TEST_F(GigeCamera, WhatItRefusesInTheMiddleLeavesNothingHalfSet) {
    start({"--refuse-line"});
    const std::string said = sentence(
        [&] { camera(kName, {{"trigger", "Line1"}, {"activation", "falling"}, {"output-line", "Line2"}})->open(); });
    EXPECT_NE(said.find("output-source = ExposureActive"), std::string::npos) << said;
    EXPECT_NE(sentence([&] { camera(kName, {{"trigger", "Line1"}, {"activation", "high"}})->open(); })
                  .find("activation = LevelHigh is not possible: TriggerActivation of Test Python GV77 takes "
                        "RisingEdge, FallingEdge"),
              std::string::npos);
    const nlohmann::json did = report();
    EXPECT_EQ(did["TriggerMode"], 0);
    EXPECT_EQ(did["TriggerSource"], 0);
    EXPECT_EQ(did["TriggerActivation"], 0);
    EXPECT_EQ(did["LineMode"], (nlohmann::json{0, 0}));
    EXPECT_EQ(did["LineSelector"], 0);
}

TEST_F(GigeCamera, OneWithoutASoftwareTriggerSaysSo) {
    start({"--without", "TriggerSoftware"});
    EXPECT_NE(sentence([&] { camera(kName, {{"trigger", "software"}})->open(); })
                  .find("needs the feature TriggerSoftware, which Test Python GV77 does not have"),
              std::string::npos);
    EXPECT_EQ(report()["TriggerMode"], 0);
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

// The watchdog that opens a silent camera again knows one that waits.
TEST_F(GigeCamera, OneThatWaitsForATriggerIsNotTakenForDead) {
    start({});
    PipelineOptions options;
    options.silence_s = 0.2;
    Pipeline pipeline(camera(kName, {{"trigger", "software"}}), Chain(), options);
    pipeline.start();
    const auto wait = [&](std::uint64_t frames) {
        const auto begin = SteadyClock::now();
        while (pipeline.stats().processed < frames && SteadyClock::now() - begin < std::chrono::seconds(30))
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return pipeline.stats().processed;
    };
    std::this_thread::sleep_for(std::chrono::seconds(1)); // five times what is taken for death
    pipeline.edit_source("fire", std::int64_t{1});
    EXPECT_EQ(wait(1), 1U);
    EXPECT_EQ(pipeline.stats().reopened, 0U);
    pipeline.stop();
}
