// Status of a recorder during recording, and the contents of its files: names, totals of frames (dropped by
// the recorder, lost before it, each in its own file), events after the last frame.
#include "base/log.hpp"
#include "recording/video/video.hpp"
#include "tests/recording/bigtiff.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace specklescope::recorder_status_test {

const Shape kSquare{8, 8, 1, PixelType::u8};

TEST(RecorderStatus, NamesTheFileThatIsWritten) {
    const TemporaryFolder folder;
    write_text(folder / "taken.tiff", "somebody's");
    const Shape shape{40, 30, 1, PixelType::u16};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "taken.tiff", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    recorder->push(maker.make(0), true);
    ASSERT_TRUE(test::eventually([&] { return recorder->status().written == 1; }));
    EXPECT_EQ(recorder->status().path, folder / "taken-1.tiff");
    recorder->close();
    EXPECT_EQ(recorder->status().path, folder / "taken-1.tiff");
    EXPECT_EQ(read_text(folder / "taken.tiff"), "somebody's");
}

/// A format of one image has written nothing until the end, then one frame.
TEST(RecorderStatus, OfALastFrameIsOneAtTheEnd) {
    const TemporaryFolder folder;
    const Shape shape{40, 30, 1, PixelType::u8};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "last.png", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    for (std::uint64_t n = 0; n < 3; ++n) {
        recorder->push(maker.make(n), true);
        EXPECT_EQ(recorder->status().written, 0U);
        EXPECT_EQ(recorder->status().bytes, 0U);
    }
    recorder->close();
    EXPECT_EQ(recorder->status().error, "");
    EXPECT_EQ(recorder->status().written, 1U);
    EXPECT_EQ(recorder->status().bytes, std::filesystem::file_size(folder / "last.png"));
}

/// The description of a Radiance image is complete JSON.
TEST(RecorderStatus, ARadiancePictureHoldsItsDescription) {
    const TemporaryFolder folder;
    const Shape shape{40, 30, 3, PixelType::f32};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "light.hdr", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    recorder->push(maker.make(4), true);
    recorder->close();
    ASSERT_EQ(recorder->status().error, "");
    const std::string head = read_text(folder / "light.hdr");
    const std::size_t begin = head.find("\nSPECKLESCOPE=") + 14;
    const Json json = Json::parse(head.substr(begin, head.find('\n', begin) - begin), nullptr, false);
    ASSERT_TRUE(json.is_object()) << head.substr(0, 2000);
    EXPECT_EQ(json.at("frame").at("capture_ns"), 40'000'005);
    EXPECT_EQ(json.at("finished"), true);
}

/// The resolution is 1 by 1 without a unit (TIFF 6.0): readers divide by it.
TEST(RecorderStatus, AStackSaysThatItsPixelsAreSquare) {
    const TemporaryFolder folder;
    const Shape shape{40, 30, 1, PixelType::u16};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "x.tiff", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    recorder->push(maker.make(0), true);
    recorder->close();
    const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(TIFFOpen((folder / "x.tiff").c_str(), "r"), TIFFClose);
    ASSERT_TRUE(tiff);
    float x = 0, y = 0;
    EXPECT_EQ(TIFFGetField(tiff.get(), TIFFTAG_XRESOLUTION, &x), 1);
    EXPECT_EQ(TIFFGetField(tiff.get(), TIFFTAG_YRESOLUTION, &y), 1);
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, 1);
}

class LateMarks : public testing::Test {
protected:
    LateMarks() {
        log_to(std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_, true)));
    }
    ~LateMarks() override { log_to(nullptr); }
    LateMarks(const LateMarks&) = delete;
    LateMarks& operator=(const LateMarks&) = delete;
    std::size_t said(const std::string& what) const {
        const std::string text = log_.str();
        std::size_t count = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            ++count;
        return count;
    }
    std::ostringstream log_;
    const TemporaryFolder folder_;
};

