// Sources over GStreamer deliver every frame, in order, unchanged where the format allows it, and say why
// where not.
#include "eventually.hpp"
#include "pipeline/error.hpp"
#include "sources/gap_counter.hpp"
#include "sources/gst_source.hpp"
#include "sources/registry.hpp"

#include "media.hpp"
#include "test_port.hpp"

#include <cmath>
#include <cstring>

using namespace specklescope;
using namespace specklescope::test;

namespace {

std::unique_ptr<Source> video(const std::string& path, bool loop = false, double rate = 0) {
    Params params(video_table());
    params.set("loop", loop);
    params.set("rate", rate);
    return make_video_source(path, params);
}

std::unique_ptr<Source> of_type(const SourceType& type, const std::string& target) {
    return type.make({std::string(type.kind), target, {}}, Params(*type.table));
}

std::unique_ptr<Source> gst(const std::string& text) { return of_type(gst_source_type(), text); }

/// What the source's failure says; also reads it to its end if it opens. Fails the test if stderr gets
/// anything.
template <class E> std::string failure(Source& source, TestPort& port) {
    testing::internal::CaptureStderr();
    std::string said;
    try {
        source.open();
        read_frames(source, port);
        ADD_FAILURE() << "no error";
    } catch (const E& error) {
        said = error.what();
    }
    source.close();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::cout << said << '\n';
    EXPECT_EQ(said.find('\n'), std::string::npos);
    return said;
}
template <class E> std::string failure(Source& source) {
    TestPort port;
    return failure<E>(source, port);
}

void expect_same(const RawMovie& movie, const TestPort& port, const Shape& shape) {
    ASSERT_EQ(port.frames.size(), static_cast<std::size_t>(movie.count));
    for (std::size_t i = 0; i < port.frames.size(); ++i) {
        ASSERT_EQ(port.frames[i].shape, shape);
        ASSERT_EQ(std::memcmp(port.frames[i].pixels.data(), movie.frame(i), movie.frame_bytes()), 0)
            << "frame " << i;
        EXPECT_EQ(port.frames[i].info.full_scale, type_full_scale(shape.type));
        if (i > 0) {
            EXPECT_NEAR(
                static_cast<double>(port.frames[i].info.capture_ns - port.frames[i - 1].info.capture_ns), 4e7,
                1.1e6);
        }
    }
}

void expect_lossless(const RawMovie& movie, const std::string& chain, const std::string& ending,
                     const Shape& shape) {
    const ScratchFolder folder;
    const std::string path = folder / ("movie" + ending);
    ASSERT_NO_FATAL_FAILURE(encode(movie, chain, path));
    const auto source = video(path);
    const SourceInfo info = source->open();
    EXPECT_EQ(info.shape, shape);
    EXPECT_EQ(info.name, "movie" + ending);
    EXPECT_FALSE(info.live);
    EXPECT_NEAR(info.rate, 25, 1e-6);
    EXPECT_EQ(info.frames, static_cast<std::uint64_t>(movie.count));
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    expect_same(movie, port, shape);
}

} // namespace

// 37 pixels: no row begins where the one before it ends, in any of GStreamer's buffers.
TEST(VideoFile, Ffv1Grey8IsBitExact) {
    expect_lossless(noise_movie(37, 23, 12, "GRAY8", 1), "avenc_ffv1 ! matroskamux", ".mkv",
                    {37, 23, 1, PixelType::u8});
}

TEST(VideoFile, Ffv1Grey16IsBitExact) {
    expect_lossless(noise_movie(37, 23, 12, "GRAY16_LE", 2), "avenc_ffv1 ! matroskamux", ".mkv",
                    {37, 23, 1, PixelType::u16});
}

TEST(VideoFile, RawGrey8InMatroskaIsBitExact) {
    expect_lossless(noise_movie(40, 24, 12, "GRAY8", 1), "matroskamux", ".mkv", {40, 24, 1, PixelType::u8});
}

TEST(VideoFile, RawRgbInMatroskaIsBitExact) {
    expect_lossless(noise_movie(40, 24, 12, "RGB", 3), "matroskamux", ".mkv", {40, 24, 3, PixelType::u8});
}

