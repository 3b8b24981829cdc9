// Lines, chunks, PTP, clock and frame numbers of a camera over the real protocol.
#include "base/long_work.hpp"
#include "pipeline/clock/clock_fit.hpp"

#include "tests/sources/camera_tests.hpp"

namespace aravis_wiring_test {

using namespace specklescope;
using namespace specklescope::test;

TEST_F(FakeTrigger, MissingFeaturesAreNamedAndNothingIsSet) {
    const std::string line = sentence([&] {
        camera(kName, {{"trigger", "Line7"}, {"exposure", "7"}})->open();
    });
    EXPECT_NE(line.find("trigger = Line7 is not possible: TriggerSource of Aravis Fake GV01 takes Line0, "
                        "Software"),
              std::string::npos)
        << line;
    EXPECT_NE(sentence([&] {
                  camera(kName, {{"ptp", "on"}})->open();
              }).find("ptp = on needs the feature PtpEnable, which Aravis Fake GV01 does not have"),
              std::string::npos);
    EXPECT_NE(sentence([&] {
                  camera(kName, {{"chunks", "on"}})->open();
              }).find("ChunkModeActive"),
              std::string::npos);
    EXPECT_NE(sentence([&] {
                  camera(kName, {{"output-line", "Line2"}})->open();
              }).find("LineSelector"),
              std::string::npos);
    const auto free = camera(kName, {});
    EXPECT_FALSE(free->open().patient) << "it still runs freely";
    TestPort port(false);
    EXPECT_TRUE(read_frames(*free, port, 3));
}

TEST_F(InNamespace, ContradictoryOptionsAreRefusedBeforeOpening) {
    EXPECT_NE(sentence([] {
                  camera("x", {{"activation", "rising"}});
              }).find("trigger=Line1"),
              std::string::npos);
    EXPECT_NE(sentence([] {
                  camera("x", {{"trigger-rate", "5"}});
              }).find("trigger=software"),
              std::string::npos);
    EXPECT_NE(sentence([] {
                  camera("x", {{"trigger", "software"}, {"triggers", "5"}});
              }).find("trigger-rate"),
              std::string::npos);
    EXPECT_NE(sentence([] {
                  camera("x", {{"trigger", "Line1"}, {"trigger-start", "record"}});
              }).find("trigger=software"),
              std::string::npos);
    EXPECT_NE(sentence([] { camera("x", {})->set("fire", std::int64_t{1}); }).find("trigger=software"),
              std::string::npos);
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
        // The pixels identify the frame, independent of its number.
        for (std::size_t i = 1; i < port.frames.size(); ++i)
            ASSERT_EQ((index(i) - index(i - 1)) % 256,
                      port.frames[i].info.sequence - port.frames[i - 1].info.sequence)
                << (wide ? "64" : "16") << " bits, frame " << i;
        EXPECT_GT(port.lost_because["are missing in the camera's own count"], 10U);
        source->close();
        report();
    }
}

TEST_F(GigeCamera, ARestartedCountLosesNothing) {
    start({"--first-id", "40000", "--restart", "60", "--skip", "25"});
    const auto source = camera(kName, {});
    source->open();
    TestPort port(false);
    ASSERT_TRUE(read_frames(*source, port, 110));
    source->close();
    const std::uint64_t last = port.next_sequence; // of the frames made by the camera
    EXPECT_NEAR(static_cast<double>(port.lost_frames), static_cast<double>(last / 25), 1.0) << reasons(port);
}

TEST_F(GigeCamera, ADamagedNumberLosesNothing) {
    for (const bool wide : {false, true}) {
        std::vector<std::string> options = {"--damaged", "40"};
        if (wide)
            options.emplace_back("--wide");
        start(options);
        const auto source = camera(kName, {});
        source->open();
        TestPort port(false);
        ASSERT_TRUE(read_frames(*source, port, 100));
        source->close();
        EXPECT_EQ(port.lost_frames, 0U) << reasons(port);
        device_->end();
    }
}

// The image size comes from the network and cannot be trusted.
TEST_F(GigeCamera, AnIncompleteFrameIsCountedAndNotRead) {
    for (const auto& [claim, why] : {std::pair{"10:16", "were shorter than their stated size"},
                                     {"10:2", "were shorter than their stated size"},
                                     {"10:0", "had an impossible size"},
                                     {"10:100000", "had an impossible size"}}) {
        SCOPED_TRACE(claim);
        start({"--claim", claim});
        const auto source = camera(kName, {});
        source->open();
        TestPort port(false);
        ASSERT_TRUE(read_frames(*source, port, 30));
        source->close();
        EXPECT_EQ(port.lost_because[why], 1U) << reasons(port);
        EXPECT_EQ(port.lost_frames, 1U);
        for (const auto& frame : port.frames)
            EXPECT_EQ(frame.shape, (Shape{64, 48, 1, PixelType::u8}));
        device_->end();
    }
}

