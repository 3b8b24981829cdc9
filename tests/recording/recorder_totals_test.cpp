// The balance of a recording: what was dropped here, what was lost before, each in the file it belongs to.
#include "tests/recording/record_helpers.hpp"

#include "recording/video_description.hpp"

namespace recorder_totals_test {

using namespace specklescope;

const Shape kSmall{20, 10, 1, PixelType::u16}, kLarge{24, 12, 1, PixelType::u16};

/// Offers frame `n`; one without pixels is dropped whatever the disk does.
void offer(Sink& sink, Maker& maker, std::uint64_t n, bool dropped = false) {
    Result result = maker.make(n);
    if (dropped)
        result.raw = {};
    sink.push(result, true);
}

Json totals_of(const std::string& path) {
    if (path.ends_with(".mkv"))
        return video_tags(path);
    if (path.ends_with(".raw")) {
        std::ifstream lines(path + ".jsonl");
        std::string first;
        std::getline(lines, first);
        return Json::parse(first);
    }
    return read_stack(path).at(0).description;
}

class RecorderTotals : public testing::TestWithParam<const char*> {};

TEST_P(RecorderTotals, TellADropFromAGapThatFollowsIt) {
    const TemporaryFolder folder;
    Maker maker(kSmall);
    const auto sink =
        make_recorder({.path = folder / (std::string("a") + GetParam()), .what = RecordWhat::raw});
    sink->open(stream_of(kSmall));
    offer(*sink, maker, 0);
    offer(*sink, maker, 1, true);
    offer(*sink, maker, 2);
    offer(*sink, maker, 5); // 3 and 4 never came
    offer(*sink, maker, 6, true);
    offer(*sink, maker, 9); // nor did 7 and 8
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.written, 4U);
    EXPECT_EQ(status.dropped, 2U);
    EXPECT_EQ(status.lost_before, 4U);
    const Json totals = totals_of(status.path);
    EXPECT_EQ(totals.at("written"), 4);
    EXPECT_EQ(totals.at("dropped"), 2);
    EXPECT_EQ(totals.at("lost_before_recorder"), 4);
}

TEST_P(RecorderTotals, TellWhatWasLostBehindTheLastFrameOfTheFile) {
    const TemporaryFolder folder;
    Maker maker(kSmall);
    const auto sink =
        make_recorder({.path = folder / (std::string("a") + GetParam()), .what = RecordWhat::raw});
    sink->open(stream_of(kSmall));
    offer(*sink, maker, 0);
    offer(*sink, maker, 1);
    offer(*sink, maker, 5, true); // 2 to 4 never came
    offer(*sink, maker, 6, true);
    offer(*sink, maker, 9, true); // nor did 7 and 8
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.written, 2U);
    EXPECT_EQ(status.dropped, 3U);
    EXPECT_EQ(status.lost_before, 5U);
    const Json totals = totals_of(status.path);
    EXPECT_EQ(totals.at("written"), 2);
    EXPECT_EQ(totals.at("dropped"), 3);
    EXPECT_EQ(totals.at("lost_before_recorder"), 5);
}

// 100 ppm, each third frame held up; the second file is too short for a word about it.
TEST_P(RecorderTotals, SayHowTheSourcesClockRunsBesideOurs) {
    const TemporaryFolder folder;
    for (const std::string clock : {"camera, PTP Slave", ""}) {
        Maker small(kSmall), large(kLarge);
        const auto sink =
            make_recorder({.path = folder / (std::string("a") + GetParam()), .what = RecordWhat::raw});
        StreamInfo stream = stream_of(kSmall);
        stream.source.clock = clock;
        sink->open(stream);
        for (std::uint64_t n = 0; n <= 800; ++n) {
            Result result = (n <= 700 ? small : large).make(n);
            result.info.capture_ns = static_cast<std::int64_t>(n) * 10'001'000;
            result.info.arrival = SteadyClock::time_point(
                std::chrono::nanoseconds(n * 10'000'000 + (n % 3 == 1 ? 4'000'000 : 0)));
            sink->push(result, true);
        }
        sink->close();
        const Json totals = totals_of(sink->status().before.at(0).path);
        EXPECT_EQ(totals.contains("clock"), !clock.empty());
        EXPECT_EQ(totals.contains("capture_clock"), !clock.empty());
        EXPECT_FALSE(totals_of(sink->status().path).contains("clock"));
        if (clock.empty())
            continue;
        EXPECT_EQ(totals.at("capture_clock"), clock);
        EXPECT_EQ(totals.at("clock").at("frames"), 701);
        EXPECT_NEAR(totals.at("clock").at("skew_ppm").get<double>(), 100, 0.1);
        EXPECT_NEAR(totals.at("clock").at("delay_ms").get<double>(), 4.0 / 3, 0.02);
        EXPECT_EQ(totals.at("clock").at("at_capture_ns"), 700LL * 10'001'000);
    }
}