TEST(VideoFile, BgrInAviBecomesRgb) {
    RawMovie movie = noise_movie(40, 24, 5, "BGR", 3);
    const ScratchFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(movie, "avimux", folder / "a.avi"));
    for (std::size_t i = 0; i < movie.bytes.size(); i += 3)
        std::swap(movie.bytes[i], movie.bytes[i + 2]);
    const auto source = video(folder / "a.avi");
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    expect_same(movie, port, {40, 24, 3, PixelType::u8});
}

// A smooth picture through lossy codecs: the mean difference stays within a few grey values.
TEST(VideoFile, LossyCodecsGiveTheSamePicture) {
    RawMovie grey{64, 48, 10, "GRAY8", 1, {}};
    for (int i = 0; i < grey.count; ++i)
        for (int y = 0; y < grey.height; ++y)
            for (int x = 0; x < grey.width; ++x)
                grey.bytes.push_back(static_cast<std::uint8_t>(40 + 2 * x + y + 4 * i));
    // Grey has no declared range, which H.264 would take for 16…235: its frames are made from RGB.
    RawMovie colour{64, 48, 10, "RGB", 3, {}};
    for (const std::uint8_t value : grey.bytes)
        colour.bytes.insert(colour.bytes.end(), 3, value);
    struct Case {
        const char *chain, *ending;
        std::size_t channels; ///< x264enc takes no grey: that picture comes back as colour
    };
    const ScratchFolder folder;
    for (const Case& c :
         {Case{"jpegenc quality=95 ! avimux", ".avi", 1}, Case{"jpegenc ! matroskamux", ".mkv", 1},
          Case{"videoconvert ! x264enc ! mp4mux", ".mp4", 3},
          Case{"videoconvert ! x264enc ! qtmux", ".mov", 3}}) {
        const std::string path = folder / (std::string("grey") + c.ending);
        ASSERT_NO_FATAL_FAILURE(encode(c.channels == 1 ? grey : colour, c.chain, path));
        const auto source = video(path);
        const SourceInfo info = source->open();
        TestPort port;
        EXPECT_TRUE(read_frames(*source, port));
        ASSERT_EQ(port.frames.size(), 10u) << c.ending;
        ASSERT_EQ(static_cast<std::size_t>(info.shape.channels), c.channels) << c.ending;
        double sum = 0;
        for (std::size_t i = 0; i < 10; ++i)
            for (std::size_t p = 0; p < grey.frame_bytes(); ++p)
                sum += std::abs(port.frames[i].data<std::uint8_t>()[p * c.channels] - grey.frame(i)[p]);
        EXPECT_LT(sum / static_cast<double>(grey.bytes.size()), 4) << c.ending;
    }
}

TEST(VideoFile, YuvBecomesRgb) {
    const ScratchFolder folder;
    ASSERT_TRUE(launch(
        "videotestsrc num-buffers=4 pattern=red ! video/x-raw,format=I420,width=64,height=48 ! x264enc ! "
        "mp4mux ! filesink location=" +
        (folder / "red.mp4")));
    const auto source = video(folder / "red.mp4");
    EXPECT_EQ(source->open().shape, (Shape{64, 48, 3, PixelType::u8}));
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 4u);
    const auto* pixel = port.frames[2].data<std::uint8_t>();
    EXPECT_NEAR(pixel[0], 255, 6);
    EXPECT_NEAR(pixel[1], 0, 6);
    EXPECT_NEAR(pixel[2], 0, 6);
}

namespace {
RawMovie counting_movie(int count) {
    RawMovie movie{16, 8, count, "GRAY16_LE", 2, {}};
    for (int i = 0; i < count; ++i)
        for (int p = 0; p < 16 * 8; ++p) {
            movie.bytes.push_back(static_cast<std::uint8_t>(i & 255));
            movie.bytes.push_back(static_cast<std::uint8_t>(i >> 8));
        }
    return movie;
}
} // namespace

