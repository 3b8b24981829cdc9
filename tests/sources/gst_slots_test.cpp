// GStreamer's elements write directly into the ring's slots if possible; otherwise the frame is copied, is
// equal, and the reason is recorded. A slot is not reused while it is read, whatever happens to its pipeline.
#include "tests/sources/gst_sources.hpp"
#include "tests/sources/lending_port.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/running.hpp"

#include <optional>

namespace gst_slots_test {

using namespace specklescope;
using namespace specklescope::test;

/// A video of noise in a file, and a pipeline that crops its border: the cropping element uses our memory,
/// and its output is known.
class Cropped {
public:
    Cropped(int width, int height, int count, const std::string& format, int pixel_bytes)
        : movie_(noise_movie(width + 3, height + 2, count, format, pixel_bytes)),
          shape_{width, height, pixel_bytes == 3 ? 3 : 1, pixel_bytes == 2 ? PixelType::u16 : PixelType::u8} {
        write_file(folder_ / "frames", movie_.bytes.data(), movie_.bytes.size());
    }

    std::string text(const std::string& then = "") const {
        std::string format = movie_.format;
        for (char& letter : format)
            letter = static_cast<char>(letter == '_' ? '-' : std::tolower(letter));
        return "filesrc location=" + (folder_ / "frames") +
               " ! rawvideoparse use-sink-caps=false format=" + format +
               " width=" + std::to_string(movie_.width) + " height=" + std::to_string(movie_.height) +
               " framerate=25/1 plane-strides=\"<" + std::to_string(movie_.width * movie_.pixel_bytes) +
               ">\" plane-offsets=\"<0>\" ! videocrop left=1 right=2 top=2" + then;
    }
    const Shape& shape() const { return shape_; }
    std::uint64_t count() const { return static_cast<std::uint64_t>(movie_.count); }

