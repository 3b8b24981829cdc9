// Frames from before the trigger: limited in time and memory, and passed to the recording completely, in
// order, with their own times.
#include "base/memory_budget.hpp"
#include "recording/pretrigger/pre_trigger.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/pretend_memory.hpp"

#include <atomic>
#include <csignal>
#include <thread>

namespace pre_trigger_test {

using namespace specklescope;

constexpr Shape kSmall{24, 16, 1, PixelType::u16};
constexpr std::uint64_t kMuch = std::uint64_t{64} << 20;

std::uint64_t sequence_of(const Page& page) {
    const Json& about = page.description;
    return (about.contains("frame") ? about["frame"] : about).at("sequence").get<std::uint64_t>();
}

std::int64_t capture_of(const Page& page) {
    const Json& about = page.description;
    return (about.contains("frame") ? about["frame"] : about).at("capture_ns").get<std::int64_t>();
}

class PreTriggerTest : public testing::Test {
protected:
    /// Frames are 10 ms apart.
    void push(PreTrigger& kept, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t n = first; n < first + count; ++n)
            kept.push(maker_.make(n), false);
    }
    static std::vector<std::uint64_t> numbers(const std::deque<RecordedFrame>& frames) {
        std::vector<std::uint64_t> list;
        for (const RecordedFrame& frame : frames)
            list.push_back(frame.info.sequence);
        return list;
    }
    /// The frame after frame n.
    static FrameInfo after(std::uint64_t n) {
        FrameInfo info;
        info.sequence = n + 1;
        info.capture_ns = static_cast<std::int64_t>(n + 1) * 10'000'000 + 5;
        return info;
    }
    static std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
        std::vector<std::uint64_t> list;
        for (std::uint64_t n = first; n <= last; ++n)
            list.push_back(n);
        return list;
    }

    TemporaryFolder folder_;
    Maker maker_{kSmall};
};

TEST_F(PreTriggerTest, KeepsTheLastSecondsAndNoSlotOfThePipeline) {
    PreTrigger kept(0.5, kMuch);
    kept.open(stream_of(kSmall));
    push(kept, 1, 20);
    EXPECT_EQ(kept.fill().frames, 20U);
    EXPECT_NEAR(kept.fill().seconds, 0.19, 1e-9);
    push(kept, 21, 180);
    EXPECT_EQ(maker_.raw().free_slots(), maker_.raw().slots());
    EXPECT_EQ(maker_.image().free_slots(), maker_.image().slots());
    EXPECT_NEAR(kept.fill().seconds, 0.5, 1e-9);
    EXPECT_FALSE(kept.fill().limited);
    const std::deque<RecordedFrame> frames = kept.take(after(200));
    EXPECT_EQ(numbers(frames), from_to(151, 200)); // half a second before frame 201
    for (const RecordedFrame& frame : frames) {
        EXPECT_EQ(compare(packed(frame.pixels.host()), expected(kSmall, frame.info.sequence)), "equal");
        EXPECT_EQ(frame.info.capture_ns, static_cast<std::int64_t>(frame.info.sequence) * 10'000'000 + 5);
    }
}

TEST_F(PreTriggerTest, TakesNoMoreMemoryThanItWasGiven) {
    constexpr Shape kLarge{512, 512, 1, PixelType::u16}; // half a MiB
    Maker maker(kLarge, kSmall);
    PreTrigger kept(100, std::uint64_t{4} << 20);
    kept.open({});
    for (std::uint64_t n = 0; n < 30; ++n)
        kept.push(maker.make(n), false);
    EXPECT_EQ(kept.fill().bytes, std::uint64_t{4} << 20);
    EXPECT_TRUE(kept.fill().limited);
    EXPECT_EQ(numbers(kept.take(after(29))), from_to(22, 29));
}

TEST_F(PreTriggerTest, RefusesWhatTheMachineHasNoMemoryFor) {
    PreTrigger kept(3600, std::uint64_t{1} << 50);
    StreamInfo stream = stream_of({8192, 8192, 1, PixelType::f32}, 1000);
    EXPECT_THROW(kept.open(stream), RunError);
}