TEST(VideoFile, AThousandFramesAllComeInOrder) {
    expect_lossless(counting_movie(1000), "avenc_ffv1 ! matroskamux", ".mkv", {16, 8, 1, PixelType::u16});
}

TEST(VideoFile, LoopGoesRoundWithoutLosingOrDoublingAFrame) {
    const ScratchFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(counting_movie(30), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    const auto source = video(folder / "a.mkv", true);
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 100));
    for (std::size_t i = 0; i < port.frames.size(); ++i) {
        ASSERT_EQ(port.frames[i].data<std::uint16_t>()[0], i % 30) << "frame " << i;
        if (i > 0) {
            EXPECT_NEAR(
                static_cast<double>(port.frames[i].info.capture_ns - port.frames[i - 1].info.capture_ns), 4e7,
                1.1e6);
        }
    }
    source->set("loop", false);
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size(), 120u);
}

// H.264 with frames that refer to later ones: the decoder's last frames come out at the end, before it starts
// again.
TEST(VideoFile, LoopOfReorderedFramesIsWhole) {
    const ScratchFolder folder;
    ASSERT_TRUE(launch(
        "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=48,framerate=25/1 ! x264enc bframes=3 ! "
        "mp4mux ! filesink location=" +
        (folder / "a.mp4")));
    const auto source = video(folder / "a.mp4", true);
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 90));
    for (std::size_t i = 30; i < 90; ++i)
        ASSERT_EQ(port.frames[i].pixels, port.frames[i - 30].pixels) << "frame " << i;
    EXPECT_NE(port.frames[0].pixels, port.frames[10].pixels);
}

TEST(VideoFile, ARateHoldsItBack) {
    const ScratchFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(counting_movie(21), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    const auto source = video(folder / "a.mkv", false, 100);
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 21u);
    // Unpaced it takes some 5 ms, paced 200 ms less what the first frame was late.
    EXPECT_GE(port.frames.back().info.arrival - port.frames.front().info.arrival,
              std::chrono::milliseconds(150));
}

TEST(VideoFile, OpensAgainAfterCloseAndLeavesNoThread) {
    const ScratchFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(counting_movie(40), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    const auto threads = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    const auto source = video(folder / "a.mkv");
    std::ptrdiff_t after_first = 0;
    for (int i = 0; i < 8; ++i) {
        source->open();
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port, 5));
        EXPECT_EQ(port.frames[4].data<std::uint16_t>()[0], 4);
        source->close();
        source->close();
        EXPECT_THROW(source->next(port), RunError);
        if (i == 0)
            after_first = threads();
    }
    // GLib keeps idle threads in a pool; others may take a moment to end.
    EXPECT_TRUE(eventually([&] { return threads() <= after_first + 1; }))
        << threads() << " of " << after_first;
    EXPECT_EQ(pipelines_closing(), 0);
}

namespace {
/// Everything that is decoded before the cut comes, in order, and then the error.
void expect_cut_short(const std::string& chain, const std::string& name) {
    const ScratchFolder folder;
    const RawMovie movie = counting_movie(200);
    ASSERT_NO_FATAL_FAILURE(encode(movie, chain, folder / name));
    std::filesystem::resize_file(folder / name, std::filesystem::file_size(folder / name) * 6 / 10);
    const auto source = video(folder / name);
    TestPort port;
    const std::string said = failure<RunError>(*source, port);
    EXPECT_NE(said.find(name), std::string::npos);
    EXPECT_GT(port.frames.size(), 50u);
    EXPECT_LT(port.frames.size(), 200u);
    for (std::size_t i = 0; i < port.frames.size(); ++i)
        ASSERT_EQ(port.frames[i].data<std::uint16_t>()[0], i);
}
} // namespace

TEST(BrokenVideo, CutCompressedMatroskaGivesWhatThereIs) {
    expect_cut_short("avenc_ffv1 ! matroskamux", "cut.mkv");
}

