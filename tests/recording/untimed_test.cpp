// Frames without times: no format contains a number in seconds for them, and the same run twice writes the
// same.
#include "base/error.hpp"
#include "files/image_file.hpp"
#include "sources/registry.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/test_port.hpp"

#include <fstream>

namespace specklescope::untimed_test {

constexpr Shape kShape{64, 48, 1, PixelType::u8};
constexpr std::uint64_t kFrames = 12;

/// Headerless frames without a description.
std::string write_stack(const TemporaryFolder& folder) {
    std::ofstream file(folder / "stack.raw", std::ios::binary);
    for (std::uint64_t n = 0; n < kFrames; ++n) {
        const Bytes frame = expected(kShape, n);
        file.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
    }
    return "raw:stack.raw?width=64&height=48&format=gray8";
}

TEST(Untimed, TablesAndFilesHoldNoSeconds) {
    const TemporaryFolder folder;
    const std::string source = write_stack(folder);
    std::ofstream(folder / "r.json")
        << R"({"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[60,40]]}]})";
    const auto run = [&](std::vector<std::string> more) {
        std::vector<std::string> all = {"run", source};
        all.insert(all.end(), more.begin(), more.end());
        return run_program(all, folder.path().string());
    };
    const ChildResult ran = run({"--stage", "speckle", "--regions", "r.json", "--traces", "t.csv", "--record",
                                 "k.tiff", "--record-raw", "r.ome.tiff"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_NE(ran.all().find("not stated"), std::string::npos) << ran.all();
    std::istringstream table(read_text(folder / "t.csv"));
    std::uint64_t rows = 0;
    for (std::string line; std::getline(table, line);)
        if (!line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) != 0) {
            EXPECT_EQ(line.find(std::to_string(rows) + ",,"), 0U) << line;
            ++rows;
        }
    EXPECT_EQ(rows, kFrames);
    for (const char* name : {"k.tiff", "r.ome.tiff"}) {
        const auto reader = open_image(folder / name);
        ASSERT_TRUE(reader->next_page());
        EXPECT_EQ(reader->description().find("finterval"), std::string::npos) << reader->description();
        EXPECT_EQ(reader->description().find("TimeIncrement"), std::string::npos);
        EXPECT_FALSE(reader->recorded().capture_ns);
    }
    const ChildResult pulse = run_program({"pulse", "t.csv"}, folder.path().string());
    EXPECT_EQ(pulse.status, 2) << pulse.all();
    EXPECT_NE(pulse.err.find("--rate"), std::string::npos) << pulse.all();
    for (const std::vector<std::string>& seconds :
         {std::vector<std::string>{"--record-raw", "x.tiff", "--record-seconds", "1"},
          {"--record-raw", "x.tiff", "--split-s", "1"},
          {"--stage", "speckle", "--baseline-seconds", "1", "--change", "--record", "y.tiff"}}) {
        const ChildResult refused = run(seconds);
        EXPECT_EQ(refused.status, 2) << seconds[1] << refused.all();
        EXPECT_NE(refused.err.find("--rate"), std::string::npos) << refused.all();
    }
    ASSERT_EQ(run({"--rate", "100", "--record-raw", "timed.tiff"}).status, 0);
    const auto timed = open_image(folder / "timed.tiff");
    ASSERT_TRUE(timed->next_page() && timed->seek_page(5));
    EXPECT_EQ(timed->recorded().capture_ns, 50'000'000);
}

class UntimedFormats : public testing::TestWithParam<const char*> {};

TEST_P(UntimedFormats, ArePlayedBackWithoutTimes) {
    const TemporaryFolder folder;
    const std::string path = folder / (std::string("a") + GetParam());
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    StreamInfo stream = stream_of(kShape, 0);
    stream.source.time_origin = TimeOrigin::none;
    sink->open(stream);
    Maker maker(kShape);
    for (std::uint64_t n = 0; n < kFrames; ++n) {
        Result result = maker.make(n);
        for (FrameInfo* info : {&result.info, &result.raw.info(), &result.image.info()}) {
            info->capture_ns = static_cast<std::int64_t>(n) * 1'000'000'000;
            info->time_origin = TimeOrigin::none;
        }
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    const auto source = make_source(path, {});
    const SourceInfo info = source->open();
    EXPECT_EQ(info.time_origin, TimeOrigin::none);
    EXPECT_EQ(info.rate, 0);
    test::TestPort port;
    ASSERT_TRUE(test::read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), kFrames);
    for (const test::Delivered& frame : port.frames)
        EXPECT_EQ(frame.info.time_origin, TimeOrigin::none);
}

INSTANTIATE_TEST_SUITE_P(Formats, UntimedFormats, testing::Values(".tiff", ".raw", ".mkv"));

} // namespace specklescope::untimed_test
