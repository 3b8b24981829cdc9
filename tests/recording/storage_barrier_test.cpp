// Power cuts: what a recording names is on the storage, whatever the system stored of the rest; and a storage
// that is slow holds nobody up.
#include "recording/storage_barrier.hpp"
#include "tests/recording/bigtiff.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/random.hpp"

#include <sys/stat.h>

#include <condition_variable>
#include <thread>

namespace specklescope::storage_barrier_test {
using namespace std::chrono_literals;
using test::StorageCall;
using test::StorageLog;

const Shape kShape{67, 45, 1, PixelType::u16};

ino_t inode(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_ino;
}

/// Records until the storage was asked so often, and then to the end. Returns the number of frames. Again
/// where the storage was late: then frames are named before it has them, which is said, and nothing is
/// promised.
std::uint64_t record_over(std::unique_ptr<StorageLog>& log, const std::string& path, std::size_t syncs,
                          std::uint64_t classic_tiff_bytes = 0xffffffff) {
    Maker maker(kShape);
    for (int tries = 0; tries < 20; ++tries) {
        log.reset();
        std::filesystem::remove(path);
        std::filesystem::remove(path + ".jsonl");
        log = std::make_unique<StorageLog>();
        const auto sink =
            make_recorder({.path = path, .what = RecordWhat::raw, .classic_tiff_bytes = classic_tiff_bytes});
        sink->open(stream_of(kShape));
        std::uint64_t n = 0;
        for (; log->syncs() < syncs && n < 20000; ++n) {
            sink->push(maker.make(n), true);
            std::this_thread::sleep_for(1ms); // only to keep the log short
        }
        sink->close();
        EXPECT_GE(log->syncs(), syncs);
        EXPECT_EQ(sink->status().error, "");
        EXPECT_EQ(sink->status().written, n);
        if (sink->status().unstored == 0)
            return n;
    }
    ADD_FAILURE() << "the storage was late in twenty recordings";
    return 0;
}

/// Whether a write was on the storage when the power was cut after everything that ended before `cut`.
bool stored(const StorageCall& write, const std::vector<StorageCall>& calls, std::uint64_t cut) {
    return std::any_of(calls.begin(), calls.end(), [&](const StorageCall& sync) {
        return sync.sync && sync.file == write.file && sync.begin > write.end && sync.end != 0 &&
               sync.end < cut;
    });
}

using Keeps = std::function<bool(const StorageCall&)>;

/// A file after a power cut: what the storage had, and of the rest the blocks of 4 KiB that `keeps` chooses.
std::string after_cut(const std::vector<StorageCall>& calls, ino_t file, std::uint64_t cut,
                      const Keeps& keeps) {
    constexpr std::size_t kBlock = 4096;
    std::string bytes;
    for (const StorageCall& write : calls) {
        if (write.sync || write.file != file || write.begin > cut)
            continue;
        const bool must = write.end != 0 && stored(write, calls, cut);
        for (std::size_t at = 0; at < write.bytes.size();) {
            const std::size_t next = std::min(write.bytes.size(), at + kBlock - (write.offset + at) % kBlock);
            if (must || keeps(write)) {
                bytes.resize(std::max<std::size_t>(bytes.size(), write.offset + next), '\0');
                bytes.replace(write.offset + at, next - at, write.bytes, at, next - at);
            }
            at = next;
        }
    }
    return bytes;
}

/// Pages that can be reached; each has the pixels of its frame.
std::size_t whole_pages(const std::string& bytes) {
    if (!bytes.starts_with("II"))
        return 0; // not even the header was stored: nothing is named
    const BigTiff tiff(bytes);
    const std::vector<TiffPage>& pages = tiff.pages();
    for (std::size_t i = 0; i < pages.size(); ++i) {
        const Bytes wanted = expected(kShape, i);
        if (pages[i].pixels != std::string(reinterpret_cast<const char*>(wanted.data()), wanted.size()))
            throw std::runtime_error("page " + std::to_string(i) + " is not what was recorded");
    }
    return pages.size();
}

/// Lines of frames; the pixels of each are in the other file.
std::size_t whole_lines(const std::string& lines, const std::string& pixels) {
    std::istringstream in(lines.substr(0, lines.rfind('\n') + 1));
    std::string line;
    if (!std::getline(in, line))
        return 0;
    std::size_t frames = 0;
    while (std::getline(in, line)) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object() || json.at("sequence") != frames)
            return frames; // a line of which the storage had a part
        const Bytes wanted = expected(kShape, frames);
        if (pixels.size() < (frames + 1) * wanted.size() ||
            std::memcmp(pixels.data() + frames * wanted.size(), wanted.data(), wanted.size()) != 0)
            throw std::runtime_error("the pixels of line " + std::to_string(frames) + " are not there");
        ++frames;
    }
    return frames;
}