TEST(BrokenVideo, CutAviGivesWhatThereIs) {
    const ScratchFolder folder;
    const RawMovie movie = noise_movie(64, 48, 40, "BGR", 3);
    ASSERT_NO_FATAL_FAILURE(encode(movie, "avimux", folder / "cut.avi"));
    std::filesystem::resize_file(folder / "cut.avi", std::filesystem::file_size(folder / "cut.avi") * 6 / 10);
    const auto source = video(folder / "cut.avi");
    TestPort port;
    EXPECT_NE(failure<RunError>(*source, port).find("cut.avi"), std::string::npos);
    EXPECT_GE(port.frames.size(), 22u);
    EXPECT_LE(port.frames.size(), 24u);
    for (std::size_t i = 0; i < port.frames.size(); ++i)
        ASSERT_EQ(std::to_integer<int>(port.frames[i].pixels[2]), movie.frame(i)[0]) << i;
}

TEST(BrokenVideo, CutMp4WithItsIndexFirstGivesWhatThereIs) {
    const ScratchFolder folder;
    ASSERT_TRUE(launch(
        "videotestsrc num-buffers=100 pattern=snow ! video/x-raw,width=64,height=48 ! x264enc ! mp4mux "
        "faststart=true ! filesink location=" +
        (folder / "cut.mp4")));
    std::filesystem::resize_file(folder / "cut.mp4", std::filesystem::file_size(folder / "cut.mp4") * 7 / 10);
    const auto source = video(folder / "cut.mp4");
    TestPort port;
    EXPECT_NE(failure<RunError>(*source, port).find("cut.mp4"), std::string::npos);
    EXPECT_GT(port.frames.size(), 30u);
    EXPECT_LT(port.frames.size(), 100u);
}

TEST(BrokenVideo, CutMp4WithoutIndexIsRefused) {
    const ScratchFolder folder;
    ASSERT_TRUE(
        launch("videotestsrc num-buffers=50 ! video/x-raw,width=64,height=48 ! x264enc ! mp4mux ! filesink "
               "location=" +
               (folder / "cut.mp4")));
    std::filesystem::resize_file(folder / "cut.mp4", std::filesystem::file_size(folder / "cut.mp4") / 2);
    EXPECT_NE(failure<RunError>(*video(folder / "cut.mp4")).find("cut.mp4"), std::string::npos);
}

TEST(BrokenVideo, DamageInTheMiddleIsAnError) {
    const ScratchFolder folder;
    ASSERT_NO_FATAL_FAILURE(
        encode(noise_movie(64, 48, 60, "GRAY8", 1), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    std::vector<char> bytes = file_bytes(folder / "a.mkv");
    for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 20000; ++i)
        bytes[i] = static_cast<char>(i * 7);
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    const auto source = video(folder / "a.mkv");
    TestPort port;
    EXPECT_NE(failure<RunError>(*source, port).find("a.mkv"), std::string::npos);
    EXPECT_GT(port.frames.size(), 20u);
    EXPECT_LT(port.frames.size(), 60u);
}

TEST(BrokenVideo, OtherFilesAreRefusedInOneSentence) {
    const ScratchFolder folder;
    const std::string text = "these are words, not pictures; these are words, not pictures\n";
    write_file(folder / "text.avi", text.data(), text.size());
    write_file(folder / "empty.mkv", "", 0);
    const RawMovie noise = noise_movie(50, 50, 1, "GRAY8", 1);
    write_file(folder / "noise.mp4", noise.bytes.data(), noise.bytes.size());
    ASSERT_TRUE(launch("audiotestsrc num-buffers=20 ! wavenc ! filesink location=" + (folder / "sound.wav")));
    ASSERT_TRUE(launch("audiotestsrc num-buffers=20 ! vorbisenc ! matroskamux ! filesink location=" +
                       (folder / "sound.mkv")));
    for (const char* name : {"text.avi", "empty.mkv", "noise.mp4", "sound.wav", "sound.mkv", "absent.mkv"})
        EXPECT_NE(failure<RunError>(*video(folder / name)).find(name), std::string::npos) << name;
}

TEST(BrokenVideo, AMissingDecoderIsNamed) {
    // A Matroska file whose codec is none that anybody has: the ID is changed in place.
    const ScratchFolder folder;
    ASSERT_TRUE(launch(
        "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! theoraenc ! matroskamux ! filesink "
        "location=" +
        (folder / "a.mkv")));
    std::vector<char> bytes = file_bytes(folder / "a.mkv");
    const std::string id = "V_THEORA";
    const auto at = std::search(bytes.begin(), bytes.end(), id.begin(), id.end());
    ASSERT_NE(at, bytes.end());
    std::copy_n("V_NOBODY", 8, at);
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    EXPECT_NE(failure<RunError>(*video(folder / "a.mkv")).find("V_NOBODY"), std::string::npos);
}

TEST(VideoWithSound, SoundIsLeftAlone) {
    const ScratchFolder folder;
    ASSERT_TRUE(launch("matroskamux name=m ! filesink location=" + (folder / "a.mkv") +
                       " videotestsrc num-buffers=50 ! video/x-raw,format=GRAY8,width=64,height=48 ! m. "
                       "audiotestsrc num-buffers=200 ! vorbisenc ! m."));
    const auto source = video(folder / "a.mkv");
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size(), 50u);
}

