// Video files deliver every frame, in order, unchanged if the format allows it.
#include "tests/sources/gst_sources.hpp"
#include "tests/support/eventually.hpp"

#include <cmath>

namespace gst_video_test {

using namespace specklescope;
using namespace specklescope::test;

// 37 pixels: rows are padded in all of GStreamer's buffers.
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
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(movie, "avimux", folder / "a.avi"));
    for (std::size_t i = 0; i < movie.bytes.size(); i += 3)
        std::swap(movie.bytes[i], movie.bytes[i + 2]);
    const auto source = video(folder / "a.avi");
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    expect_same(movie, port, {40, 24, 3, PixelType::u8});
}

// A smooth image through lossy codecs: the mean difference is within a few grey values.
TEST(VideoFile, LossyCodecsGiveTheSamePicture) {
    RawMovie grey{64, 48, 10, "GRAY8", 1, {}};
    for (int i = 0; i < grey.count; ++i)
        for (int y = 0; y < grey.height; ++y)
            for (int x = 0; x < grey.width; ++x)
                grey.bytes.push_back(static_cast<std::uint8_t>(40 + 2 * x + y + 4 * i));
    // Grey has no declared range, which H.264 would take as 16…235: its frames are made from RGB.
    RawMovie colour{64, 48, 10, "RGB", 3, {}};
    for (const std::uint8_t value : grey.bytes)
        colour.bytes.insert(colour.bytes.end(), 3, value);
    struct Case {
        const char *chain, *ending, *codec;
        std::size_t channels; ///< x264enc does not accept grey: that image comes back as colour
    };
    const TemporaryFolder folder;
    for (const Case& c : {Case{"jpegenc quality=95 ! avimux", ".avi", "MJPEG", 1},
                          Case{"jpegenc ! matroskamux", ".mkv", "MJPEG", 1},
                          Case{"videoconvert ! x264enc ! mp4mux", ".mp4", "H.264", 3},
                          Case{"videoconvert ! x264enc ! qtmux", ".mov", "H.264", 3}}) {
        const std::string path = folder / (std::string("grey") + c.ending);
        ASSERT_NO_FATAL_FAILURE(encode(c.channels == 1 ? grey : colour, c.chain, path));
        const auto source = video(path);
        const SourceInfo info = source->open();
        TestPort port;
        EXPECT_TRUE(read_frames(*source, port));
        ASSERT_EQ(port.frames.size(), 10u) << c.ending;
        ASSERT_EQ(static_cast<std::size_t>(info.shape.channels), c.channels) << c.ending;
        EXPECT_EQ(info.lossy, c.codec);
        double sum = 0;
        for (std::size_t i = 0; i < 10; ++i)
            for (std::size_t p = 0; p < grey.frame_bytes(); ++p)
                sum += std::abs(port.frames[i].data<std::uint8_t>()[p * c.channels] - grey.frame(i)[p]);
        EXPECT_LT(sum / static_cast<double>(grey.bytes.size()), 4) << c.ending;
    }
}

TEST(VideoFile, YuvBecomesRgb) {
    const TemporaryFolder folder;
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

TEST(VideoFile, AThousandFramesAllComeInOrder) {
    expect_lossless(counting_movie(1000), "avenc_ffv1 ! matroskamux", ".mkv", {16, 8, 1, PixelType::u16});
}

TEST(VideoFile, LoopNeitherLosesNorRepeatsFrames) {
    const TemporaryFolder folder;
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

// H.264 with frames that refer to later ones: the decoder's last frames arrive at the end, before it
// restarts.
TEST(VideoFile, LoopOfReorderedFramesIsComplete) {
    const TemporaryFolder folder;
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

TEST(VideoFile, ARatePacesIt) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(encode(counting_movie(21), "avenc_ffv1 ! matroskamux", folder / "a.mkv"));
    const auto source = video(folder / "a.mkv", false, 100);
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 21u);
    // Unpaced it takes about 5 ms, paced 200 ms minus the delay of the first frame.
    EXPECT_GE(port.frames.back().info.arrival - port.frames.front().info.arrival,
              std::chrono::milliseconds(150));
}

TEST(VideoFile, ReopensAfterCloseAndLeaksNoThread) {
    const TemporaryFolder folder;
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

TEST(VideoWithSound, SoundIsIgnored) {
    const TemporaryFolder folder;
    ASSERT_TRUE(launch("matroskamux name=m ! filesink location=" + (folder / "a.mkv") +
                       " videotestsrc num-buffers=50 ! video/x-raw,format=GRAY8,width=64,height=48 ! m. "
                       "audiotestsrc num-buffers=200 ! vorbisenc ! m."));
    const auto source = video(folder / "a.mkv");
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size(), 50u);
}

TEST(VideoFile, ARepeatedSingleImageFollowsItself) {
    const TemporaryFolder folder;
    for (const int frames : {1, 3}) {
        const std::string path = folder / (std::to_string(frames) + ".mkv");
        ASSERT_NO_FATAL_FAILURE(encode(counting_movie(frames), "avenc_ffv1 ! matroskamux", path));
        const auto source = video(path, true);
        source->open();
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port, 7));
        EXPECT_EQ(port.discontinuities,
                  frames == 1 ? std::vector<std::uint64_t>{} : (std::vector<std::uint64_t>{3, 6}));
    }
}

} // namespace gst_video_test