    /// True if the view is the cropped frame `index`.
    bool is(const HostView& view, std::uint64_t index) const {
        if (view.shape != shape_ || index >= count())
            return false;
        const auto pixel = static_cast<std::size_t>(movie_.pixel_bytes);
        const std::size_t row = static_cast<std::size_t>(movie_.width) * pixel;
        for (int y = 0; y < shape_.height; ++y)
            if (std::memcmp(view.row(y), movie_.frame(index) + row * static_cast<std::size_t>(y + 2) + pixel,
                            shape_.row_bytes()) != 0)
                return false;
        return true;
    }

private:
    TemporaryFolder folder_;
    RawMovie movie_;
    Shape shape_;
};

/// All except the first frames, made before slots were lent.
void expect_in_place(const LendingPort& port, std::uint64_t all) {
    EXPECT_EQ(port.frames, all);
    EXPECT_EQ(port.lent + port.copies, all);
    EXPECT_GE(port.lent + 12, all);
    for (const auto& [why, count] : port.reasons)
        EXPECT_EQ(why, "the first, before slots were lent") << count;
}

TEST(GstSlots, FramesWrittenInPlaceAreExact) {
    struct Case {
        int width;
        const char* format;
        int bytes;
    };
    for (const Case& c : {Case{37, "GRAY8", 1},
                          {64, "GRAY8", 1},
                          {37, "GRAY16_LE", 2},
                          {32, "GRAY16_LE", 2},
                          {1, "GRAY16_LE", 2},
                          {61, "RGB", 3},
                          {64, "RGB", 3}}) {
        const Cropped movie(c.width, 19, 60, c.format, c.bytes);
        const auto source = trusted_gst(movie.text());
        EXPECT_EQ(source->open().shape, movie.shape());
        LendingPort port;
        port.on_frame = [&](const Frame& frame) {
            ASSERT_TRUE(movie.is(frame.host(), port.frames - 1)) << c.format << ' ' << c.width;
        };
        ASSERT_TRUE(read_all(*source, port));
        expect_in_place(port, 60);
    }
}

TEST(GstSlots, AHeldSlotIsNotOverwritten) {
    const Cropped movie(37, 19, 400, "GRAY16_LE", 2);
    const auto source = trusted_gst(movie.text());
    source->open();
    LendingPort port;
    std::vector<std::pair<std::uint64_t, Frame>> kept;
    port.on_frame = [&](const Frame& frame) {
        if (port.frames % 97 == 0)
            kept.emplace_back(port.frames - 1, frame);
    };
    ASSERT_TRUE(read_all(*source, port));
    expect_in_place(port, 400);
    ASSERT_EQ(kept.size(), 4u);
    for (const auto& [index, frame] : kept) {
        EXPECT_TRUE(movie.is(frame.host(), index)) << index;
        EXPECT_EQ(frame.info().sequence, index);
    }
}

// The streaming thread then waits for a slot that is never released.
TEST(GstSlots, ClosesWhileEverySlotIsHeld) {
    const Cropped movie(37, 19, 100, "GRAY8", 1);
    LendingPort port(24); // for frames made before slots were lent, and others
    port.keep_all = true;
    {
        const auto source = trusted_gst(movie.text());
        source->open();
        EXPECT_FALSE(read_all(*source, port, 100, std::chrono::milliseconds(300)));
        EXPECT_GT(port.lent, 0u);
        source->close();
    }
    EXPECT_TRUE(eventually([] { return pipelines_closing() == 0; }));
    port.forget_ring();
    EXPECT_EQ(port.memory->blocks(), 1u);
    for (const Frame& frame : port.held) // some had no slot to be copied into
        EXPECT_TRUE(movie.is(frame.host(), static_cast<std::uint64_t>(frame.info().capture_ns / 40'000'000)));
    port.newest.reset();
    port.held.clear();
    EXPECT_EQ(port.memory->blocks(), 0u) << "the memory goes with the last frame";
}

TEST(GstSlots, ReopensWhileEarlierFramesAreHeld) {
    const Cropped movie(37, 19, 60, "RGB", 3);
    const auto source = trusted_gst(movie.text());
    LendingPort port(12);
    std::vector<std::pair<std::uint64_t, Frame>> kept;
    for (int round = 0; round < 6; ++round) {
        source->open();
        port.frames = 0;
        ASSERT_TRUE(read_all(*source, port, 25));
        ASSERT_TRUE(movie.is(port.newest.host(), 24)) << round;
        kept.emplace_back(24, port.newest);
        source->close();
    }
    for (const auto& [index, frame] : kept)
        EXPECT_TRUE(movie.is(frame.host(), index));
    EXPECT_GT(port.lent, 60u);
    EXPECT_TRUE(eventually([] { return pipelines_closing() == 0; }));
}

TEST(GstSlots, AChangeOfSizeBringsSlotsOfTheNewSize) {
    const Cropped first(37, 19, 70, "GRAY8", 1);
    const Cropped second(61, 23, 80, "GRAY16_LE", 2);
    const auto source =
        trusted_gst(first.text(" ! c.sink_0 ") + second.text(" ! c.sink_1 ") + "concat name=c");
    source->open();
    LendingPort port;
    std::uint64_t lent_before = 0;
    port.on_frame = [&](const Frame& frame) {
        const std::uint64_t index = port.frames - 1;
        if (index == 69)
            lent_before = port.lent;
        ASSERT_TRUE(index < 70 ? first.is(frame.host(), index) : second.is(frame.host(), index - 70))
            << index;
    };
    ASSERT_TRUE(read_all(*source, port));
    EXPECT_EQ(port.frames, 150u);
    EXPECT_GT(lent_before, 40u);
    EXPECT_GT(port.lent - lent_before, 40u);
    EXPECT_EQ(port.lent + port.copies, 150u);
}

// A queue that releases nothing until it holds more than are lent.
TEST(GstSlots, AnElementThatKeepsManyBuffersDoesNotStall) {
    const Cropped movie(37, 19, 200, "GRAY8", 1);
    const auto source = trusted_gst(movie.text(" ! queue min-threshold-buffers=60 max-size-buffers=100"));
    source->open();
    LendingPort port;
    port.on_frame = [&](const Frame& frame) { ASSERT_TRUE(movie.is(frame.host(), port.frames - 1)); };
    ASSERT_TRUE(read_all(*source, port));
    EXPECT_EQ(port.frames, 200u);
    EXPECT_EQ(port.lent + port.copies, 200u);
}

// Memory may be pushed repeatedly: each frame still has its own number and time.
TEST(GstSlots, ReusedMemoryIsCopied) {
    const Cropped movie(37, 19, 20, "GRAY8", 1);
    const auto source = trusted_gst(movie.text(" ! videorate ! video/x-raw,framerate=100/1"));
    source->open();
    LendingPort port(200);
    port.keep_all = true;
    ASSERT_TRUE(read_all(*source, port));
    ASSERT_GE(port.frames, 70u);
    for (std::uint64_t i = 0; i < port.frames; ++i) {
        EXPECT_EQ(port.held[i].info().sequence, i);
        EXPECT_EQ(port.held[i].info().capture_ns, static_cast<std::int64_t>(i) * 10'000'000);
        EXPECT_TRUE(movie.is(port.held[i].host(), (i + 1) / 4) || movie.is(port.held[i].host(), i / 4) ||
                    movie.is(port.held[i].host(), (i + 2) / 4))
            << i;
    }
}

TEST(GstSlots, ElementsWithOwnMemoryAreNamed) {
    const TemporaryFolder folder;
    const RawMovie movie = noise_movie(40, 24, 12, "GRAY8", 1);
    ASSERT_NO_FATAL_FAILURE(encode(movie, "matroskamux", folder / "a.mkv"));
    const auto source = video(folder / "a.mkv");
    source->open();
    LendingPort port;
    port.on_frame = [&](const Frame& frame) {
        ASSERT_TRUE(same_pixels(frame.host(), movie.frame(port.frames - 1)));
    };
    ASSERT_TRUE(read_all(*source, port));
    EXPECT_EQ(port.copies, 12u);
    ASSERT_EQ(port.reasons.size(), 1u);
    EXPECT_NE(port.reasons.begin()->first.find(" brought its own memory"), std::string::npos);
    EXPECT_NE(port.reasons.begin()->first.find("matroskademux"), std::string::npos)
        << port.reasons.begin()->first;
}

TEST(GstSlots, OtherOrdersOfPixelsAreCopiedAndNamed) {
    const auto source =
        trusted_gst("videotestsrc num-buffers=12 ! video/x-raw,width=61,height=16,format=BGR");
    source->open();
    LendingPort port;
    ASSERT_TRUE(read_all(*source, port));
    EXPECT_EQ(port.copies, 12u);
    EXPECT_EQ(port.reasons,
              (std::map<std::string, std::uint64_t>{{"the samples of BGR are put in another order", 12}}));
}

TEST(GstSlots, ALoopContinuesInSlots) {
    const TemporaryFolder folder;
    ASSERT_TRUE(launch("videotestsrc pattern=ball num-buffers=30 ! "
                       "video/x-raw,format=BGRx,width=62,height=48,framerate=25/1 ! avenc_ffv1 ! "
                       "matroskamux ! filesink location=" +
                       (folder / "a.mkv")));
    const auto source = video(folder / "a.mkv", true);
    source->open();
    LendingPort port;
    std::vector<std::vector<std::byte>> round;
    port.on_frame = [&](const Frame& frame) {
        const std::uint64_t index = port.frames - 1;
        if (index < 30) {
            round.emplace_back(frame.shape().bytes());
            copy_pixels(frame.host(), HostView(round.back().data(), frame.shape()));
        } else {
            ASSERT_TRUE(same_pixels(frame.host(), round[index % 30].data())) << index;
        }
    };
    ASSERT_TRUE(read_all(*source, port, 120));
    EXPECT_EQ(port.discontinuities, 3);
    expect_in_place(port, 120);
}

TEST(GstSlots, ASlowPipelineGetsEveryFrameOfAFile) {
    const Cropped movie(37, 19, 150, "GRAY16_LE", 2);
    Pipeline pipeline(trusted_gst(movie.text()), Chain(), options());
    const auto sink = std::make_shared<WatchingSink>();
    std::atomic<int> wrong{0};
    sink->on_push = [&](const Result& result) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        wrong += movie.is(result.raw.host(), result.info.sequence) ? 0 : 1;
    };
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    pipeline.stop();
    const StatsSnapshot s = pipeline.stats();
    EXPECT_EQ(sink->count(), 150u);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(s.drops.total(), 0u);
    EXPECT_EQ(s.transfer.in_place + s.transfer.copies(), 150u);
    EXPECT_GE(s.transfer.in_place, 138u);
}