TEST(GstText, ALiveSourceIsLiveAndItsTimesAreTheSteadyClocks) {
    const auto source =
        gst("videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=32,height=16,framerate=100/1");
    const SourceInfo info = source->open();
    EXPECT_TRUE(info.live);
    EXPECT_EQ(info.shape, (Shape{32, 16, 1, PixelType::u8}));
    EXPECT_NEAR(info.rate, 100, 1e-9);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 30));
    for (std::size_t i = 1; i < port.frames.size(); ++i) {
        const FrameInfo& frame = port.frames[i].info;
        const std::int64_t arrival = frame.arrival.time_since_epoch() / std::chrono::nanoseconds(1);
        EXPECT_LE(frame.capture_ns, arrival);
        EXPECT_GT(frame.capture_ns, arrival - 2'000'000'000);
        EXPECT_EQ(frame.capture_ns - port.frames[i - 1].info.capture_ns, 10'000'000);
    }
    EXPECT_EQ(port.lost_frames, 0u);
}

TEST(GstText, FramesLostOnTheWayLeaveAGap) {
    const auto source =
        gst("videotestsrc is-live=true num-buffers=200 ! "
            "video/x-raw,format=GRAY8,width=32,height=16,framerate=500/1 ! identity drop-probability=0.3");
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_LT(port.frames.size(), 190u);
    // The frames before the first and after the last that came are nobody's to count.
    const std::int64_t span = port.frames.back().info.capture_ns - port.frames.front().info.capture_ns;
    EXPECT_EQ(port.frames.size() + port.lost_frames, static_cast<std::uint64_t>(span / 2'000'000 + 1));
    EXPECT_GT(port.lost_frames, 10u);
}

TEST(GstText, AFullRingThrowsFramesAwayAndGoesOn) {
    const auto source =
        gst("videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=32,height=16,framerate=200/1");
    source->open();
    TestPort port;
    port.refuse = true;
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(source->next(port), Source::Status::frame);
    port.refuse = false;
    EXPECT_TRUE(read_frames(*source, port, 5));
}

TEST(GstText, WhatIsNotLiveIsReadToItsEnd) {
    const auto source = gst("videotestsrc num-buffers=300 ! video/x-raw,format=GRAY16_LE,width=33,height=16");
    EXPECT_FALSE(source->open().live);
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size(), 300u);
    EXPECT_EQ(port.frames[0].shape, (Shape{33, 16, 1, PixelType::u16}));
}

TEST(GstText, BigEndianGreyIsTheSameAsLittleEndian) {
    TestPort ports[2];
    for (int i = 0; i < 2; ++i) {
        const auto source = gst(std::string("videotestsrc num-buffers=1 pattern=gradient ! "
                                            "video/x-raw,width=35,height=200,format=GRAY16_") +
                                (i ? "BE" : "LE"));
        source->open();
        ASSERT_TRUE(read_frames(*source, ports[i]));
    }
    EXPECT_EQ(ports[0].frames[0].pixels, ports[1].frames[0].pixels);
    EXPECT_NE(ports[0].frames[0].data<std::uint16_t>()[35 * 100], 0);
}

