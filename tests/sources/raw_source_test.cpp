// Headerless frames: every format bit by bit, headers, truncated ends, loops and pace.
#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/source.hpp"
#include "sources/files/raw_file.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace specklescope::test::raw_source_test {

std::string bytes_0_to(std::size_t count) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i)
        bytes += static_cast<char>((i * 37 + i / 256) & 255);
    return bytes;
}

std::vector<Delivered> read_all(const std::string& text) {
    const auto source = make_source(text, {});
    (void)source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    source->close();
    return port.frames;
}

std::string pixels(const Delivered& frame) {
    return {reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size()};
}

class RawSource : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::string write(const std::string& name, const std::string& bytes) const {
        write_file(folder_ / name, bytes);
        return folder_ / name;
    }
};

TEST_F(RawSource, EveryFormatBitByBit) {
    // 17×13: rows that do not fill their padded slot rows.
    const std::size_t n = 17 * 13;
    const struct {
        const char* format;
        std::size_t bytes;
        Shape shape;
        bool swapped;
    } formats[] = {{"gray8", 1, {17, 13, 1, PixelType::u8}, false},
                   {"gray16le", 2, {17, 13, 1, PixelType::u16}, false},
                   {"gray16be", 2, {17, 13, 1, PixelType::u16}, true},
                   {"gray32f", 4, {17, 13, 1, PixelType::f32}, false},
                   {"rgb8", 3, {17, 13, 3, PixelType::u8}, false},
                   {"rgb16le", 6, {17, 13, 3, PixelType::u16}, false},
                   {"rgb32f", 12, {17, 13, 3, PixelType::f32}, false}};
    static_assert(std::endian::native == std::endian::little);
    for (const auto& format : formats) {
        const std::size_t frame = n * format.bytes;
        const std::string file = bytes_0_to(3 * frame);
        const auto frames =
            read_all("raw:" + write("f.bin", file) + "?width=17&height=13&format=" + format.format);
        ASSERT_EQ(frames.size(), 3U) << format.format;
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(frames[i].shape, format.shape);
            EXPECT_EQ(frames[i].info.sequence, i);
            EXPECT_EQ(frames[i].info.full_scale, type_full_scale(format.shape.type));
            EXPECT_TRUE(std::isnan(frames[i].info.exposure_ms));
            std::string expected = file.substr(i * frame, frame);
            if (format.swapped)
                for (std::size_t at = 0; at < frame; at += 2)
                    std::swap(expected[at], expected[at + 1]);
            EXPECT_EQ(pixels(frames[i]), expected) << format.format << " frame " << i;
        }
    }
}

TEST_F(RawSource, HeaderIsSkippedAndInfoIsRight) {
    const std::string path = write("f.raw", bytes_0_to(10 + 2 * 12));
    const auto source = make_source(path + "?width=4&height=3&header=10&full_scale=200", {});
    const SourceInfo info = source->open();
    EXPECT_EQ(info.name, "f.raw");
    EXPECT_EQ(info.shape, (Shape{4, 3, 1, PixelType::u8}));
    EXPECT_EQ(info.frames, 2U);
    EXPECT_EQ(info.full_scale, 200);
    EXPECT_FALSE(info.live);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 2U);
    EXPECT_EQ(pixels(port.frames[1]), bytes_0_to(34).substr(22));
    EXPECT_EQ(source->next(port), Source::Status::end); // stays at the end
    // Opened again, it starts again.
    source->close();
    source->close();
    (void)source->open();
    ASSERT_TRUE(read_frames(*source, port));
    EXPECT_EQ(port.frames.size(), 4U);
}

TEST_F(RawSource, AHeaderAsLongAsFramesIsNotCountedAsFrames) {
    const std::string path = write("f.raw", bytes_0_to(30 + 2 * 12));
    const auto source = make_source(path + "?width=4&height=3&header=30", {});
    EXPECT_EQ(source->open().frames, 2U);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 2U);
    EXPECT_EQ(pixels(port.frames[0]), bytes_0_to(42).substr(30));
}

