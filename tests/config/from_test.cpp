// A part of a file without a window: --from, --from-s, --frames and --loop, and the written frame positions.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace specklescope::from_test {

class From : public testing::Test {
protected:
    static constexpr int kFrame = 24 * 20;
    void SetUp() override {
        for (int i = 0; i < kFrame * 60; ++i)
            film_ += static_cast<char>(20 + (i * 7919 ^ i / 64) % 200);
        write_text(folder_ / "film.raw", film_);
    }
    ChildResult run(std::vector<std::string> more) const {
        more.insert(more.begin(), {"run", "raw:film.raw?width=24&height=20&format=gray8"});
        return run_program(more, folder_.path().string());
    }
    TemporaryFolder folder_;
    std::string film_;
};

TEST_F(From, TakesExactlyTheseFrames) {
    const ChildResult result = run({"--from", "20", "--frames", "10", "--record-raw", "part.raw"});
    ASSERT_EQ(result.status, 0) << result.all();
    EXPECT_TRUE(read_text(folder_ / "part.raw") == film_.substr(20 * kFrame, 10 * kFrame));
    EXPECT_NE(result.out.find("10 in, 10 processed, none dropped"), std::string::npos) << result.all();
    std::istringstream lines(read_text(folder_ / "part.raw.jsonl"));
    std::string line;
    std::getline(lines, line); // for the file
    for (int frame = 20; frame < 30; ++frame) {
        ASSERT_TRUE(std::getline(lines, line));
        EXPECT_NE(line.find("\"position\":" + std::to_string(frame)), std::string::npos) << line;
        EXPECT_NE(line.find("\"sequence\":" + std::to_string(frame - 20)), std::string::npos) << line;
    }
}

TEST_F(From, TracesSayWhereTheFrameLies) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"a","shape":"rectangle","points":[[2,2],[9,9]]}]})");
    const ChildResult result =
        run({"--from", "55", "--regions", "r.json", "--traces", "t.csv", "--stage", "temporal:frames=3"});
    ASSERT_EQ(result.status, 0) << result.all();
    std::istringstream lines(read_text(folder_ / "t.csv"));
    std::vector<std::string> rows;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("#"))
            rows.push_back(line);
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_TRUE(rows[0].ends_with(",position,area_um2,warming_up"));
    for (std::size_t i = 1; i < rows.size(); ++i) {
        EXPECT_TRUE(rows[i].starts_with(std::to_string(i - 1) + ",")) << rows[i];
        const std::string_view but_warmth(rows[i].data(), rows[i].size() - 1); // without a pixel size
        EXPECT_TRUE(but_warmth.ends_with("," + std::to_string(54 + i) + ",,")) << rows[i];
    }
}

TEST_F(From, AFrameThatIsNotThereIsRefused) {
    for (const char* frame : {"60", "999999999"}) {
        const ChildResult result = run({"--from", frame, "--record-raw", "part.raw"});
        EXPECT_EQ(result.status, 2) << result.all();
        EXPECT_NE(result.err.find(std::string("has no frame ") + frame + "; allowed: 0…59."),
                  std::string::npos)
            << result.all();
        EXPECT_FALSE(std::filesystem::exists(folder_ / "part.raw"));
    }
    const ChildResult live = run_program(
        {"run", "synthetic?width=64&height=48", "--from", "3", "--frames", "2"}, folder_.path().string());
    EXPECT_EQ(live.status, 2) << live.all();
    EXPECT_NE(live.err.find("No frame of this source can be chosen"), std::string::npos) << live.all();
}

TEST_F(From, ATimeIsTheFrameThatIsShownThen) {
    // At 25 frames/s frame 20 is shown from 0.8 s on, frame 19 before.
    for (const auto& [time, frame] : {std::pair{"0.8", 20}, {"0.79", 19}, {"0.8399", 20}, {"0", 0}}) {
        const std::string name = std::string("part") + time + ".raw";
        const ChildResult result =
            run({"--rate", "25", "--from-s", time, "--frames", "2", "--record-raw", name});
        ASSERT_EQ(result.status, 0) << result.all();
        EXPECT_TRUE(read_text(folder_ / name) ==
                    film_.substr(static_cast<std::size_t>(frame) * kFrame, 2 * kFrame))
            << time;
        EXPECT_NE(read_text(folder_ / (name + ".jsonl"))
                      .find("\"capture_ns\":" + std::to_string(frame * 40'000'000) + ","),
                  std::string::npos)
            << "a part has the times of the whole film";
    }
}