TEST_P(RecorderTotals, EachFileAfterAChangeOfSizeHasItsOwn) {
    const TemporaryFolder folder;
    Maker small(kSmall), large(kLarge);
    const auto sink =
        make_recorder({.path = folder / (std::string("a") + GetParam()), .what = RecordWhat::raw});
    sink->open(stream_of(kSmall));
    offer(*sink, small, 0);
    offer(*sink, small, 1, true);
    offer(*sink, small, 4); // 2 and 3 never came
    offer(*sink, large, 5);
    offer(*sink, large, 6, true);
    offer(*sink, large, 7, true);
    offer(*sink, large, 9); // nor did 8
    offer(*sink, small, 10);
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.written, 5U);
    EXPECT_EQ(status.dropped, 3U);
    EXPECT_EQ(status.lost_before, 3U);
    ASSERT_EQ(status.before.size(), 2U);
    const std::string paths[] = {status.before[0].path, status.before[1].path, status.path};
    const int wanted[][3] = {{2, 1, 2}, {2, 2, 1}, {1, 0, 0}};
    for (std::size_t i = 0; i < 3; ++i) {
        const Json totals = totals_of(paths[i]);
        EXPECT_EQ(totals.at("written"), wanted[i][0]) << paths[i];
        EXPECT_EQ(totals.at("dropped"), wanted[i][1]) << paths[i];
        EXPECT_EQ(totals.at("lost_before_recorder"), wanted[i][2]) << paths[i];
        EXPECT_EQ(totals.at("finished"), true) << paths[i];
    }
}
INSTANTIATE_TEST_SUITE_P(Formats, RecorderTotals, testing::Values(".tiff", ".raw", ".mkv"));

/// Results that were on their way on a GPU when it began have none.
TEST(Recorder, CountsNoFrameInFrontOfTheFirstThatHasPixels) {
    const TemporaryFolder folder;
    for (const RecordWhat what : {RecordWhat::processed, RecordWhat::screen}) {
        Maker maker({40, 30, 1, PixelType::u8});
        const auto recorder =
            make_recorder({.path = folder / "b.tiff", .what = what, .limits = {.frames = 7, .every = 2}});
        recorder->open(stream_of(maker.raw().shape()));
        for (std::uint64_t n = 0; n < 40; ++n) {
            Result result = maker.make(n);
            if (n < 3 || n == 7)
                result.image = {};
            recorder->push(result, true);
        }
        recorder->close();
        const SinkStatus status = recorder->status();
        EXPECT_EQ(status.error, "");
        EXPECT_EQ(status.complete, "7 frames") << "3, 5, 7, …";
        EXPECT_EQ(status.written, 6U);
        EXPECT_EQ(status.dropped, 1U);
        EXPECT_EQ(status.left_out, 6U) << "4, 6, …, 14";
        EXPECT_EQ(status.lost_before, 0U);
    }
}

/// A camera's clock counts nanoseconds: nothing is rounded up to a microsecond.
TEST(VideoClock, ItsTickIsANanosecond) {
    VideoClock camera(0, 50);
    EXPECT_EQ(camera.next(7), 0);
    EXPECT_EQ(camera.next(8), 1);
    EXPECT_EQ(camera.next(10), 3);
    EXPECT_EQ(camera.next(1'000'000'017), 1'000'000'010);
    VideoClock faster(4e9, 0); // four frames in a tick
    for (std::int64_t n = 0; n < 9; ++n)
        EXPECT_EQ(faster.next(0), n);
}

} // namespace recorder_totals_test
