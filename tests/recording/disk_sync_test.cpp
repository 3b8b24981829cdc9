// Recordings are stored while they grow. A slow disk does not block them; a disk that loses bytes ends them.
#include "recording/disk_sync.hpp"
#include "tests/recording/bigtiff.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/eventually.hpp"

#include <condition_variable>
#include <thread>

namespace specklescope::disk_sync_test {
using namespace std::chrono_literals;
using test::StorageLog;

const Shape kShape{67, 45, 1, PixelType::u16};

/// Pages that a killed process would leave now; checks the pixels of each.
std::size_t pages_now(const std::string& path) {
    const Bytes bytes = read_bytes(path);
    const BigTiff tiff(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    const auto& pages = tiff.pages();
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const Bytes wanted = expected(kShape, i);
        EXPECT_EQ(pages[i].pixels, std::string(reinterpret_cast<const char*>(wanted.data()), wanted.size()));
    }
    return pages.size();
}

std::uint64_t lines_in(const std::string& path) {
    std::ifstream file(path);
    return static_cast<std::uint64_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

/// Blocks the disk until it opens.
class Gate {
public:
    int pass() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return open_; });
        return 0;
    }
    void open() {
        {
            const std::lock_guard lock(mutex_);
            open_ = true;
        }
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

TEST(DiskSync, StoresARecordingAboutOnceASecond) {
    for (const char* name : {"a.tiff", "a.raw", "a.h5", "a.mkv"}) {
        const TemporaryFolder folder;
        const StorageLog log;
        Maker maker(kShape);
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream_of(kShape));
        const auto begin = SteadyClock::now();
        for (std::uint64_t n = 0; SteadyClock::now() < begin + 3500ms; ++n) {
            sink->push(maker.make(n), true);
            std::this_thread::sleep_for(20ms);
        }
        sink->close();
        EXPECT_EQ(sink->status().error, "");
        const std::size_t files = fs::exists((folder / name) + ".jsonl") ? 2 : 1;
        const auto seconds = static_cast<std::size_t>((SteadyClock::now() - begin) / 1s);
        EXPECT_GE(log.syncs(), 2 * files) << name;
        EXPECT_LE(log.syncs(), (seconds + 1) * files) << name;
    }
}

TEST(DiskSync, ADiskThatDoesNotAnswerBlocksNoFrame) {
    const TemporaryFolder folder;
    const std::string path = folder / "slow.tiff";
    Gate gate;
    StorageLog log([&] { return gate.pass(); });
    Maker maker(kShape);
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kShape));
    std::uint64_t n = 0;
    for (; log.syncs() == 0 && n < 20000; ++n) {
        sink->push(maker.make(n), true);
        std::this_thread::sleep_for(1ms);
    }
    for (const std::uint64_t end = n + 10; n < end; ++n)
        sink->push(maker.make(n), true);
    EXPECT_TRUE(test::eventually([&] { return sink->status().written == n && pages_now(path) == n; }));
    EXPECT_EQ(log.syncs(), 1U);
    gate.open();
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().dropped, 0U);
    EXPECT_EQ(pages_now(path), n);
}

/// The recorder is late, not the camera: it drops frames of its own, and the camera has its slots.
TEST(DiskSync, ADiskThatDoesNotWriteHoldsNoSlot) {
    for (const char* name : {"slow.tiff", "slow.raw"}) {
        const TemporaryFolder folder;
        Maker maker(kShape);
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream_of(kShape));
        std::uint64_t n = 0;
        sink->push(maker.make(n++), false);
        ASSERT_TRUE(test::eventually([&] { return sink->status().written == 1; }));
        Gate gate;
        const test::SlowWrites slow([&] { gate.pass(); });
        for (; sink->status().dropped < 100 && n < 20000; ++n) {
            Result result = maker.make(0);
            maker.describe(result, n);
            paint(result.raw.host(), n);
            sink->push(result, false);
            result = {};
            EXPECT_TRUE(test::eventually([&] { return maker.raw().free_slots() >= 4; })) << name << n;
            std::this_thread::sleep_for(1ms);
        }
        EXPECT_TRUE(test::eventually([&] { return maker.raw().free_slots() == 6; })) << name;
        gate.open();
        EXPECT_TRUE(test::eventually([&] { // it records again
            const std::uint64_t before = sink->status().written;
            sink->push(maker.make(n++), false);
            return test::eventually([&] { return sink->status().written > before; }, 1s);
        }));
        sink->close();
        const SinkStatus status = sink->status();
        EXPECT_EQ(status.error, "");
        EXPECT_GE(status.dropped, 100U);
        EXPECT_EQ(status.lost_before, 0U);
        EXPECT_EQ(status.written + status.dropped, n);
        if (std::string(name) == "slow.tiff") {
            const std::vector<Page> pages = read_stack(status.path);
            ASSERT_EQ(pages.size(), status.written);
            EXPECT_EQ(pages[0].description.at("dropped"), status.dropped);
            for (const Page& page : pages) {
                const Json& frame = &page == pages.data() ? page.description.at("frame") : page.description;
                ASSERT_EQ(compare(page.pixels, expected(kShape, frame.at("sequence"))), "equal");
            }
        } else {
            const Bytes pixels = read_bytes(status.path);
            ASSERT_EQ(pixels.size(), status.written * kShape.bytes());
            std::ifstream lines(status.path + ".jsonl");
            std::string line;
            std::getline(lines, line);
            EXPECT_EQ(Json::parse(line).at("dropped"), status.dropped);
            for (auto at = pixels.begin(); std::getline(lines, line); at += kShape.bytes())
                ASSERT_EQ(compare(Bytes(at, at + kShape.bytes()),
                                  expected(kShape, Json::parse(line).at("sequence"))),
                          "equal");
        }
    }
}

