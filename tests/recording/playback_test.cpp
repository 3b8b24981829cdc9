// Playback of recordings: pixels, time axis, exposures, gaps and full scale are restored, also from a
// recording of the playback.
#include "tests/recording/record_helpers.hpp"
#include "tests/support/test_port.hpp"

#include "sources/registry.hpp"

#include <cmath>

namespace playback_test {

using namespace specklescope;
using namespace specklescope::test;

constexpr PixelType kU8 = PixelType::u8, kU16 = PixelType::u16, kF32 = PixelType::f32;
constexpr int kWarm = 4; ///< number of recorded results made during warm-up
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Original {
    std::vector<FrameInfo> infos;
    std::vector<Bytes> pixels;
};

/// A camera with an old clock start, intervals with odd nanoseconds, lost frames and changing exposure.
Original original(const Shape& shape) {
    Original made;
    std::int64_t time = 1'760'000'000'123'456'789;
    std::uint64_t sequence = 40;
    for (int i = 0; i < 12; ++i) {
        FrameInfo info;
        info.sequence = sequence;
        info.capture_ns = time;
        info.exposure_ms = i < 7 ? 4.5 : i < 9 ? kUnknown : 0.1;
        info.full_scale = shape.type == kF32 ? 0 : 4095;
        if (shape.type == kU8)
            info.full_scale = 200;
        made.infos.push_back(info);
        made.pixels.push_back(expected(shape, static_cast<std::uint64_t>(i)));
        const int step = i == 4 ? 4 : 1;
        sequence += static_cast<std::uint64_t>(step);
        time += step * 16'666'667 + (i % 3) * 1'001;
    }
    return made;
}

std::string record(const Original& frames, const Shape& shape, const std::string& path, double rate,
                   RecordWhat what = RecordWhat::raw) {
    StreamInfo stream = stream_of(shape, rate);
    stream.source.full_scale = frames.infos[0].full_scale;
    const auto sink = make_recorder({.path = path, .what = what});
    sink->open(stream);
    FrameRing ring(shape, 6, host_memory());
    for (std::size_t i = 0; i < frames.infos.size(); ++i) {
        Result result;
        result.raw = ring.acquire(std::chrono::minutes(1));
        copy_pixels(ConstHostView(frames.pixels[i].data(), shape), result.raw.host());
        result.image = result.raw;
        result.info = frames.infos[i];
        result.chain = std::make_shared<Chain>();
        result.warmup = {"temporal", std::min(static_cast<int>(i), kWarm), kWarm};
        sink->push(result, true);
    }
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().written, frames.infos.size());
    return sink->status().path;
}

struct Played {
    SourceInfo source;
    std::vector<Delivered> frames;
    std::uint64_t lost = 0;
};

Played play(const std::string& path) {
    const auto source = make_source(path, {});
    Played played;
    played.source = source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    source->close();
    played.frames = std::move(port.frames);
    played.lost = port.lost_frames;
    return played;
}

void expect_same(const Original& original, const Played& played, const Shape& shape) {
    ASSERT_EQ(played.frames.size(), original.infos.size());
    EXPECT_EQ(played.source.frames, original.infos.size());
    EXPECT_EQ(played.source.full_scale, original.infos[0].full_scale);
    EXPECT_EQ(played.lost, 3U);
    for (std::size_t i = 0; i < played.frames.size(); ++i) {
        const Delivered& frame = played.frames[i];
        const FrameInfo& was = original.infos[i];
        EXPECT_EQ(frame.shape, shape);
        EXPECT_EQ(compare(frame.pixels, original.pixels[i]), "equal") << "frame " << i;
        EXPECT_EQ(frame.info.capture_ns, was.capture_ns) << "frame " << i;
        EXPECT_EQ(frame.info.sequence + original.infos[0].sequence, was.sequence) << "frame " << i;
        EXPECT_EQ(frame.info.full_scale, was.full_scale);
        EXPECT_FALSE(frame.info.recorded_in_warmup) << "of a raw frame that says nothing";
        if (std::isnan(was.exposure_ms))
            EXPECT_TRUE(std::isnan(frame.info.exposure_ms)) << "frame " << i;
        else
            EXPECT_EQ(frame.info.exposure_ms, was.exposure_ms) << "frame " << i;
    }
}

