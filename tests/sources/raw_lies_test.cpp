// Sidecars of headerless frames with impossible values: these are ignored and reported, and times only
// increase.
#include "base/log.hpp"
#include "files/recorded.hpp"
#include "sources/playback_clock.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <limits>
#include <random>
#include <sstream>

namespace specklescope::test::raw_lies_test {

class RawLies : public testing::Test {
protected:
    /// Plays `frames` frames of a file with these lines in its sidecar.
    void play(const std::string& of_file, const std::vector<std::string>& of_frames, std::size_t frames = 0) {
        const std::string path = folder_ / "lie.raw";
        write_file(path, std::string(of_frames.size() * 12, 'x'));
        std::string lines = R"({"program": "Specklescope 1", "content": "raw", "format": "gray8", )"
                            R"("width": 4, "height": 3, "pixel_type": "u8", "frame": {})" +
                            of_file + "}\n";
        for (const std::string& line : of_frames)
            lines += "{" + line + "}\n";
        write_file(path + ".jsonl", lines);
        std::ostringstream log;
        log_to(std::make_shared<spdlog::logger>("test",
                                                std::make_shared<spdlog::sinks::ostream_sink_mt>(log, true)));
        const auto source = make_source("raw:" + path + (frames > 0 ? "?loop=true" : ""), {});
        info_ = source->open();
        port_ = TestPort();
        EXPECT_TRUE(read_frames(*source, port_, frames > 0 ? frames : of_frames.size()));
        log_to(nullptr);
        said_ = log.str();
        for (std::size_t i = 1; i < port_.frames.size(); ++i)
            EXPECT_GE(port_.frames[i].info.capture_ns, port_.frames[i - 1].info.capture_ns) << "frame " << i;
    }
    std::int64_t time(std::size_t frame) const { return port_.frames.at(frame).info.capture_ns; }
    /// Number of log messages with this text.
    std::size_t said(const std::string& what) const {
        std::size_t times = 0;
        for (std::size_t at = said_.find(what); at != std::string::npos; at = said_.find(what, at + 1))
            ++times;
        return times;
    }

    TemporaryFolder folder_;
    SourceInfo info_;
    TestPort port_;
    std::string said_;
};

TEST_F(RawLies, TimesBeyondAllClocksAreIgnored) {
    play("",
         {R"("capture_ns": -4611686018427387904)", R"("capture_ns": 4611686018427387904)",
          R"("capture_ns": 1000)", R"("capture_ns": 2000)", R"("capture_ns": 18446744073709551615)",
          R"("capture_ns": 1e300)"},
         13);
    EXPECT_EQ(
        said("lie.raw.jsonl' has an impossible value, which is ignored: a capture time that is not a whole"),
        1U)
        << said_ << "once, also when it is played again";
    EXPECT_EQ(time(3) - time(2), 1000);
    EXPECT_EQ(time(4) - time(3), 1000) << "its step goes on";
}

TEST_F(RawLies, TimesThatJumpByACenturyDoNotOverflow) {
    std::vector<std::string> lines;
    for (int i = 0; i < 20; ++i)
        lines.emplace_back(i % 2 == 0 ? R"("capture_ns": 4611686018427387903)" : R"("capture_ns": 0)");
    play("", lines, 50);
    EXPECT_EQ(said_, "") << "times may begin again";
}

TEST_F(RawLies, RecordedTimesDoNotPrecedeScheduledOnes) {
    play("", {"", "", R"("capture_ns": -5000000000)", R"("capture_ns": -4999999000)"});
    EXPECT_EQ(time(3) - time(2), 1000);
}

TEST_F(RawLies, InvalidRatesAreIgnored) {
    for (const char* rate : {"1e-300", "1e300", "-5"}) {
        SCOPED_TRACE(rate);
        play(std::string(", \"rate\": ") + rate,
             {R"("capture_ns": 0)", "", "", R"("capture_ns": 5)", R"("capture_ns": 10000005)"});
        EXPECT_EQ(said("a rate outside 1e-9 to 100000 frames/s"), 1U) << said_;
        EXPECT_GE(info_.rate, 0);
        EXPECT_LE(info_.rate, kMaxRate);
    }
    play(R"(, "rate": 1e300, "measured_rate": 25)", {R"("capture_ns": 0)", R"("capture_ns": 5)"});
    EXPECT_EQ(info_.rate, 25);
    play(R"(, "rate": 0)", {R"("capture_ns": 0)"});
    EXPECT_EQ(said_, "") << "a rate that nobody knew is 0";
}

TEST_F(RawLies, ImpossibleLossesAreIgnored) {
    play("", {R"("sequence": 0)", R"("sequence": 9223372036854775808)", R"("sequence": 18446744073709551615)",
              R"("sequence": 3)", R"("sequence": 6)"});
    EXPECT_EQ(port_.lost_frames, 2U);
    EXPECT_EQ(said("more than 2^40 frames lost at once"), 1U) << said_;
    play("", {R"("sequence": 7)", R"("sequence": -1)", R"("sequence": 9)"});
    EXPECT_EQ(port_.lost_frames, 0U);
    EXPECT_EQ(said("a sequence number that is not a whole number from 0"), 1U) << said_;
}

TEST_F(RawLies, ChannelsAreCheckedLikeSides) {
    for (const char* channels : {"1e300", "-1e300", "0"}) {
        SCOPED_TRACE(channels);
        play(std::string(", \"channels\": ") + channels, {""});
        EXPECT_EQ(said("outside 1 to 1e9"), 1U) << said_;
    }
    RecordedText text;
    ASSERT_TRUE(text.begin(R"({"program": "Specklescope", "width": 4, "height": 3, "channels": 1e300})"));
    EXPECT_EQ(text.now().shape.channels, 0);
    ASSERT_TRUE(text.begin(R"({"program": "Specklescope", "finished": true, "written": -1})"));
    EXPECT_EQ(text.frames(), 0U);
    EXPECT_TRUE(text.doubts().empty());
    ASSERT_TRUE(
        text.begin(R"({"program": "Specklescope", "finished": true, "written": 18446744073709551615})"));
    EXPECT_EQ(text.frames(), 0U);
    EXPECT_EQ(text.doubts().size(), 1U);
}

TEST(PlaybackTimes, NeverGoBackForAnyFile) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937_64 random(seed);
    for (int round = 0; round < 200; ++round) {
        PlaybackTimes times;
        if (random() % 2 == 0)
            times.assume_step(random() % 2 == 0 ? 1e308 : 1e15);
        std::int64_t last = std::numeric_limits<std::int64_t>::min();
        for (int i = 0; i < 50; ++i) {
            std::optional<std::int64_t> recorded;
            if (i == 0 || random() % 4 != 0)
                recorded = static_cast<std::int64_t>(random()) >> (random() % 64);
            const std::int64_t time = times.next(recorded, random() % 2 == 0);
            ASSERT_GE(time, last) << "frame " << i;
            last = time;
        }
    }
}

} // namespace specklescope::test::raw_lies_test
