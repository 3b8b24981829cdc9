// Summary at the end of a run: pixels without a value, each file of a recorder with its own frames, duration
// of a camera's absence; only lines with content.
#include "cli/summary.hpp"
#include "config/text.hpp"
#include "pipeline/chain.hpp"
#include "tests/recording/bigtiff.hpp"
#include "tests/support/child.hpp"
#include "tests/support/images.hpp"

namespace specklescope::summary_test {

TEST(Summary, TellsPixelsWithoutAValueAndOnlyThose) {
    const TemporaryFolder folder;
    const auto summary = [&](char pixel) {
        std::string noise;
        for (int i = 0; i < 20 * 20; ++i)
            noise += static_cast<char>(pixel != 0 && pixel != 9 ? 20 + i * 7919 % 101 : pixel);
        write_text(folder / "one.raw", noise);
        const ChildResult result = run_program(
            {"run", "raw:one.raw?width=20&height=20&format=gray8", "--stage", "speckle:radius=1,output=sfi"},
            folder.path().string());
        EXPECT_EQ(result.status, 0) << result.all();
        return result.out;
    };
    const std::string said = "400 in the last frame, 400 in the worst, 400 pixels in all";
    const std::string black = summary(0), flat = summary(9), speckled = summary(1);
    EXPECT_NE(black.find("undefined"), std::string::npos) << black;
    EXPECT_NE(black.find(said), std::string::npos) << black;
    EXPECT_EQ(black.find("infinite"), std::string::npos) << black;
    EXPECT_NE(flat.find("infinite"), std::string::npos) << flat;
    EXPECT_NE(flat.find(said), std::string::npos) << flat;
    EXPECT_EQ(flat.find("undefined"), std::string::npos) << flat;
    EXPECT_EQ(speckled.find("undefined"), std::string::npos) << speckled;
    EXPECT_EQ(speckled.find("infinite"), std::string::npos) << speckled;
}

/// Row of a file; empty if missing.
std::string row_of(const std::string& summary, const std::string& file) {
    const std::size_t at = summary.find(" " + file + ": ");
    return at == std::string::npos ? "" : summary.substr(at + 1, summary.find('\n', at) - at - 1);
}

TEST(Summary, TellsEachFileOfARecorderWithItsOwnFrames) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "pictures");
    struct Size {
        std::uint32_t width, height;
        int frames;
    };
    const std::vector<Size> sizes = {{64, 48, 2}, {32, 24, 3}, {64, 48, 1}};
    char name = 'a';
    for (const Size& size : sizes)
        for (int i = 0; i < size.frames; ++i)
            write_text(folder / ("pictures/" + std::string(1, name++) + ".tif"),
                       tiff_bytes({.width = size.width, .height = size.height}));
    const ChildResult result = run_program(
        {"run", "pictures", "--record", "out.tiff", "--record-raw", "in.tiff"}, folder.path().string());
    ASSERT_EQ(result.status, 0) << result.all();
    for (const std::string& stem : {std::string("out"), std::string("in")})
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const std::string file = stem + (i == 0 ? "" : "-" + std::to_string(i)) + ".tiff";
            const std::string bytes = read_text(folder / file);
            const auto frames = static_cast<int>(BigTiff(bytes).pages().size());
            EXPECT_EQ(frames, sizes[i].frames) << file;
            EXPECT_EQ(row_of(result.out, file),
                      file + ": " + std::to_string(frames) + (frames == 1 ? " frame, " : " frames, ") +
                          printed("%.1f kB", static_cast<double>(bytes.size()) / 1e3))
                << result.out;
        }
}

TEST(Summary, TellsFilesThatWereFinishedBeforeARecorderStopped) {
    SinkStatus status;
    status.before = {{"a.tiff", 7, 1'500'000}, {"a-1.tiff", 1, 900}};
    status.error = "The disk is full.";
    status.written = 8;
    EXPECT_EQ(recorder_rows(status), row("wrote", "a.tiff: 7 frames, 1.5 MB", kReportLeft) +
                                         row("wrote", "a-1.tiff: 1 frame, 0.9 kB", kReportLeft) +
                                         row("recorder", "The disk is full.", kReportLeft));
    status.path = "a-2.tiff";
    status.written = 11;
    status.bytes = 2'000'000'000;
    status.dropped = 5;
    const std::string rows = recorder_rows(status);
    EXPECT_NE(rows.find("a-2.tiff: 3 frames, 2.00 GB, 5 dropped; stopped: The disk is full."),
              std::string::npos)
        << rows;
}

TEST(Summary, TellsHowLongASourceWasAwayAsAnEstimate) {
    StatsSnapshot stats;
    const auto rows = [&] { return statistics_rows(stats, SourceInfo{}, Chain(), ""); };
    EXPECT_EQ(rows().find("away"), std::string::npos) << "it was there all the time: " << rows();
    stats.away.reopened = 1;
    stats.away.seconds = 2.26;
    stats.away.missed = 112;
    const std::string once = "opened again 1 time, away 2.3 s; about 112 frames missed (estimate)";
    EXPECT_NE(rows().find(row("away", once, kReportLeft)), std::string::npos) << rows();
    stats.away.reopened = 3;
    EXPECT_NE(rows().find("opened again 3 times, away 2.3 s"), std::string::npos) << rows();
}

} // namespace specklescope::summary_test