struct Container {
    const char* ending;
    Shape shape;
};

class EveryContainer : public testing::TestWithParam<Container> {};

TEST_P(EveryContainer, GivesBackPixelsTimesExposuresAndGapsTwice) {
    const TemporaryFolder folder;
    const auto& [ending, shape] = GetParam();
    const Original first = original(shape);
    const Played played = play(record(first, shape, folder / (std::string("a") + ending), 60));
    expect_same(first, played, shape);
    EXPECT_EQ(played.source.rate, 60);

    Original second = first; // frames for a recorder during playback
    for (std::size_t i = 0; i < second.infos.size(); ++i)
        second.infos[i] = played.frames.at(i).info;
    const Played again =
        play(record(second, shape, folder / (std::string("b") + ending), played.source.rate));
    expect_same(second, again, shape);
    EXPECT_EQ(again.source.rate, 60);
    for (std::size_t i = 0; i < again.frames.size(); ++i)
        EXPECT_EQ(again.frames[i].info.capture_ns, first.infos[i].capture_ns);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, EveryContainer,
    testing::Values(Container{".tiff", {17, 13, 1, kU8}}, Container{".tiff", {17, 13, 1, kU16}},
                    Container{".tiff", {17, 13, 1, kF32}}, Container{".tiff", {17, 13, 3, kU8}},
                    Container{".tiff", {17, 13, 3, kU16}}, Container{".raw", {17, 13, 1, kU8}},
                    Container{".raw", {17, 13, 1, kU16}}, Container{".raw", {17, 13, 1, kF32}},
                    Container{".raw", {17, 13, 3, kU8}}, Container{".h5", {17, 13, 1, kU8}},
                    Container{".h5", {17, 13, 1, kU16}}, Container{".h5", {16, 16, 1, kF32}},
                    Container{".mkv", {64, 48, 1, kU8}}, Container{".mkv", {61, 47, 1, kU16}},
                    Container{".mkv", {33, 17, 3, kU8}}));

class RecordingWithoutRate : public testing::TestWithParam<const char*> {};

