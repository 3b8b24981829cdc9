// Recordings of a run on a disk that becomes full, in a mount namespace.
#include "base/text.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <sstream>

namespace full_disk_run_test {

using namespace specklescope;

class FullDiskOfARun : public testing::Test {
protected:
    void SetUp() override {
        fs::create_directory(disk_);
        int status = 0;
        const std::string refusal = run_command("unshare -rm " + mount("408k") + " 2>&1", &status);
        if (status != 0)
            GTEST_SKIP() << "no small disk can be mounted here without rights: " << one_line(refusal);
    }
    std::string mount(const std::string& size) const {
        return "mount -t tmpfs -o size=" + size + " none '" + disk_ + "'";
    }
    const TemporaryFolder folder_;
    const std::string disk_ = folder_ / "disk";
};

/// Lines are written after the storage is confirmed, and still find space.
TEST_F(FullDiskOfARun, KeepsEveryWholeFrameOfSmallOnesAndCountsTheOthers) {
    const std::string text = run_command(
        "unshare -rm sh -c \"" + mount("408k") + " && '" + test::program_path() +
        "' run 'synthetic:vessels?width=64&height=64&rate=0&live=false' --backend cpu --frames 150 "
        "--record-raw '" +
        disk_ + "/a.raw' --keep-free 0; cp '" + disk_ + "'/a.* '" + (folder_ / "") + "'\" 2>&1");
    EXPECT_NE(text.find("a.raw"), std::string::npos) << text;
    const std::uintmax_t bytes = fs::file_size(folder_ / "a.raw");
    constexpr std::uintmax_t kFrame = std::uintmax_t{64} * 64 * 2;
    EXPECT_EQ(bytes % kFrame, 0U) << text;
    EXPECT_GT(bytes / kFrame, 40U) << text;
    std::istringstream lines(read_text(folder_ / "a.raw.jsonl"));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const Json file = Json::parse(line);
    EXPECT_EQ(file.at("written").get<std::uintmax_t>(), bytes / kFrame) << text;
    const std::size_t came = text.find(" in, "); // until the run ended because no recording was left
    ASSERT_NE(came, std::string::npos) << text;
    EXPECT_EQ(file.at("written").get<int>() + file.at("dropped").get<int>(),
              std::stoi(text.substr(text.rfind("frames ", came) + 7)))
        << text;
    std::uintmax_t frames = 0;
    for (; std::getline(lines, line); ++frames)
        EXPECT_TRUE(Json::accept(line)) << line;
    EXPECT_EQ(frames, bytes / kFrame);
}

/// The failure may come while frames arrive, or after the last frame.
TEST_F(FullDiskOfARun, OfAFilmIsSaidHoweverLateItComes) {
    for (const std::string size : {"300k", "360k", "408k"}) {
        const std::string text = run_command(
            "unshare -rm sh -c \"mount -t tmpfs -o size=" + size + " none '" + disk_ + "' && '" +
            test::program_path() +
            "' run 'synthetic:vessels?width=128&height=128&rate=0&live=false' --backend cpu --frames 20 "
            "--record-raw '" +
            disk_ + "/a.mkv' --keep-free 0; echo ENDED \\$?; '" + test::program_path() + "' run '" + disk_ +
            "/a.mkv' --backend cpu --stage none; echo READ \\$?\" 2>&1");
        EXPECT_NE(text.find("ENDED 1"), std::string::npos) << size << text;
        EXPECT_NE(text.find("stopped: "), std::string::npos) << size << text;
    }
}

} // namespace full_disk_run_test