/// One and a half periods need two frames, of 64 MiB each.
TEST_F(PreTriggerTest, CountsTheLastFrameWhereTheTimeEndsWithinIt) {
    const StreamInfo stream = stream_of({4096, 4096, 1, PixelType::f32}, 100);
    const test::PretendMemory little(std::uint64_t{150} << 20); // three quarters of it may be used
    PreTrigger one(0.01, std::uint64_t{1} << 40), more(0.015, std::uint64_t{1} << 40);
    EXPECT_NO_THROW(one.open(stream));
    EXPECT_THROW(more.open(stream), RunError);
}

TEST_F(PreTriggerTest, AGapAnotherSizeAndSmallerLimitsEmptyIt) {
    PreTrigger kept(10, kMuch);
    kept.open({});
    push(kept, 1, 5);
    Result jump = maker_.make(6);
    jump.info.discontinuity = true;
    kept.push(jump, false);
    EXPECT_EQ(kept.fill().frames, 1U);
    Result again = maker_.make(6);
    again.repeated = true; // an edit while paused
    kept.push(again, false);
    EXPECT_EQ(kept.fill().frames, 1U);
    Maker other({32, 8, 1, PixelType::u8});
    kept.push(other.make(7), false);
    EXPECT_EQ(kept.fill().frames, 1U);
    push(kept, 8, 4);
    EXPECT_EQ(kept.fill().frames, 4U);
    kept.set(20, kMuch);
    push(kept, 12, 1);
    EXPECT_EQ(kept.fill().frames, 5U);
    kept.set(5, kMuch);
    push(kept, 13, 1);
    EXPECT_EQ(kept.fill().frames, 1U);
}

/// Added after the ring or before it: the same result.
class Handover : public PreTriggerTest, public testing::WithParamInterface<bool> {};

TEST_P(Handover, NoFrameIsLostOrTwiceBetweenWhatWasKeptAndWhatCame) {
    const bool ring_first = GetParam();
    const auto kept = std::make_shared<PreTrigger>(0.5, kMuch);
    kept->open(stream_of(kSmall));
    push(*kept, 1, 200);
    const auto recorder =
        make_recorder({.path = folder_ / "r.tiff", .what = RecordWhat::raw, .before = kept});
    recorder->open(stream_of(kSmall));
    for (std::uint64_t n = 201; n <= 300; ++n) {
        const Result result = maker_.make(n);
        if (ring_first)
            kept->push(result, true);
        recorder->push(result, true);
        if (!ring_first)
            kept->push(result, true);
        EXPECT_TRUE(kept->fill().lent);
    }
    recorder->close();
    ASSERT_EQ(recorder->status().error, "");
    EXPECT_EQ(recorder->status().dropped, 0U);
    EXPECT_EQ(recorder->status().lost_before, 0U);
    const std::vector<Page> pages = read_stack(folder_ / "r.tiff");
    std::vector<std::uint64_t> found;
    for (const Page& page : pages) {
        found.push_back(sequence_of(page));
        EXPECT_EQ(compare(page.pixels, expected(kSmall, found.back())), "equal");
        EXPECT_EQ(capture_of(page), static_cast<std::int64_t>(found.back()) * 10'000'000 + 5);
    }
    EXPECT_EQ(found, from_to(151, 300)); // half a second before frame 201
    EXPECT_EQ(pages.at(0).description.at("trigger_sequence"), 201);
    // From here on it keeps frames again.
    EXPECT_FALSE(kept->fill().lent);
    push(*kept, 301, 10);
    EXPECT_EQ(kept->fill().frames, 10U);
}

INSTANTIATE_TEST_SUITE_P(Order, Handover, testing::Bool());