// Back by four seconds, and ahead by a second: recorded time continues, and windows restart.
TEST_F(GigeCamera, TimeContinuesWhenItsClockIsSet) {
    for (const char* jump : {"50:-4", "50:1"}) {
        SCOPED_TRACE(jump);
        start({"--jump", jump, "--unstamped", "80"});
        const auto source = camera(kName, {});
        source->open();
        TestPort port(false);
        ASSERT_TRUE(read_frames(*source, port, 200));
        source->close();
        EXPECT_EQ(port.discontinuities.size(), 1U);
        for (std::size_t i = 1; i < port.frames.size(); ++i) {
            const FrameInfo& before = port.frames[i - 1].info;
            const FrameInfo& here = port.frames[i].info;
            ASSERT_GE(here.capture_ns, before.capture_ns) << i;
        }
        const double captured =
            static_cast<double>(port.frames.back().info.capture_ns - port.frames.front().info.capture_ns);
        EXPECT_NEAR(captured * 1e-9, static_cast<double>(port.frames.back().info.sequence) * 0.01, 0.4);
        device_->end();
    }
}

// Its reported values are not requests: another camera in its place keeps its settings.
TEST_F(GigeCamera, AnEditDoesNotRequestReportedValuesAfterAReconnection) {
    start({"--exposure", "5000"});
    const auto source = camera(kName, {{"trigger", "software"}});
    source->open();
    TestPort port(false);
    source->set("fire", std::int64_t{1});
    ASSERT_TRUE(read_frames(*source, port, 1));
    EXPECT_EQ(std::get<double>(source->params().get("exposure")), 5);
    source->close();
    device_->end();
    start({"--exposure", "7000"});
    source->open();
    EXPECT_EQ(std::get<double>(source->params().get("exposure")), 7);
    source->close();
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

// 20 000 ppm, so that delays of a busy machine do not matter.
TEST_F(GigeCamera, ItsClockIsFittedFromTheTimesInTheLeaders) {
    start({"--skew", "20000", "--jitter", "2"});
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
    EXPECT_NEAR(report->skew_ppm, 20'000, 2'000);
    EXPECT_GT(port.frames[0].info.capture_ns, 5'000'000'000) << "as the camera counts, not as we do";
}

TEST_F(GigeCamera, PtpIsTurnedOnAndItsStateReported) {
    start({});
    EXPECT_EQ(camera(kName, {})->open().clock, "camera");
    EXPECT_EQ(camera(kName, {{"ptp", "on"}})->open().clock, "camera, PTP Slave");
    EXPECT_EQ(camera(kName, {})->open().clock, "camera, PTP Slave") << "as the camera is set";
    EXPECT_EQ(camera(kName, {{"ptp", "off"}})->open().clock, "camera");
}

// Waits for it, but not forever.
TEST_F(GigeCamera, PtpThatStaysInListeningIsReported) {
    start({"--alone"});
    const auto begin = SteadyClock::now();
    const WatchWork watch([&](std::string_view, double) { // otherwise it would never return
        return SteadyClock::now() - begin < std::chrono::seconds(60);
    });
    EXPECT_EQ(camera(kName, {{"ptp", "on"}})->open().clock, "camera, PTP Listening");
}

TEST_F(GigeCamera, OneLineTriggersAndAnotherReportsExposures) {
    start({"--line-rate", "40"});
    const auto source =
        camera(kName, {{"trigger", "line1"}, {"activation", "falling"}, {"output-line", "Line2"}});
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

TEST_F(GigeCamera, ARefusalRestoresAllSettings) {
    start({"--refuse-line"});
    const std::string said = sentence([&] {
        camera(kName, {{"trigger", "Line1"}, {"activation", "falling"}, {"output-line", "Line2"}})->open();
    });
    EXPECT_NE(said.find("output-source = ExposureActive"), std::string::npos) << said;
    EXPECT_NE(sentence([&] {
                  camera(kName, {{"trigger", "Line1"}, {"activation", "high"}})->open();
              })
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

TEST_F(GigeCamera, ACameraWithoutSoftwareTriggersIsRefused) {
    start({"--without", "TriggerSoftware"});
    EXPECT_NE(sentence([&] {
                  camera(kName, {{"trigger", "software"}})->open();
              }).find("needs the feature TriggerSoftware, which Test Python GV77 does not have"),
              std::string::npos);
    EXPECT_EQ(report()["TriggerMode"], 0);
}

TEST_F(GigeCamera, TheProgramReportsLossesAndTheClock) {
    start({"--skew", "20000", "--lose", "50"});
    const std::string stats = report_ + ".stats";
    const std::string said = report_ + ".said";
    const std::string command = "'" + program_path() + "' run 'aravis:" + kName +
                                "?packet-size=9000' --frames 700 --stats '" + stats + "' > '" + said +
                                "' 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::stringstream text;
    text << std::ifstream(said).rdbuf();
    EXPECT_NE(text.str().find("came without some of their packets"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("camera: fast by "), std::string::npos) << text.str();
    std::ifstream file(stats);
    const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    EXPECT_NEAR(json["clock"]["skew_ppm"].get<double>(), 20'000, 2'000);
    std::uint64_t lost = 0;
    for (const auto& [why, frames] : json["lost_at_source"].items())
        lost += frames.get<std::uint64_t>();
    EXPECT_EQ(json["drops"]["source"], lost);
    EXPECT_GT(lost, 5U);
    std::filesystem::remove(stats);
    std::filesystem::remove(said);
}

} // namespace aravis_wiring_test