TEST_F(RawSource, ATruncatedLastFrameIsReportedAfterTheOthers) {
    const std::string path = write("cut.raw", bytes_0_to(2 * 12 + 5));
    const auto source = make_source(path + "?width=4&height=3", {});
    EXPECT_EQ(source->open().frames, 2U);
    TestPort port;
    try {
        read_frames(*source, port);
        ADD_FAILURE() << "the cut end was not noticed";
    } catch (const RunError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("cut.raw"), std::string::npos) << text;
        EXPECT_NE(text.find("5 of 12 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find("2 whole frames"), std::string::npos) << text;
    }
    EXPECT_EQ(port.frames.size(), 2U);
    EXPECT_EQ(source->next(port), Source::Status::end); // reported once
}

/// With enough slots, several frames are read at a time: small ones through a buffer, larger ones in
/// parallel, with and without gaps between the rows of a slot.
TEST_F(RawSource, FramesReadAheadComeInOrderAndNotAfterASeek) {
    for (const auto& [width, height] :
         {std::pair{4, 3}, std::pair{61, 65}, std::pair{64, 192}, std::pair{127, 129}}) {
        const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
        std::string bytes(21 * size + 5, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(i / 251 + i);
        const auto source = make_source(write("many.raw", bytes) + "?width=" + std::to_string(width) +
                                            "&height=" + std::to_string(height),
                                        {});
        EXPECT_EQ(source->open().frames, 21U);
        TestPort port;
        port.slots = 20;
        ASSERT_TRUE(read_frames(*source, port, 3));
        source->seek(14, 0);
        ASSERT_TRUE(read_frames(*source, port, 5));
        source->seek(1, 0);
        EXPECT_THROW(read_frames(*source, port), RunError) << "the cut end was not noticed";
        ASSERT_EQ(port.frames.size(), 25U);
        for (std::size_t i = 0; i < port.frames.size(); ++i) {
            const std::size_t frame = i < 3 ? i : i < 5 ? i + 11 : i - 4;
            EXPECT_EQ(port.frames[i].info.position, frame);
            EXPECT_EQ(pixels(port.frames[i]), bytes.substr(frame * size, size)) << width << " " << i;
        }
    }
}

/// Damage of a disk costs no frame before it. Here the part of a mapping beyond its file cannot be read.
TEST_F(RawSource, FramesBeforeADamagedPlaceAreRead) {
    constexpr std::size_t kWhole = 3;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    for (const std::size_t size : {page / 4, 4 * page}) { // read through a buffer, and in parallel
        const std::size_t readable = (kWhole * size + page - 1) / page * page;
        const std::string path = folder_ / "part.bin";
        write_file(path, std::string(readable, 'x'));
        const InputFile file = open_input(path, Pipes::taken);
        void* const mapped =
            ::mmap(nullptr, readable + 8 * size, PROT_READ, MAP_SHARED, ::fileno(file.get()), 0);
        ASSERT_NE(mapped, MAP_FAILED);
        RawStream stream;
        stream.open("/proc/self/mem");
        const std::size_t whole = readable / size;
        FrameRing ring({64, static_cast<int>(size / 64), 1, PixelType::u8}, 9, host_memory());
        const std::vector<Frame> frames = ring.try_acquire(9, 0);
        std::vector<HostView> views;
        for (const Frame& frame : frames)
            views.push_back(frame.host());
        EXPECT_TRUE(stream.seek(reinterpret_cast<std::uintptr_t>(mapped)));
        EXPECT_EQ(stream.read_together(views), whole) << size;
        EXPECT_EQ(views[whole - 1].row(0)[0], std::byte{'x'});
        EXPECT_THROW((void)stream.read(views[0]), RunError);
        EXPECT_THROW((void)stream.read(views[0]), RunError) << "the error stays";
        ::munmap(mapped, readable + 8 * size);
    }
}

/// A frame that is written while the file is played comes whole.
TEST_F(RawSource, AFrameThatIsAddedLaterIsRead) {
    const std::string bytes = bytes_0_to(5 * 12);
    const std::string path = write("growing.raw", bytes.substr(0, 3 * 12));
    const auto source = make_source(path + "?width=4&height=3", {});
    (void)source->open();
    TestPort port;
    port.slots = 20;
    ASSERT_TRUE(read_frames(*source, port, 3));
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes.substr(3 * 12);
    ASSERT_TRUE(read_frames(*source, port, 5));
    ASSERT_EQ(port.frames.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(pixels(port.frames[i]), bytes.substr(i * 12, 12)) << i;
}

TEST_F(RawSource, LoopContinuesWithWholeFrames) {
    const std::string path = write("cut.raw", bytes_0_to(2 * 12 + 5));
    const auto source = make_source(path + "?width=4&height=3&loop=true", {});
    EXPECT_EQ(source->open().frames, 0U);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 7));
    for (std::size_t i = 0; i < 7; ++i)
        EXPECT_EQ(pixels(port.frames[i]), bytes_0_to(24).substr(i % 2 * 12, 12)) << i;
}

TEST_F(RawSource, TheTruncatedEndOfALoopIsReportedOnce) {
    std::ostringstream log;
    log_to(std::make_shared<spdlog::logger>("test",
                                            std::make_shared<spdlog::sinks::ostream_sink_mt>(log, true)));
    const auto source =
        make_source(write("cut.raw", bytes_0_to(2 * 12 + 5)) + "?width=4&height=3&loop=true", {});
    (void)source->open();
    TestPort port;
    const bool came = read_frames(*source, port, 3);
    const std::string first = log.str();
    const bool went_on = read_frames(*source, port, 7);
    log_to(nullptr);
    ASSERT_TRUE(came && went_on);
    EXPECT_NE(first.find("cut.raw' is cut short: its last frame has 5 of 12 bytes"), std::string::npos)
        << first;
    EXPECT_EQ(log.str(), first) << "of the next rounds nothing";
}

/// The file is truncated during playback.
TEST_F(RawSource, ALoopWithoutAWholeFrameEnds) {
    const std::string path = write("cut.raw", bytes_0_to(2 * 12));
    const auto source = make_source(path + "?width=4&height=3&loop=true", {});
    (void)source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 3));
    std::filesystem::resize_file(path, 5);
    EXPECT_THROW(read_frames(*source, port), RunError);
    EXPECT_EQ(port.frames.size(), 4U) << "the second frame was read with the first";
    EXPECT_EQ(source->next(port), Source::Status::end);
}