/// At full speed: all frames from before the trigger are present, and later ones are written or counted.
TEST_F(PreTriggerTest, ALiveStreamIsNotHeldUpByWhatCameBefore) {
    constexpr Shape kLarge{640, 480, 1, PixelType::u16};
    Maker maker(kLarge, kSmall);
    const auto kept = std::make_shared<PreTrigger>(1, kMuch);
    kept->open(stream_of(kLarge));
    for (std::uint64_t n = 1; n <= 60; ++n)
        kept->push(maker.make(n), false);
    const auto recorder =
        make_recorder({.path = folder_ / "r.tiff", .what = RecordWhat::raw, .before = kept});
    recorder->open(stream_of(kLarge));
    for (std::uint64_t n = 61; n <= 160; ++n) {
        recorder->push(maker.make(n), false);
        EXPECT_GE(maker.raw().free_slots(), 4); // 6 less the frames waiting to be written
    }
    recorder->close();
    const SinkStatus status = recorder->status();
    ASSERT_EQ(status.error, "");
    EXPECT_EQ(status.written + status.dropped, 160U);
    EXPECT_EQ(status.lost_before, 0U);
    const std::vector<Page> pages = read_stack(folder_ / "r.tiff");
    ASSERT_EQ(pages.size(), status.written);
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const std::uint64_t n = sequence_of(pages[i]);
        if (i < 60)
            EXPECT_EQ(n, i + 1);
        else
            EXPECT_GT(n, sequence_of(pages[i - 1]));
        EXPECT_EQ(compare(pages[i].pixels, expected(kLarge, n)), "equal");
    }
}

/// An encoder slower than the camera must first write the buffered frames. Frames that arrive in the
/// meantime wait in the same memory and are not dropped as late.
TEST_F(PreTriggerTest, FramesBehindThoseFromBeforeWaitForThem) {
    constexpr Shape kLarge{1024, 768, 1, PixelType::u16}; // 0.4 s of work for any encoder
    constexpr std::uint64_t kBefore = 120, kBehind = 5;
    Maker maker(kLarge, kSmall);
    const auto kept = std::make_shared<PreTrigger>(10, 4 * kMuch);
    kept->open(stream_of(kLarge));
    for (std::uint64_t n = 1; n <= kBefore; ++n)
        kept->push(maker.make(n), false);
    const auto recorder = make_recorder({.path = folder_ / "r.mkv", .what = RecordWhat::raw, .before = kept});
    recorder->open(stream_of(kLarge));
    for (std::uint64_t n = kBefore + 1; n <= kBefore + kBehind; ++n)
        recorder->push(maker.make(n), false);
    // Not closed yet, since late frames are dropped while they wait.
    EXPECT_TRUE(test::eventually([&] { return recorder->status().queued == 0; }));
    recorder->close();
    const SinkStatus status = recorder->status();
    ASSERT_EQ(status.error, "");
    EXPECT_EQ(status.late, 0U);
    EXPECT_EQ(status.written, kBefore + kBehind);
}

TEST_F(PreTriggerTest, TheLengthOfARecordingCountsThem) {
    const auto kept = std::make_shared<PreTrigger>(0.5, kMuch);
    kept->open(stream_of(kSmall));
    push(*kept, 1, 200);
    RecordOptions options{.path = folder_ / "r.tiff", .what = RecordWhat::raw, .before = kept};
    options.limits.frames = 60;
    options.limits.every = 2;
    const auto recorder = make_recorder(options);
    recorder->open(stream_of(kSmall));
    for (std::uint64_t n = 201; n <= 300; ++n)
        recorder->push(maker_.make(n), true);
    EXPECT_EQ(recorder->status().complete, "60 frames");
    recorder->close();
    std::vector<std::uint64_t> found;
    for (const Page& page : read_stack(folder_ / "r.tiff"))
        found.push_back(sequence_of(page));
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t n = 151; wanted.size() < 60; n += 2)
        wanted.push_back(n);
    EXPECT_EQ(found, wanted);
}