TEST_P(RecordingWithoutRate, HasThatOfItsTimes) {
    const TemporaryFolder folder;
    const Shape shape{20, 10, 1, kU8};
    const Played played = play(record(original(shape), shape, folder / (std::string("a") + GetParam()), 0));
    EXPECT_NEAR(played.source.rate, 60, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Formats, RecordingWithoutRate, testing::Values(".tiff", ".raw", ".h5", ".mkv"));

class RecordedResults : public testing::TestWithParam<const char*> {};

TEST_P(RecordedResults, KeepTheirTimesAndExposuresAndHaveNoFullScale) {
    const TemporaryFolder folder;
    const Shape shape{64, 48, 1, kF32};
    const Original first = original(shape);
    const Played played =
        play(record(first, shape, folder / (std::string("a") + GetParam()), 60, RecordWhat::processed));
    ASSERT_EQ(played.frames.size(), first.infos.size());
    const bool numbers = std::string(GetParam()) != ".mkv";
    EXPECT_EQ(played.source.full_scale, numbers ? 0 : 255);
    for (std::size_t i = 0; i < first.infos.size(); ++i) {
        EXPECT_EQ(played.frames[i].info.capture_ns, first.infos[i].capture_ns);
        EXPECT_EQ(std::isnan(played.frames[i].info.exposure_ms), std::isnan(first.infos[i].exposure_ms));
        EXPECT_EQ(played.frames[i].info.recorded_in_warmup, i < kWarm) << i;
        if (numbers) {
            EXPECT_EQ(compare(played.frames[i].pixels, first.pixels[i]), "equal");
        }
    }
    // The copy of a copy: raw frames of the playback.
    Original second = first;
    for (std::size_t i = 0; i < second.infos.size(); ++i)
        second.infos[i] = played.frames.at(i).info;
    const Played again = play(record(second, shape, folder / "b.tiff", 60));
    ASSERT_EQ(again.frames.size(), first.infos.size());
    for (std::size_t i = 0; i < again.frames.size(); ++i)
        EXPECT_EQ(again.frames[i].info.recorded_in_warmup, i < kWarm) << i;
}
INSTANTIATE_TEST_SUITE_P(Formats, RecordedResults, testing::Values(".tiff", ".raw", ".h5", ".mkv"));

class PlayedInALoop : public testing::TestWithParam<const char*> {};

TEST_P(PlayedInALoop, TheClockGoesOn) {
    const TemporaryFolder folder;
    const Shape shape{20, 10, 1, kU8};
    const Original first = original(shape);
    const auto source =
        make_source(record(first, shape, folder / (std::string("a") + GetParam()), 60), {.loop = true});
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 30));
    source->close();
    for (std::size_t i = 0; i < 30; ++i) {
        if (i > 0) {
            EXPECT_GT(port.frames[i].info.capture_ns, port.frames[i - 1].info.capture_ns) << i;
        }
        if (i >= 12 && i % 12 != 0) {
            EXPECT_EQ(port.frames[i].info.capture_ns - port.frames[i - 1].info.capture_ns,
                      first.infos[i % 12].capture_ns - first.infos[i % 12 - 1].capture_ns);
        }
    }
    EXPECT_EQ(port.lost_frames, 2U * 3 + 3);
}
INSTANTIATE_TEST_SUITE_P(Formats, PlayedInALoop, testing::Values(".tiff", ".raw", ".h5", ".mkv"));

TEST(Playback, AtARateKeepsTheTimesOfTheRecording) {
    const TemporaryFolder folder;
    const Shape shape{20, 10, 1, kU8};
    const Original first = original(shape);
    const auto source = make_source(record(first, shape, folder / "a.tiff", 60), {.rate = 1000});
    EXPECT_EQ(source->open().rate, 60);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    for (std::size_t i = 0; i < first.infos.size(); ++i)
        EXPECT_EQ(port.frames[i].info.capture_ns, first.infos[i].capture_ns);
}

TEST(Playback, SnapshotsInAFolderAreNoRecordingWithGaps) {
    const TemporaryFolder folder;
    Maker maker({20, 10, 1, kU16});
    for (const std::uint64_t n : {3, 50, 900})
        write_snapshot(maker.make(n), {.path = folder / "s.tiff", .what = RecordWhat::raw},
                       stream_of({20, 10, 1, kU16}));
    const Played played = play((folder / "") + "/");
    ASSERT_EQ(played.frames.size(), 3U);
    EXPECT_EQ(played.lost, 0U);
    // By name s-1, s-2, s; the clock of the last file is earlier, so time continues by one step.
    EXPECT_EQ(played.frames[0].info.capture_ns, 500'000'005);
    EXPECT_EQ(played.frames[1].info.capture_ns, 9'000'000'005);
    EXPECT_EQ(played.frames[2].info.capture_ns, 9'000'000'005 + 8'500'000'000);
}

TEST(RawFile, TellsItsSizeByTheLinesBesideIt) {
    const TemporaryFolder folder;
    const Shape shape{20, 10, 1, kU16};
    const std::string path = record(original(shape), shape, folder / "a.raw", 60);
    EXPECT_EQ(fs::file_size(path), 12U * 400);
    std::ifstream lines(path + ".jsonl");
    std::string line;
    std::vector<Json> json;
    while (std::getline(lines, line))
        json.push_back(Json::parse(line));
    ASSERT_EQ(json.size(), 13U);
    EXPECT_EQ(json[0].at("format"), "gray16le");
    EXPECT_EQ(json[0].at("finished"), true);
    EXPECT_EQ(json[0].at("written"), 12);
    EXPECT_EQ(json[5].at("sequence"), 44);
    // Without facts, since the size differs.
    const Played other = play("raw:" + path + "?width=40&height=10&format=gray8");
    ASSERT_EQ(other.frames.size(), 12U);
    EXPECT_LT(other.frames[1].info.capture_ns, 1'000'000'000'000);
    EXPECT_EQ(other.source.full_scale, 255);
}

TEST(RawFile, ANameIsFreeOnlyIfBothAre) {
    const TemporaryFolder folder;
    const Shape shape{20, 10, 1, kU8};
    std::ofstream(folder / "a.raw.jsonl") << "precious";
    EXPECT_EQ(record(original(shape), shape, folder / "a.raw", 60), folder / "a-1.raw");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"a-1.raw", "a-1.raw.jsonl", "a.raw.jsonl"}));
    EXPECT_EQ(read_bytes(folder / "a.raw.jsonl").size(), 8U);
}