TEST_F(RawSource, ARoundIsDeclaredAndASinglePictureFollowsItself) {
    const auto declared = [&](std::size_t frames, std::size_t extra_bytes) {
        const std::string path = write("round.raw", bytes_0_to(frames * 12 + extra_bytes));
        const auto source = make_source(path + "?width=4&height=3&loop=true", {});
        (void)source->open();
        TestPort port;
        EXPECT_TRUE(read_frames(*source, port, 7));
        return port.discontinuities;
    };
    EXPECT_EQ(declared(3, 0), (std::vector<std::uint64_t>{3, 6}));
    EXPECT_EQ(declared(3, 5), (std::vector<std::uint64_t>{3, 6})) << "the cut last frame changes nothing";
    EXPECT_TRUE(declared(1, 0).empty()) << "an average over a still picture must come to its end";
    EXPECT_TRUE(declared(1, 5).empty());
}

TEST_F(RawSource, TooSmallTooLargeAndMissing) {
    const std::string path = write("small.raw", "abc");
    EXPECT_THROW((void)make_source(path + "?width=4&height=3", {})->open(), RunError);
    EXPECT_THROW((void)make_source(path + "?width=4", {}), UsageError);
    EXPECT_THROW((void)make_source(path, {}), UsageError);
    EXPECT_THROW((void)make_source(path + "?width=100000&height=3", {}), UsageError);
    EXPECT_THROW((void)make_source(path + "?width=65536&height=65536&format=rgb8", {}), Error);
    EXPECT_THROW((void)make_source("raw:" + folder_.path().string() + "?width=1&height=1", {})->open(),
                 RunError);
}

/// Sizes that divide the file into whole frames: 256² is the smallest common one.
TEST_F(RawSource, SizesOfAHeaderlessFileAreSuggested) {
    const auto proposed = [&](std::size_t bytes, const std::string& options) -> std::string {
        const std::string path = write("some.raw", std::string(bytes, 'x'));
        try {
            (void)make_source("raw:" + path + options, {})->open();
        } catch (const Error& error) {
            const std::string text = error.what(), key = "are whole frames of ";
            const std::size_t at = text.find(key);
            if (at == std::string::npos)
                return text;
            std::string rest = text.substr(at + key.size());
            for (std::size_t found = rest.find(path); found != std::string::npos; found = rest.find(path))
                rest.erase(found, path.size());
            return rest;
        }
        return "opened";
    };
    constexpr std::size_t kPixels = 256 * 256;
    EXPECT_EQ(proposed(kPixels, ""), "raw:?width=256&height=256&format=gray8.");
    EXPECT_EQ(proposed(2 * kPixels, ""), "raw:?width=256&height=256&format=gray8, or "
                                         "raw:?width=256&height=256&format=gray16le.");
    EXPECT_EQ(proposed(3 * kPixels, "?format=rgb8"), "raw:?width=256&height=256&format=rgb8.")
        << "of the format that is given";
    EXPECT_NE(proposed(kPixels + 1, "").find("65537 bytes fit no usual size"), std::string::npos);
}

TEST_F(RawSource, CaptureTimesFollowTheRate) {
    const std::string path = write("f.raw", bytes_0_to(5 * 12));
    const auto source = make_source(path + "?width=4&height=3&rate=300", {});
    EXPECT_EQ(source->open().rate, 300);
    TestPort port;
    const auto begin = SteadyClock::now();
    ASSERT_TRUE(read_frames(*source, port));
    // Not early: the fifth frame is due 4/300 s after the first.
    EXPECT_GE(SteadyClock::now() - begin, std::chrono::microseconds(13333));
    ASSERT_EQ(port.frames.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(static_cast<double>(port.frames[i].info.capture_ns), static_cast<double>(i) * 1e9 / 300,
                    1.0);
}

TEST_F(RawSource, CaptureTimesIncreaseWithoutARate) {
    const auto frames = read_all(write("f.raw", bytes_0_to(5 * 12)) + "?width=4&height=3");
    for (std::size_t i = 1; i < frames.size(); ++i)
        EXPECT_GT(frames[i].info.capture_ns, frames[i - 1].info.capture_ns);
}

TEST_F(RawSource, WaitsWhenNoSlotIsFree) {
    const auto source = make_source(write("f.raw", bytes_0_to(3 * 12)) + "?width=4&height=3", {});
    (void)source->open();
    TestPort port;
    port.refuse = true;
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(source->next(port), Source::Status::idle);
    port.refuse = false;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 3U);
    EXPECT_EQ(pixels(port.frames[0]), bytes_0_to(12));
}

} // namespace specklescope::test::raw_source_test
