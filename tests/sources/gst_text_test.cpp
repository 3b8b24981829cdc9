// Pipelines given as text, and missing cameras.
#include "tests/sources/gst_sources.hpp"

namespace gst_text_test {

using namespace specklescope;
using namespace specklescope::test;

TEST(GstText, LiveSourcesUseTheSteadyClock) {
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

/// Frames parsed from bytes have no times: in a file they are numbered, independent of the clock.
TEST(GstText, FramesOfAFileWithoutTimesAreNumbered) {
    const TemporaryFolder folder;
    std::string bytes;
    for (int i = 0; i < 5 * 32 * 16; ++i)
        bytes += static_cast<char>(i * 7);
    write_file(folder / "frames", bytes.data(), bytes.size());
    const auto source = gst("filesrc blocksize=512 location=" + (folder / "frames") +
                            " ! capsfilter caps=video/x-raw,format=GRAY8,width=32,height=16,framerate=0/1");
    EXPECT_FALSE(source->open().live);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(port.frames[i].info.capture_ns, static_cast<std::int64_t>(i));
        EXPECT_EQ(std::memcmp(port.frames[i].pixels.data(), bytes.data() + 512 * i, 512), 0) << i;
    }
}

TEST(GstText, LostFramesLeaveAGap) {
    const auto source =
        gst("videotestsrc is-live=true num-buffers=200 ! "
            "video/x-raw,format=GRAY8,width=32,height=16,framerate=500/1 ! identity drop-probability=0.3");
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_LT(port.frames.size(), 190u);
    // Frames before the first and after the last received one cannot be counted.
    const std::int64_t span = port.frames.back().info.capture_ns - port.frames.front().info.capture_ns;
    EXPECT_EQ(port.frames.size() + port.lost_frames, static_cast<std::uint64_t>(span / 2'000'000 + 1));
    EXPECT_GT(port.lost_frames, 10u);
}

TEST(GstText, AFullRingDropsFramesAndContinues) {
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

TEST(GstText, OtherSourcesAreReadToTheirEnd) {
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

TEST(GstText, TheSizeMayChange) {
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

TEST(GstText, ASyntaxErrorIsAUsageError) {
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

TEST(V4l2, AnotherFileIsRefused) { failure<RunError>(*of_type(v4l2_source_type(), "/dev/null")); }

} // namespace gst_text_test