TEST(GstSlots, EveryDropOfALiveSourceIsCounted) {
    Pipeline pipeline(
        trusted_gst(
            "videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=61,height=16,framerate=500/1"),
        Chain(), options());
    const auto sink = std::make_shared<WatchingSink>();
    pipeline.add_sink(sink);
    pipeline.start();
    for (std::uint64_t goal = 60; goal <= 480; goal += 60) { // stalls and recovers
        sink->shut(goal % 120 == 0);
        ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired >= goal; }))
            << "a camera is never held up";
    }
    sink->shut(false);
    ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired >= 600; }));
    pipeline.stop();
    const StatsSnapshot s = pipeline.stats();
    EXPECT_GT(s.drops.ring, 50u);
    EXPECT_EQ(s.frames.acquired + s.drops.source, s.frames.processed + s.drops.total());
    EXPECT_EQ(s.transfer.in_place + s.transfer.copies(), s.frames.processed);
    EXPECT_GT(s.transfer.in_place, 50u);
    const std::vector<Seen> seen = sink->seen();
    for (std::size_t i = 1; i < seen.size(); ++i) // one every 2 ms of its own clock
        ASSERT_EQ((seen[i].index - seen[i - 1].index) / 2, seen[i].sequence - seen[i - 1].sequence) << i;
}

} // namespace gst_slots_test
