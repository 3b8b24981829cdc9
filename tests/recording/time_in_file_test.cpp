// Position of each frame in its original file, including seeks, and position of a time in a recording with
// uneven frames: by their own times, in every format.
#include "pipeline/source.hpp"
#include "sources/gst/gst_container.hpp"
#include "sources/registry.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/test_port.hpp"

#include <iostream>

namespace specklescope::time_in_file_test {

const std::vector<std::uint64_t> kPlaces = {5, 6, 20, 21, 3};

void record_places(const std::string& path, bool from_file) {
    const Shape shape{32, 24, 1, PixelType::u8};
    Maker maker(shape);
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(shape, 25));
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
        Result result = maker.make(i);
        if (from_file)
            result.info.position = kPlaces[i];
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    ASSERT_EQ(sink->status().written, kPlaces.size());
}

std::vector<std::uint64_t> places_in(const std::string& text) {
    std::vector<std::uint64_t> places;
    const std::string key = "\"position\":";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
        places.push_back(std::stoull(text.substr(at + key.size())));
    return places;
}

TEST(Positions, OfEachFrameInRawAndTiff) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(record_places(folder / "a.raw", true));
    EXPECT_EQ(places_in(read_text(folder / "a.raw.jsonl")), kPlaces);
    ASSERT_NO_FATAL_FAILURE(record_places(folder / "a.tiff", true));
    EXPECT_EQ(places_in(read_text(folder / "a.tiff")), kPlaces);
    ASSERT_NO_FATAL_FAILURE(record_places(folder / "live.raw", false));
    EXPECT_EQ(read_text(folder / "live.raw.jsonl").find("position"), std::string::npos);
}

TEST(Positions, WhereTheyJumpInMatroska) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(record_places(folder / "a.mkv", true));
    const std::string texts = matroska_texts(folder / "a.mkv");
    const Json json = Json::parse(texts.substr(texts.find("{\"finished\"")), nullptr, false);
    EXPECT_EQ(json["frames"]["position"], Json::parse("[5,1,14,1,-18]")) << texts;
    ASSERT_NO_FATAL_FAILURE(record_places(folder / "live.mkv", false));
    EXPECT_EQ(matroska_texts(folder / "live.mkv").find("position"), std::string::npos);
}

constexpr Shape kShape{64, 48, 1, PixelType::u8};
constexpr std::uint64_t kFrames = 60;

/// 10 frames/s after a slow part.
std::int64_t time_of(std::uint64_t frame) {
    const auto n = static_cast<std::int64_t>(frame);
    return n < 10 ? n * 300'000'000 : 3'000'000'000 + (n - 10) * 100'000'000;
}

void record_times(const std::string& path) {
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kShape, 10));
    Maker maker(kShape);
    for (std::uint64_t n = 0; n < kFrames; ++n) {
        Result result = maker.make(n);
        result.info.capture_ns = result.raw.info().capture_ns = 1'760'000'000'000'000'000 + time_of(n);
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
}

class TimeInFile : public testing::TestWithParam<const char*> {};

TEST_P(TimeInFile, IsThatOfItsFrames) {
    const TemporaryFolder folder;
    const std::string path = folder / (std::string("a") + GetParam());
    record_times(path);
    const auto source = make_source(path, {});
    EXPECT_NEAR(source->open().rate, 10, 1e-6);
    for (std::uint64_t n = 0; n < kFrames; ++n) {
        const double there = static_cast<double>(time_of(n)) * 1e-9;
        EXPECT_EQ(TimedFrames::find(*source, there), n) << there;
        EXPECT_EQ(TimedFrames::find(*source, there + 0.099), n) << there;
    }
    EXPECT_EQ(TimedFrames::find(*source, 8.0), kFrames) << "they end before";
    EXPECT_EQ(TimedFrames::find(*source, 1e6), kFrames);
    source->seek(*TimedFrames::find(*source, 2), 0); // the position is unchanged
    test::TestPort port;
    ASSERT_TRUE(test::read_frames(*source, port, 1));
    EXPECT_EQ(port.frames[0].info.position, 6U);
    EXPECT_EQ(port.frames[0].info.capture_ns, 1'760'000'000'000'000'000 + time_of(6));
}

TEST_P(TimeInFile, IsWhereARunBegins) {
    const TemporaryFolder folder;
    record_times(folder / (std::string("a") + GetParam()));
    const auto run = [&](const char* time) {
        return run_program({"run", std::string("a") + GetParam(), "--from-s", time, "--frames", "2",
                            "--record-raw", std::string("from") + time + ".raw"},
                           folder.path().string());
    };
    for (const auto& [time, frame] : {std::pair{"1", 3}, {"3", 10}, {"5.05", 30}}) {
        const ChildResult result = run(time);
        ASSERT_EQ(result.status, 0) << result.all();
        EXPECT_EQ(result.err.find("have no times"), std::string::npos) << result.all();
        std::istringstream lines(read_text(folder / (std::string("from") + time + ".raw.jsonl")));
        std::string line;
        std::getline(lines, line); // for the file
        std::getline(lines, line);
        EXPECT_NE(line.find("\"position\":" + std::to_string(frame)), std::string::npos)
            << time << ": " << line;
    }
    const ChildResult beyond = run("8");
    EXPECT_EQ(beyond.status, 2) << beyond.all();
    EXPECT_NE(beyond.err.find("8 s is frame 60, and "), std::string::npos) << beyond.all();
}

INSTANTIATE_TEST_SUITE_P(Formats, TimeInFile, testing::Values(".tiff", ".raw", ".mkv"));

/// Several files, of which the second began before the first, in playback order.
TEST(TimeInFiles, GoesOnOverThem) {
    const TemporaryFolder folder;
    fs::create_directory(folder / "f");
    record_times(folder / "f/a1.tiff");
    record_times(folder / "f/a2.tiff");
    const auto source = make_source(folder / "f", {});
    source->open();
    EXPECT_EQ(TimedFrames::find(*source, 7.9), kFrames - 1);
    EXPECT_EQ(TimedFrames::find(*source, 8.0), kFrames) << "a step behind the last of the first file";
    EXPECT_EQ(TimedFrames::find(*source, 8.0 + 3.0), kFrames + 10);
}

TEST(TimeInFiles, PicturesWithoutTimesHaveNone) {
    const TemporaryFolder folder;
    write_text(folder / "a.raw", std::string(64 * 48 * 10, 'x'));
    const auto source = make_source("raw:" + (folder / "a.raw") + "?width=64&height=48&rate=10", {});
    source->open();
    EXPECT_FALSE(TimedFrames::find(*source, 0.5));
    const ChildResult result = run_program(
        {"run", "raw:a.raw?width=64&height=48", "--rate", "10", "--from-s", "0.5", "--frames", "2"},
        folder.path().string());
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.err.find("have no times of their own: at 10 frames/s 0.5 s is frame 5."),
              std::string::npos)
        << result.all();
}

} // namespace specklescope::time_in_file_test
