// A run without a window reports the contents of its files, and a signal begins and ends recordings.
#include "tests/recording/bigtiff.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <csignal>
#include <regex>

namespace specklescope::run_report_test {

TEST(RunReport, OfARecordingThatWasSplitEachFileHasItsOwnFrames) {
    constexpr std::size_t kFrames = 19;
    const TemporaryFolder folder;
    const ChildResult result =
        run_program({"run", "synthetic:uniform?width=256&height=256&live=false", "--backend", "cpu",
                     "--frames", std::to_string(kFrames), "--record-raw", "r.tiff", "--split-mib", "1"},
                    folder.path().string());
    ASSERT_EQ(result.status, 0) << result.all();
    static const std::regex kRow("wrote +(\\S+): (\\d+) frames?,");
    std::size_t files = 0, frames = 0;
    for (std::sregex_iterator row(result.out.begin(), result.out.end(), kRow), end; row != end;
         ++row, ++files) {
        const std::size_t there = BigTiff(read_text(folder / (*row)[1].str())).pages().size();
        EXPECT_EQ(std::stoull((*row)[2]), there) << (*row)[1] << "\n" << result.out;
        frames += there;
    }
    EXPECT_GE(files, 3U) << result.out;
    EXPECT_EQ(frames, kFrames) << result.out;
}

TEST(RunTrigger, EachSignalBeginsARecordingOrEndsTheOneThatRuns) {
    const TemporaryFolder folder;
    Child child({test::program_path(), "run", "synthetic:uniform?width=64&height=48&rate=100", "--backend",
                 "cpu", "--record-raw", "r.tiff", "--pre-trigger", "0.1"},
                folder.path().string());
    const auto said = [&](const std::string& text) {
        return child.until(
            [&](const ChildResult& result) { return result.err.find(text) != std::string::npos; },
            std::chrono::seconds(90));
    };
    ASSERT_TRUE(said("Keeping the last 0.1 s")) << child.so_far().all();
    for (const char* name : {"r.tiff", "r-1.tiff"}) {
        EXPECT_FALSE(std::filesystem::exists(folder / name));
        child.signal(SIGUSR1);
        ASSERT_TRUE(test::eventually([&] {
            std::error_code missing;
            const auto size = std::filesystem::file_size(folder / name, missing);
            return !missing && size > std::uintmax_t{30} * 64 * 48 * 2;
        })) << name;
        child.signal(SIGUSR1);
        ASSERT_TRUE(said("frames into " + std::string(name))) << child.so_far().all();
        EXPECT_GT(BigTiff(read_text(folder / name)).pages().size(), 10U) << name;
    }
    child.signal(SIGINT);
    const ChildResult ended = child.finish();
    EXPECT_EQ(ended.status, 0) << ended.all();
    EXPECT_EQ(names_in(folder.path().string()), (std::vector<std::string>{"r-1.tiff", "r.tiff"}));
}

} // namespace specklescope::run_report_test