TEST(DiskSync, ADiskThatLosesBytesEndsTheRecording) {
    for (const char* name : {"lost.tiff", "lost.raw", "lost.mkv"}) {
        const TemporaryFolder folder;
        StorageLog log([] { return EIO; });
        Maker maker(kShape);
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream_of(kShape));
        std::uint64_t n = 0;
        for (; sink->status().error.empty() && n < 20000; ++n) {
            sink->push(maker.make(n), true);
            std::this_thread::sleep_for(1ms);
        }
        sink->close();
        const SinkStatus status = sink->status();
        EXPECT_NE(status.error.find("Input/output error"), std::string::npos) << status.error;
        EXPECT_EQ(status.error.find('\n'), std::string::npos);
        EXPECT_EQ(status.written + status.dropped, n);
        if (fs::exists((folder / name) + ".jsonl")) {
            EXPECT_EQ(lines_in((folder / name) + ".jsonl"), status.written + 1);
            EXPECT_EQ(fs::file_size(folder / name), status.written * kShape.bytes());
        }
        if (std::string(name) == "lost.tiff") {
            EXPECT_EQ(pages_now(folder / name), status.written);
        }
    }
}

TEST(DiskSync, BytesLostAtTheEndAreReported) {
    for (const char* name : {"last.tiff", "last.raw", "last.mkv"}) {
        const TemporaryFolder folder;
        StorageLog log([] { return EIO; });
        Maker maker(kShape);
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream_of(kShape));
        sink->push(maker.make(0), true);
        if (std::string(name) == "last.mkv") // uses the disk with its first update
            std::this_thread::sleep_for(1200ms);
        sink->close();
        EXPECT_NE(sink->status().error.find("Input/output error"), std::string::npos)
            << name << ": " << sink->status().error;
    }
}

TEST(DiskSync, IgnoresAFileThatCannotBeStoredByRequest) {
    const TemporaryFolder folder;
    StorageLog log([] { return EINVAL; });
    Maker maker(kShape);
    const SinkStatus status = record(maker, {.path = folder / "odd.tiff", .what = RecordWhat::raw}, 0, 20);
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.written, 20U);
    EXPECT_EQ(pages_now(status.path), 20U);
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    {
        DiskSync sync(pipe[1]);
        for (std::uint64_t end = 0; end < 4 * DiskSync::kKept; end += DiskSync::kKept / 4)
            EXPECT_EQ(sync.advance(end), 0);
        EXPECT_EQ(sync.stop(), 0);
    }
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(DiskSync, ALongFileIsTheSameThoughItsPagesLeaveTheCache) {
    const TemporaryFolder folder;
    const Shape shape{1001, 700, 1, PixelType::u16};
    Maker maker(shape);
    constexpr std::uint64_t kFrames = 40;
    const SinkStatus status =
        record(maker, {.path = folder / "long.tiff", .what = RecordWhat::raw}, 0, kFrames);
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.written, kFrames);
    ASSERT_GT(status.bytes, 3 * DiskSync::kKept);
    const std::vector<Page> pages = read_stack(status.path);
    ASSERT_EQ(pages.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i)
        ASSERT_EQ(compare(pages[i].pixels, expected(shape, i)), "equal") << "page " << i;
    EXPECT_EQ(pages[0].description.at("written"), kFrames);
}

} // namespace specklescope::disk_sync_test
