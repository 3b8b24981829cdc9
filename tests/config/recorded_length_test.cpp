// Length of a recording, and its description of omitted frames.
#include "tests/support/child.hpp"
#include "tests/support/folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace specklescope::recorded_length_test {

class RecordedLength : public testing::Test {
protected:
    ChildResult run(const std::vector<std::string>& arguments) const {
        return run_program(arguments, folder_.path().string());
    }
    TemporaryFolder folder_;
};

TEST_F(RecordedLength, ARunEndsWhenEveryRecordingIsComplete) {
    write_text(folder_ / "r.json",
               R"({"regions":[{"name":"box","shape":"rectangle","points":[[1,1],[9,9]]}]})");
    // The scene is endless, and traces have no length of their own.
    const ChildResult result =
        run({"run", "synthetic?width=64&height=48&rate=200&live=false", "--record-raw",
             "{subject}_{what}.tiff", "--record", "b.raw", "--record-frames", "4", "--record-every", "5",
             "--subject", "rat", "--note", "left", "--regions", "r.json", "--traces", "t.csv"});
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.out.find("rat_raw.tiff: 4 frames"), std::string::npos) << result.all();
    EXPECT_NE(result.out.find("complete with 4 frames, 12 between them left out"), std::string::npos)
        << result.all();
    EXPECT_EQ(std::filesystem::file_size(folder_ / "b.raw"), 4U * 64 * 48 * 4);
    const std::string text = read_text(folder_ / "rat_raw.tiff");
    for (const char* part : {"\"one_frame_of\":5", "\"subject\":\"rat\"", "\"note\":\"left\"", "\"rate\":40"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
    // In playback it is a film of 40 frames/s without gaps.
    const ChildResult film = run({"run", "synthetic?width=64&height=48&rate=200&live=false", "--record-raw",
                                  "v.mkv", "--record-frames", "4", "--record-every", "5"});
    EXPECT_EQ(film.status, 0) << film.all();
    for (const char* name : {"rat_raw.tiff", "b.raw", "v.mkv"}) {
        const ChildResult again = run({"run", name, "--stage", "none"});
        EXPECT_NE(again.out.find("4 in, 4 processed, none dropped"), std::string::npos)
            << name << again.all();
        EXPECT_NE(again.out.find("its own rate 40 frames/s"), std::string::npos) << name << again.all();
    }

    const ChildResult both = run({"run", "synthetic", "--record-every", "2", "--record-every-s", "1"});
    EXPECT_EQ(both.status, 2) << both.all();
    EXPECT_NE(both.err.find("record_every_s = 1 cannot be combined"), std::string::npos) << both.all();
    const ChildResult bench = run({"bench", "--keep-free", "3"});
    EXPECT_EQ(bench.status, 2) << bench.all();
    EXPECT_NE(bench.err.find("--keep-free has no effect on bench"), std::string::npos) << bench.all();
}

} // namespace specklescope::recorded_length_test
