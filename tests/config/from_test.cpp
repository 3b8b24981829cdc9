// A part of a file without a window: --from and --frames, and what is written of where the frames lie.
#include "tests/support/child.hpp"

#include <sstream>

namespace specklescope {
namespace {

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
    std::getline(lines, line); // of the file
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
        EXPECT_TRUE(rows[i].ends_with("," + std::to_string(54 + i) + ",")) // no size of a pixel
            << rows[i];
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

} // namespace
} // namespace specklescope