/// Cuts the power at many moments; `read` counts the frames that a file is found to have, and throws.
void cut_everywhere(const std::vector<StorageCall>& calls,
                    const std::function<std::size_t(std::uint64_t cut, const Keeps&)>& read) {
    auto random = test::test_random(31);
    std::vector<std::uint64_t> moments;
    for (const StorageCall& call : calls) // while the storage is asked, and when it has answered
        if (call.sync)
            moments.insert(moments.end(), {call.begin, call.end, call.end + 1, call.end + 3});
    std::uniform_int_distribution<std::uint64_t> whenever(1, calls.back().end);
    for (int i = 0; i < 30; ++i)
        moments.push_back(whenever(random));
    moments.push_back(calls.back().end + 1);
    std::size_t most = 0;
    for (const std::uint64_t cut : moments) {
        SCOPED_TRACE("power cut at " + std::to_string(cut));
        const auto names_only = [](const StorageCall& write) { return write.bytes.size() < 500; };
        const auto any = [&](const StorageCall&) { return std::bernoulli_distribution(0.5)(random); };
        const auto most_of = [&](const StorageCall&) { return std::bernoulli_distribution(0.95)(random); };
        const auto none = [](const StorageCall&) { return false; };
        std::size_t least = 0;
        ASSERT_NO_THROW(least = read(cut, none));
        for (const Keeps& keeps : {Keeps(names_only), Keeps(any), Keeps(most_of)}) {
            std::size_t found = 0;
            ASSERT_NO_THROW(found = read(cut, keeps));
            EXPECT_GE(found, least);
            most = std::max(most, found);
        }
    }
    EXPECT_GT(most, 0U);
}

TEST(PowerCut, EveryPageThatATiffLeadsToIsWhole) {
    const TemporaryFolder folder;
    std::unique_ptr<StorageLog> log;
    const std::uint64_t frames = record_over(log, folder / "cut.tiff", 5);
    const ino_t file = inode(folder / "cut.tiff");
    const auto calls = log->calls();
    cut_everywhere(calls, [&](std::uint64_t cut, const Keeps& keeps) {
        return whole_pages(after_cut(calls, file, cut, keeps));
    });
    // Once it is finished the storage has everything.
    EXPECT_EQ(whole_pages(after_cut(calls, file, calls.back().end + 1, [](const auto&) { return false; })),
              frames);
}

TEST(PowerCut, ATiffThatBecomesABigTiffLosesNoPage) {
    const TemporaryFolder folder;
    std::unique_ptr<StorageLog> log;
    // Some frames wait for the storage when the file grows beyond these sizes.
    for (const std::uint64_t most : {std::uint64_t{20'000}, std::uint64_t{700'000}}) {
        const std::uint64_t frames = record_over(log, folder / "grown.tiff", 5, most);
        ASSERT_GT(frames * kShape.bytes(), most);
        const ino_t file = inode(folder / "grown.tiff");
        const auto calls = log->calls();
        cut_everywhere(calls, [&](std::uint64_t cut, const Keeps& keeps) {
            return whole_pages(after_cut(calls, file, cut, keeps));
        });
        const std::string whole =
            after_cut(calls, file, calls.back().end + 1, [](const auto&) { return false; });
        EXPECT_EQ(whole_pages(whole), frames);
        EXPECT_TRUE(BigTiff(whole).big());
    }
}

TEST(PowerCut, EveryLineBesideARawFileIsOfAWholeFrame) {
    const TemporaryFolder folder;
    std::unique_ptr<StorageLog> log;
    const std::uint64_t frames = record_over(log, folder / "cut.raw", 8);
    const ino_t pixels = inode(folder / "cut.raw"), lines = inode(folder / "cut.raw.jsonl");
    const auto calls = log->calls();
    const auto read = [&](std::uint64_t cut, const Keeps& keeps) {
        return whole_lines(after_cut(calls, lines, cut, keeps), after_cut(calls, pixels, cut, keeps));
    };
    cut_everywhere(calls, read);
    EXPECT_EQ(read(calls.back().end + 1, [](const auto&) { return false; }), frames);
}

TEST(PowerCut, AFileSaysThatItIsFinishedWhenTheStorageHasIt) {
    for (const char* name : {"done.tiff", "done.raw"}) {
        const TemporaryFolder folder;
        std::unique_ptr<StorageLog> log;
        const std::uint64_t frames = record_over(log, folder / name, 2);
        const auto calls = log->calls();
        const auto says = std::find_if(calls.begin(), calls.end(), [](const StorageCall& write) {
            return write.bytes.find("\"finished\": true") != std::string::npos;
        });
        ASSERT_NE(says, calls.end());
        const auto stored_until = [&](const std::string& path) {
            return after_cut(calls, inode(path), says->begin, [](const auto&) { return false; });
        };
        const std::string file = folder / name;
        EXPECT_EQ(file.ends_with("tiff") ? whole_pages(stored_until(file))
                                         : whole_lines(stored_until(file + ".jsonl"), stored_until(file)),
                  frames)
            << name;
    }
}

/// A storage that answers when it is told to.
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