TEST(Recorder, WritesNamesThatAreNotUtf8) {
    const TemporaryFolder folder;
    const Shape shape{64, 48, 1, kU8};
    const std::string name = "caf\xe9";
    for (const char* ending : {".tiff", ".raw", ".h5", ".mkv", ".png"}) {
        StreamInfo stream = stream_of(shape);
        stream.source_text = stream.source.name = "/data/" + name + ".avi";
        const auto sink = make_recorder({.path = folder / (name + ending), .what = RecordWhat::raw});
        sink->open(stream);
        Maker maker(shape);
        for (std::uint64_t n = 0; n < 4; ++n)
            sink->push(maker.make(n), true);
        sink->close();
        EXPECT_EQ(sink->status().error, "") << ending;
        EXPECT_EQ(sink->status().written, std::string(ending) == ".png" ? 1U : 4U) << ending;
        const auto source = make_source(sink->status().path, {});
        TestPort port;
        source->open();
        EXPECT_TRUE(read_frames(*source, port)) << ending;
        ASSERT_GT(port.frames.size(), 0U) << ending;
        EXPECT_EQ(compare(port.frames.back().pixels, expected(shape, 3)), "equal") << ending;
    }
}

/// The mask marks raw samples at the full scale of the frame, by the rule of the counts.
TEST(Mask, MarksTheSamplesAtFullScale) {
    const TemporaryFolder folder;
    for (const Shape shape : {Shape{17, 13, 1, kU16}, Shape{17, 13, 3, kU8}, Shape{17, 13, 1, kF32}}) {
        const Original frames = original(shape); // 4095 for u16, 200 for u8, none for f32
        const std::string path = record(frames, shape, folder / "m.tiff", 60, RecordWhat::mask);
        const std::vector<Page> pages = read_stack(path);
        ASSERT_EQ(pages.size(), 12U);
        EXPECT_EQ(pages[0].description.at("content"), "mask");
        for (std::size_t i = 0; i < pages.size(); ++i) {
            EXPECT_EQ(pages[i].shape, (Shape{17, 13, shape.channels, kU8}));
            Bytes wanted(pages[i].pixels.size(), std::byte{0});
            for (std::size_t at = 0; at < wanted.size(); ++at) {
                std::uint16_t sample = 0;
                if (shape.type == kU16)
                    std::memcpy(&sample, frames.pixels[i].data() + 2 * at, 2);
                const bool full = shape.type == kU16  ? sample >= 4095
                                  : shape.type == kU8 ? std::to_integer<int>(frames.pixels[i][at]) >= 200
                                                      : false;
                wanted[at] = full ? std::byte{255} : std::byte{0};
            }
            EXPECT_EQ(compare(pages[i].pixels, wanted), "equal") << to_string(shape) << " page " << i;
        }
        const Played played = play(path);
        EXPECT_EQ(played.source.full_scale, 255);
        EXPECT_EQ(played.frames.back().info.capture_ns, frames.infos.back().capture_ns);
    }
}

} // namespace playback_test