TEST_F(LateMarks, AreSaidByTheirNamesAndThoseBeforeAreInTheFile) {
    Maker maker(kSquare);
    const auto sink = make_recorder({.path = folder_ / "a.tiff", .what = RecordWhat::raw});
    sink->open(stream_of(kSquare));
    sink->push(maker.make(0), true);
    sink->mark({.number = 1, .sequence = 1, .capture_ns = 7, .label = "stimulus"});
    sink->push(maker.make(1), true);
    sink->mark({.number = 2, .sequence = 1, .capture_ns = 8, .label = "too\nlate"});
    sink->mark({.number = 3, .sequence = 1, .capture_ns = 9, .label = "later"});
    sink->close();
    const std::vector<Page> pages = read_stack(folder_ / "a.tiff");
    ASSERT_EQ(pages.size(), 2U);
    EXPECT_EQ(pages[1].description.at("events").at(0).at("label"), "stimulus");
    EXPECT_EQ(pages[1].description.at("events").size(), 1U);
    const std::string file = folder_ / "a.tiff";
    EXPECT_EQ(said("last frame of " + file), 2U) << log_.str();
    EXPECT_EQ(said("'later'"), 1U) << log_.str();
    EXPECT_EQ(said("too\nlate"), 0U) << "one line: " << log_.str();
    EXPECT_EQ(said("'stimulus'"), 0U) << log_.str();
    sink->mark({.number = 4, .sequence = 1, .capture_ns = 9, .label = "closed"});
    sink->close();
    EXPECT_EQ(said("closed"), 0U) << "what is not recorded is not missed";
}

TEST_F(LateMarks, OfTheNextRecordingAreItsOwn) {
    Maker maker(kSquare);
    const auto sink = make_recorder({.path = folder_ / "a.tiff", .what = RecordWhat::raw});
    for (int round = 0; round < 2; ++round) {
        sink->open(stream_of(kSquare));
        sink->push(maker.make(0), true);
        if (round == 0)
            sink->mark({.number = 1, .sequence = 0, .capture_ns = 7, .label = "first"});
        sink->close();
    }
    EXPECT_EQ(said("'first'"), 1U) << log_.str();
    EXPECT_FALSE(read_stack(folder_ / "a-1.tiff").at(0).description.at("frame").contains("events"));
}

const Shape kSmall{20, 10, 1, PixelType::u16}, kLarge{24, 12, 1, PixelType::u16};

/// Offers frame `n`; a frame without pixels is dropped in any case.
void offer(Sink& sink, Maker& maker, std::uint64_t n, bool dropped = false) {
    Result result = maker.make(n);
    if (dropped)
        result.raw = {};
    sink.push(result, true);
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
    offer(*sink, maker, 5); // 3 and 4 are missing
    offer(*sink, maker, 6, true);
    offer(*sink, maker, 9); // 7 and 8 are missing
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.written, 4U);
    EXPECT_EQ(status.dropped, 2U);
    EXPECT_EQ(status.lost_before, 4U);
    const Json totals = description_of(status.path);
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
    offer(*sink, maker, 5, true); // 2 to 4 are missing
    offer(*sink, maker, 6, true);
    offer(*sink, maker, 9, true); // 7 and 8 are missing
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.written, 2U);
    EXPECT_EQ(status.dropped, 3U);
    EXPECT_EQ(status.lost_before, 5U);
    const Json totals = description_of(status.path);
    EXPECT_EQ(totals.at("written"), 2);
    EXPECT_EQ(totals.at("dropped"), 3);
    EXPECT_EQ(totals.at("lost_before_recorder"), 5);
}

// 100 ppm, each third frame delayed; the second file is too short for a clock report.
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
        const Json totals = description_of(sink->status().before.at(0).path);
        EXPECT_EQ(totals.contains("clock"), !clock.empty());
        EXPECT_EQ(totals.contains("capture_clock"), !clock.empty());
        EXPECT_FALSE(description_of(sink->status().path).contains("clock"));
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
    offer(*sink, small, 4); // 2 and 3 are missing
    offer(*sink, large, 5);
    offer(*sink, large, 6, true);
    offer(*sink, large, 7, true);
    offer(*sink, large, 9); // 8 is missing
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
        const Json totals = description_of(paths[i]);
        EXPECT_EQ(totals.at("written"), wanted[i][0]) << paths[i];
        EXPECT_EQ(totals.at("dropped"), wanted[i][1]) << paths[i];
        EXPECT_EQ(totals.at("lost_before_recorder"), wanted[i][2]) << paths[i];
        EXPECT_EQ(totals.at("finished"), true) << paths[i];
    }
}
INSTANTIATE_TEST_SUITE_P(Formats, RecorderTotals, testing::Values(".tiff", ".raw", ".mkv"));

/// Results that were on a GPU when it began have no pixels.
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

/// A camera's clock has nanoseconds: nothing is rounded to microseconds.
TEST(VideoClock, ItsTickIsANanosecond) {
    VideoClock camera(0, 50);
    EXPECT_EQ(camera.next(7), 0);
    EXPECT_EQ(camera.next(8), 1);
    EXPECT_EQ(camera.next(10), 3);
    EXPECT_EQ(camera.next(1'000'000'017), 1'000'000'010);
    VideoClock faster(4e9, 0); // four frames per tick
    for (std::int64_t n = 0; n < 9; ++n)
        EXPECT_EQ(faster.next(0), n);
}

} // namespace specklescope::recorder_status_test