TEST(GstText, EveryRgbLayoutGivesTheSamePicture) {
    std::vector<std::byte> first;
    for (const char* format : {"RGB", "BGR", "RGBx", "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR",
                               "GBR", "BGRP", "RGBP"}) {
        const auto source =
            gst(std::string("videotestsrc num-buffers=1 ! video/x-raw,width=61,height=16,format=RGB ! "
                            "videoconvert ! video/x-raw,format=") +
                format);
        source->open();
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port));
        ASSERT_EQ(port.frames[0].shape, (Shape{61, 16, 3, PixelType::u8})) << format;
        if (first.empty())
            first = port.frames[0].pixels;
        EXPECT_EQ(port.frames[0].pixels, first) << format;
    }
}

TEST(GstText, TheSizeMayChangeOnTheWay) {
    const auto source =
        gst("videotestsrc num-buffers=5 ! video/x-raw,format=GRAY8,width=32,height=16 ! c.sink_0 "
            "videotestsrc num-buffers=6 ! video/x-raw,format=GRAY16_LE,width=63,height=48 ! c.sink_1 concat "
            "name=c");
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 11u);
    EXPECT_EQ(port.frames[4].shape, (Shape{32, 16, 1, PixelType::u8}));
    EXPECT_EQ(port.frames[5].shape, (Shape{63, 48, 1, PixelType::u16}));
    EXPECT_EQ(port.frames[10].info.full_scale, 65535);
}

TEST(GstText, WhatCannotBeParsedIsAUsageError) {
    EXPECT_NE(failure<UsageError>(*gst("nosuchelement ! videoconvert")).find("nosuchelement"),
              std::string::npos);
    EXPECT_NE(failure<UsageError>(*gst("videotestsrc nosuchproperty=3")).find("nosuchproperty"),
              std::string::npos);
    EXPECT_NE(failure<UsageError>(*gst("")).find("gst"), std::string::npos);
    EXPECT_NE(failure<UsageError>(*gst("videotestsrc !")).find("videotestsrc"), std::string::npos);
    failure<Error>(*gst("audiotestsrc"));
}

TEST(GstText, AnErrorWhileRunningIsARunErrorAfterTheFrames) {
    const auto source = gst("videotestsrc num-buffers=100 ! video/x-raw,format=GRAY8,width=32,height=16 ! "
                            "identity error-after=40");
    TestPort port;
    failure<RunError>(*source, port);
    EXPECT_GE(port.frames.size(), 38u);
    EXPECT_LE(port.frames.size(), 41u);
}

TEST(V4l2, AMissingDeviceIsNamed) {
    EXPECT_NE(failure<RunError>(*of_type(v4l2_source_type(), "/dev/video97")).find("/dev/video97"),
              std::string::npos);
    for (const auto& [source, name] : v4l2_source_type().discover())
        EXPECT_EQ(source.rfind("v4l2:/dev/video", 0), 0u);
}

TEST(V4l2, AFileThatIsNoCameraIsRefused) { failure<RunError>(*of_type(v4l2_source_type(), "/dev/null")); }

TEST(GapCounter, CountsWhatAnEvenCameraLeftOut) {
    GapCounter counter;
    std::int64_t now = 5'000;
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(counter.missing_before(now += 10'000'000 + (i % 3 - 1) * 50'000), 0u) << i;
    EXPECT_EQ(counter.missing_before(now += 20'000'000), 1u);
    EXPECT_EQ(counter.missing_before(now += 10'000'000), 0u);
    EXPECT_EQ(counter.missing_before(now += 70'100'000), 6u);
}

TEST(GapCounter, CountsNothingForATriggeredCamera) {
    GapCounter counter;
    std::mt19937 random(7);
    std::int64_t now = 0;
    for (int i = 0; i < 300; ++i)
        EXPECT_EQ(
            counter.missing_before(now += 1'000'000 + static_cast<std::int64_t>(random() % 100'000'000)), 0u);
}