/// Pages that a killed process would leave now.
std::size_t pages_now(const std::string& path) {
    const Bytes bytes = read_bytes(path);
    return whole_pages(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

TEST(StorageBarrier, AStorageThatDoesNotAnswerKeepsNoFrameFromItsFile) {
    const TemporaryFolder folder;
    const std::string path = folder / "slow.tiff";
    Gate gate;
    StorageLog log([&] { return gate.pass(); });
    Maker maker(kShape);
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kShape));
    for (std::uint64_t n = 0; n < 5; ++n)
        sink->push(maker.make(n), true); // nobody waits for the storage
    EXPECT_TRUE(test::eventually([&] { return sink->status().written == 5 && pages_now(path) == 5; }));
    // And what comes now is in the file at once.
    sink->push(maker.make(5), true);
    EXPECT_TRUE(test::eventually([&] { return pages_now(path) == 6; }));
    EXPECT_EQ(log.syncs(), 1U);
    sink->push(maker.make(6), true);
    EXPECT_TRUE(test::eventually([&] { return sink->status().unstored >= 7; }));
    gate.open();
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(pages_now(path), 7U);
    EXPECT_EQ(read_stack(path)[0].description.at("written"), 7);
}

TEST(StorageBarrier, AStorageThatTakesLongerThanASecondIsNotAskedAgain) {
    const TemporaryFolder folder;
    for (const char* name : {"slow.tiff", "slow.raw"}) {
        Gate gate;
        StorageLog log([&] { return gate.pass(); });
        Maker maker(kShape);
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream_of(kShape));
        const auto begin = SteadyClock::now();
        std::uint64_t n = 0;
        for (; SteadyClock::now() < begin + 2 * StorageBarrier::kTooSlow; ++n) {
            sink->push(maker.make(n), true);
            std::this_thread::sleep_for(5ms);
        }
        gate.open();
        for (; SteadyClock::now() < begin + 2 * StorageBarrier::kTooSlow + 2 * StorageBarrier::kEvery; ++n) {
            sink->push(maker.make(n), true);
            std::this_thread::sleep_for(5ms);
        }
        sink->close();
        EXPECT_EQ(log.syncs(), fs::path(name).extension() == ".raw" ? 2U : 1U) << name; // of lines and pixels
        EXPECT_EQ(sink->status().written, n);
        EXPECT_EQ(sink->status().unstored, n);
        EXPECT_EQ(sink->status().error, "");
    }
    EXPECT_TRUE(fs::exists(folder / "slow.raw.jsonl"));
}

TEST(StorageBarrier, AStorageThatLosesBytesStopsTheRecording) {
    for (const char* name : {"lost.tiff", "lost.raw"}) {
        const TemporaryFolder folder;
        StorageLog log([] { return EIO; });
        Maker maker(kShape);
        const auto sink = make_recorder({.path = folder / name, .what = RecordWhat::raw});
        sink->open(stream_of(kShape));
        for (std::uint64_t n = 0; sink->status().error.empty() && n < 100000; ++n)
            sink->push(maker.make(n), true);
        sink->close();
        EXPECT_NE(sink->status().error.find("Input/output error"), std::string::npos) << sink->status().error;
        EXPECT_EQ(sink->status().error.find('\n'), std::string::npos);
        if (!fs::exists((folder / name) + ".jsonl"))
            continue;
        std::ifstream lines((folder / name) + ".jsonl");
        std::string line;
        std::getline(lines, line);
        std::uint64_t named = 0;
        while (std::getline(lines, line))
            ++named;
        EXPECT_EQ(sink->status().written, named);
        EXPECT_EQ(fs::file_size(folder / name), named * kShape.bytes()) << "frames without a line stay";
    }
}

/// The last frame is in the file already when the storage says that it is lost.
TEST(StorageBarrier, WhatIsLostAtTheVeryEndIsSaid) {
    for (const char* name : {"last.tiff", "last.raw"}) {
        const TemporaryFolder folder;
        StorageLog log([] { return EIO; });
        Maker maker(kShape);
        const SinkStatus status = record(maker, {.path = folder / name, .what = RecordWhat::raw}, 0, 1);
        EXPECT_NE(status.error.find("Input/output error"), std::string::npos) << name << ": " << status.error;
    }
}

/// Not after the time for which others may wait.
TEST(StorageBarrier, TheFirstFrameIsNamedAsSoonAsItCanBe) {
    const TemporaryFolder folder;
    std::string path;
    const File file = create_new(folder / "names", path);
    ASSERT_EQ(file.write_at(0, "frame", 5), 0);
    StorageBarrier barrier(file, file, path, StorageBarrier::Kind::text);
    ASSERT_EQ(barrier.name(5, "name", SteadyClock::now() + std::chrono::hours(1)), 0);
    EXPECT_TRUE(test::eventually([&] { return barrier.named() == 1; }));
    EXPECT_EQ(barrier.stop(), 0);
    const Bytes bytes = read_bytes(path);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "framename");
}

TEST(StorageBarrier, AStorageThatCannotBeAskedIsLeftToTheSystem) {
    const TemporaryFolder folder;
    StorageLog log([] { return EINVAL; });
    Maker maker(kShape);
    const SinkStatus status = record(maker, {.path = folder / "odd.tiff", .what = RecordWhat::raw}, 0, 20);
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.written, 20U);
    EXPECT_EQ(pages_now(status.path), 20U);
}

} // namespace specklescope::storage_barrier_test
