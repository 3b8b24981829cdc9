// GStreamer frames with implausible times.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <sstream>
#include <string>

namespace specklescope::far_times_test {

/// Sums and differences of two times do not overflow.
TEST(FarTimes, AreBoundedAndNeverGoBack) {
    const TemporaryFolder folder;
    const ChildResult run =
        run_program({"run",
                     "gst:videotestsrc num-buffers=4 timestamp-offset=9000000000000000000 ! "
                     "video/x-raw,width=64,height=48,format=GRAY8,framerate=10/1",
                     "--stage", "none", "--record-raw", "far.raw", "--record-raw", "far.tiff"},
                    folder.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    for (const char* name : {"far.raw", "far.tiff"}) {
        const ChildResult again = run_program({"run", name, "--stage", "none", "--record-raw", "again.raw"},
                                              folder.path().string());
        ASSERT_EQ(again.status, 0) << again.all();
        std::istringstream lines(read_text(folder / "again.raw.jsonl"));
        std::string line;
        std::getline(lines, line); // the line of the file
        std::int64_t before = 0;
        int frames = 0;
        for (; std::getline(lines, line); ++frames) {
            const auto time = nlohmann::json::parse(line).at("capture_ns").get<std::int64_t>();
            EXPECT_GE(time, before) << name;
            EXPECT_LT(time, std::int64_t{1} << 62) << name;
            before = time;
        }
        EXPECT_EQ(frames, 4) << name;
        EXPECT_GT(before, std::int64_t{1} << 60) << name;
        std::filesystem::remove(folder / "again.raw");
        std::filesystem::remove(folder / "again.raw.jsonl");
    }
}

} // namespace specklescope::far_times_test