/// The trigger of a run without a window.
TEST_F(PreTriggerTest, ASignalBeginsAndEndsRecordingsOfARun) {
    Child child({test::program_path(), "run", "synthetic:vessels?width=64&height=48&rate=100", "--backend",
                 "cpu", "--record", "all.tiff", "--record-raw", "r.tiff", "--pre-trigger", "0.2"},
                folder_.path().string());
    const auto said = [&](const char* text) {
        return child.until(
            [&](const ChildResult& result) { return result.err.find(text) != std::string::npos; },
            std::chrono::seconds(120));
    };
    const auto larger = [&](const char* name, std::uintmax_t than) {
        return test::eventually([&] {
            std::error_code missing;
            const auto size = fs::file_size(folder_ / name, missing);
            return !missing && size > than;
        });
    };
    ASSERT_TRUE(said("Keeping the last 0.2 s"));
    constexpr std::uintmax_t kResult = 64 * 48 * 4;
    ASSERT_TRUE(larger("all.tiff", 40 * kResult)); // at least 40 frames have arrived
    EXPECT_FALSE(fs::exists(folder_ / "r.tiff"));
    child.signal(SIGUSR1);
    ASSERT_TRUE(larger("r.tiff", std::uintmax_t{60} * 64 * 48));
    child.signal(SIGUSR1);
    ASSERT_TRUE(said("frames into r.tiff"));
    const auto now = fs::file_size(folder_ / "all.tiff");
    ASSERT_TRUE(larger("all.tiff", now + 40 * kResult)); // the same number of frames is buffered again
    child.signal(SIGUSR1);
    ASSERT_TRUE(larger("r-1.tiff", std::uintmax_t{30} * 64 * 48));
    child.signal(SIGINT);
    const ChildResult ended = child.finish();
    ASSERT_EQ(ended.status, 0) << ended.all();
    for (const char* name : {"r.tiff", "r-1.tiff"}) {
        const std::vector<Page> pages = read_stack(folder_ / name);
        ASSERT_GT(pages.size(), 21U);
        const auto trigger = pages[0].description.at("trigger_sequence").get<std::uint64_t>();
        EXPECT_LE(sequence_of(pages[0]) + 10, trigger) << name;
        std::int64_t before = -1;
        for (const Page& page : pages)
            if (sequence_of(page) < trigger)
                before = capture_of(page);
        // The requested length, unless frames were lost at the source.
        EXPECT_NEAR(static_cast<double>(before - capture_of(pages[0])) * 1e-9, 0.2, 0.05) << name;
        std::uint64_t lost = 0;
        for (std::size_t i = 1; i < pages.size(); ++i)
            lost += sequence_of(pages[i]) - sequence_of(pages[i - 1]) - 1;
        const Json last = pages.front().description;
        EXPECT_EQ(lost, last.at("dropped").get<std::uint64_t>() +
                            last.at("lost_before_recorder").get<std::uint64_t>());
    }
}

/// Also between two sources, when no pipeline could handle it.
TEST_F(PreTriggerTest, ASignalBetweenTwoSourcesDoesNotEndTheRun) {
    const std::string source = "synthetic:vessels?width=64&height=48&live=false";
    Child child({test::program_path(), "run", source, source, source, source, "--frames", "3", "--backend",
                 "cpu", "--record-raw", "r{count}.tiff", "--pre-trigger", "0.2"},
                folder_.path().string());
    ASSERT_TRUE(child.until(
        [](const ChildResult& result) {
            return result.err.find("Keeping the last 0.2 s") != std::string::npos;
        },
        std::chrono::seconds(120)));
    std::atomic<bool> last{false}; // after the last source
    std::atomic<int> sent{0};
    std::thread presses([&] {
        for (; !last; ++sent) {
            child.signal(SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    EXPECT_TRUE(child.until(
        [](const ChildResult& result) { return result.err.find("Source 4 of 4") != std::string::npos; },
        std::chrono::seconds(120)));
    last = true;
    presses.join();
    const ChildResult ended = child.finish();
    EXPECT_EQ(ended.status, 0) << sent << " signals\n" << ended.all();
    EXPECT_NE(ended.out.find("4: 4 done, 0 failed"), std::string::npos) << ended.all();
}

} // namespace pre_trigger_test