/// Films of fast cameras are often saved with the rate of a player.
TEST_F(From, ARateOverridesTheTimesOfAVideo) {
    ASSERT_TRUE(test::python(folder_, R"py(
import subprocess
import numpy as np
frames = np.arange(20, dtype=np.uint8).repeat(24 * 32).tobytes()
subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", "32x24", "-r", "25", "-i", "-",
                "-c:v", "ffv1", "film.mkv"], check=True, input=frames)
)py"));
    const auto frames = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--record-raw", "part.raw"});
        const ChildResult result = run_program(words, folder_.path().string());
        EXPECT_EQ(result.status, 0) << result.all();
        std::istringstream lines(read_text(folder_ / "part.raw.jsonl"));
        std::vector<std::pair<int, long long>> all;
        for (std::string line; std::getline(lines, line);)
            if (const auto frame = nlohmann::json::parse(line); frame.contains("sequence"))
                all.emplace_back(frame["position"], frame["capture_ns"]);
        std::filesystem::remove(folder_ / "part.raw");
        std::filesystem::remove(folder_ / "part.raw.jsonl");
        return all;
    };
    using Frames = std::vector<std::pair<int, long long>>;
    EXPECT_EQ(frames({"film.mkv", "--from", "5", "--frames", "2"}),
              (Frames{{5, 200'000'000}, {6, 240'000'000}}));
    EXPECT_EQ(frames({"film.mkv", "--rate", "1000", "--from", "5", "--frames", "2"}),
              (Frames{{5, 5'000'000}, {6, 6'000'000}}));
    EXPECT_EQ(frames({"film.mkv", "--rate", "1000", "--from-s", "0.0185", "--frames", "3", "--loop"}),
              (Frames{{18, 18'000'000}, {19, 19'000'000}, {18, 20'000'000}}));
    ASSERT_EQ(run_program({"run", "film.mkv", "--record-raw", "own.mkv"}, folder_.path().string()).status, 0);
    EXPECT_EQ(frames({"own.mkv", "--rate", "1000", "--from", "5", "--frames", "1"}),
              (Frames{{5, 200'000'000}}));
}

TEST_F(From, ATimeThatIsNoneIsRefused) {
    const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
        const ChildResult result = run(words);
        EXPECT_EQ(result.status, 2) << result.all();
        EXPECT_NE(result.err.find(why), std::string::npos) << result.all();
    };
    refused({"--from-s", "1"}, "states no frame rate, so the frame at 1 s is unknown");
    refused({"--from-s", "2.4", "--rate", "25"},
            "2.4 s is frame 60, and 'film.raw' has no frame 60; allowed: 0…59.");
    refused({"--from-s", "1", "--from", "3", "--rate", "25"}, "cannot be combined");
    refused({"--from-s", "-1"}, "--from-s");
    refused({"--from-s", "nan"}, "--from-s");
    const ChildResult live = run_program(
        {"run", "synthetic?width=64&height=48", "--from-s", "1", "--frames", "2"}, folder_.path().string());
    EXPECT_EQ(live.status, 2) << live.all();
    EXPECT_NE(live.err.find("No frame of this source can be chosen"), std::string::npos) << live.all();
}

TEST_F(From, ALoopBeginsAgainWhereItBegan) {
    ASSERT_EQ(run({"--from", "50", "--loop", "--frames", "25", "--record-raw", "rounds.raw"}).status, 0);
    const std::string round = film_.substr(50 * kFrame);
    EXPECT_TRUE(read_text(folder_ / "rounds.raw") == round + round + round.substr(0, 5 * kFrame));
    ASSERT_EQ(run({"--loop", "--frames", "70", "--record-raw", "whole.raw"}).status, 0);
    EXPECT_TRUE(read_text(folder_ / "whole.raw") == film_ + film_.substr(0, 10 * kFrame));
}

TEST_F(From, ALoopOfWhatHasNoEndIsRefused) {
    for (const char* source : {"synthetic:vessels", "aravis", "rtsp://127.0.0.1/x"})
        for (const char* command : {"run", "view"}) {
            const ChildResult result = run_program(
                {command, source, "--no-remember", "--loop", "--frames", "2"}, folder_.path().string());
            EXPECT_EQ(result.status, 2) << result.all();
            EXPECT_NE(result.err.find("--loop needs a file, and "), std::string::npos) << result.all();
        }
}

} // namespace specklescope::from_test
