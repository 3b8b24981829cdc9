// Recording with failures: kill -9, a full disk, a slow encoder. A child process of this program records;
// the test reads its files.
#include "base/text.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/eventually.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <dlfcn.h>
#include <thread>

namespace recorder_failure_test {

using namespace specklescope;
using namespace std::chrono_literals;

const Shape kGrey{320, 240, 1, PixelType::u16};
const Shape kNumber{320, 240, 1, PixelType::f32};

RecordOptions options_for(const std::string& path, const std::string& what) {
    return {.path = path, .what = what == "raw" ? RecordWhat::raw : RecordWhat::processed};
}

/// Records like a camera of 100 frames/s until killed; prints each frame's number when it is offered.
int helper_endless(const std::string& path, const std::string& what) {
    Maker maker(kGrey, kNumber, 12);
    const auto sink = make_recorder(options_for(path, what));
    sink->open(stream_of(kGrey));
    for (std::uint64_t n = 0; n < 100000; ++n) {
        const auto due = SteadyClock::now() + 10ms;
        sink->push(maker.make(n), false);
        std::printf("%llu %llu\n", static_cast<unsigned long long>(n),
                    static_cast<unsigned long long>(sink->status().dropped));
        std::fflush(stdout);
        std::this_thread::sleep_until(due);
    }
    return 1;
}

/// Fills the disk, continues to offer frames, and prints the recorder's status. `limit` > 0: maximum bytes
/// of a file; < 0: per cent of the disk to keep free.
int helper_full(const std::string& path, const std::string& what, long limit) try {
    if (limit > 0) {
        const rlimit most{static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
        ::setrlimit(RLIMIT_FSIZE, &most);
    }
    Maker maker(kGrey, kNumber, 12);
    RecordOptions options = options_for(path, what);
    options.limits.keep_free = std::max(0.0, -static_cast<double>(limit));
    const auto sink = make_recorder(options);
    sink->open(stream_of(kGrey));
    for (std::uint64_t n = 0; n < 100; ++n)
        sink->push(maker.make(n), true);
    sink->close();
    const SinkStatus status = sink->status();
    const Json json{{"error", status.error},
                    {"written", status.written},
                    {"dropped", status.dropped},
                    {"path", status.path},
                    {"slots_home", maker.raw().free_slots() == 12 && maker.image().free_slots() == 12}};
    std::printf("RESULT %s\n", json.dump().c_str());
    return 0;
} catch (const RunError& error) {
    std::printf("RESULT %s\n", Json{{"refused", error.what()}}.dump().c_str());
    return 0;
}

/// A film and a stack, with this many MiB of address space left: too few for all threads of the film. An
/// earlier film has loaded the libraries. Other threads use the stacks that libc caches.
int helper_starved(const std::string& film, const std::string& stack, long mib) {
    Maker maker(kGrey, kNumber, 12);
    const auto record = [&](std::vector<std::string> paths, int frames) {
        std::vector<SinkStatus> made;
        std::vector<std::shared_ptr<Sink>> sinks;
        for (const std::string& path : paths) {
            sinks.push_back(make_recorder(options_for(path, "raw")));
            sinks.back()->open(stream_of(kGrey));
        }
        for (int n = 0; n < frames; ++n)
            for (const auto& sink : sinks)
                sink->push(maker.make(static_cast<std::uint64_t>(n)), true);
        for (const auto& sink : sinks) {
            sink->close();
            made.push_back(sink->status());
        }
        return made;
    };
    record({film + ".first.mkv"}, 3);
    if (void* stop = ::dlsym(RTLD_DEFAULT, "g_thread_pool_stop_unused_threads"))
        reinterpret_cast<void (*)()>(stop)();
    for (int n = 0; n < 16; ++n)
        std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto most = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + (mib << 20));
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
    const std::vector<SinkStatus> made = record({film, stack}, 10);
    const Json json{{"film", made[0].written}, {"error", made[0].error}, {"stack", made[1].written}};
    std::printf("RESULT %s\n", json.dump().c_str());
    std::fflush(stdout);
    return 0;
}

std::string self() { return fs::read_symlink("/proc/self/exe").string(); }

Json result_of(const std::string& text) {
    const std::size_t at = text.find("RESULT ");
    return at == std::string::npos ? Json() : Json::parse(text.substr(at + 7, text.find('\n', at) - at - 7));
}

struct Offered {
    std::uint64_t last = 0, dropped = 0;
};

/// Records in a child, kills it after about 2.5 s, and returns the number of frames offered by then.
Offered record_and_kill(const std::string& path, const std::string& what) {
    int pipe[2] = {-1, -1};
    EXPECT_EQ(::pipe(pipe), 0);
    const std::string program = self();
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe[1], 1);
        ::close(pipe[0]);
        ::close(pipe[1]);
        ::execl(program.c_str(), program.c_str(), "--helper", "endless", path.c_str(), what.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(pipe[1]);
    std::FILE* numbers = ::fdopen(pipe[0], "r");
    Offered offered;
    SteadyClock::time_point first{};
    char line[64];
    while (std::fgets(line, sizeof line, numbers)) {
        char* rest = nullptr;
        offered.last = std::strtoull(line, &rest, 10);
        offered.dropped = std::strtoull(rest, nullptr, 10);
        if (first == SteadyClock::time_point{})
            first = SteadyClock::now();
        if (SteadyClock::now() - first > 2500ms)
            break;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::fclose(numbers);
    return offered;
}

TEST(Killed, ATiffStackOpensWithAllButTheLastSecond) {
    const TemporaryFolder folder;
    for (const std::string what : {"raw", "processed"}) { // NOLINT: a copy of a literal
        const std::string path = folder / (what + ".tiff");
        const std::uint64_t last = record_and_kill(path, what).last;
        ASSERT_GT(last, 20U);
        const std::vector<Page> pages = read_stack(path);
        ASSERT_GT(pages.size(), 0U);
        EXPECT_EQ(pages[0].description.at("finished"), false);
        std::uint64_t sequence = 0;
        for (std::size_t i = 0; i < pages.size(); ++i) {
            sequence = (i == 0 ? pages[i].description.at("frame") : pages[i].description).at("sequence");
            ASSERT_EQ(compare(pages[i].pixels, expected(what == "raw" ? kGrey : kNumber, sequence)), "equal");
        }
        EXPECT_GE(sequence + 100, last);
        // The totals in the first page are at most about a second old.
        const std::uint64_t counted = pages[0].description.at("written");
        EXPECT_LE(counted, pages.size());
        EXPECT_GE(counted + 130, pages.size());
    }
}

TEST(Killed, AVideoOpensWithAllButTheLastSecond) {
    const TemporaryFolder folder;
    for (const std::string what : {"raw", "processed"}) { // NOLINT: a copy of a literal
        const std::string path = folder / (what + ".mkv");
        const Offered offered = record_and_kill(path, what);
        const bool raw = what == "raw";
        const Shape shape = raw ? kGrey : Shape{320, 240, 3, PixelType::u8};
        const std::vector<Bytes> frames = decode_video(path, raw ? "GRAY16_LE" : "RGB", shape);
        ASSERT_GT(frames.size(), 0U);
        EXPECT_GE(frames.size() + 100, offered.last + 1 - offered.dropped);
        if (raw) {
            EXPECT_EQ(compare(frames[0], expected(kGrey, 0)), "equal");
            std::uint64_t newest = offered.last + 1; // the file may have one frame more than printed
            while (newest > 0 && compare(frames.back(), expected(kGrey, newest)) != "equal")
                --newest;
            EXPECT_GE(newest + 100, offered.last);
        }
    }
}

void check_full(const Json& said, const std::string& found, const std::string& what) {
    ASSERT_TRUE(said.is_object());
    EXPECT_NE(said.at("error").get<std::string>().find("stopped"), std::string::npos) << said;
    const std::uint64_t written = said.at("written");
    EXPECT_GT(written, 0U);
    EXPECT_EQ(written + said.at("dropped").get<std::uint64_t>(), 100U);
    EXPECT_EQ(said.at("slots_home"), true);
    const Shape shape = what == "raw" ? kGrey : kNumber;
    if (found.ends_with(".tiff")) {
        const std::vector<Page> pages = read_stack(found);
        ASSERT_EQ(pages.size(), written);
        for (std::size_t i = 0; i < pages.size(); ++i)
            EXPECT_EQ(compare(pages[i].pixels, expected(shape, i)), "equal");
        EXPECT_EQ(pages[0].description.at("finished"), false); // interrupted, and marked as such
        EXPECT_EQ(pages[0].description.at("written"), written);
        EXPECT_EQ(pages[0].description.at("dropped"), 100 - written) << "those offered after the end too";
        EXPECT_GE(fs::file_size(found), pages.back().end);
        EXPECT_LT(fs::file_size(found), pages.back().end + 16) << "part of the failed page was left behind";
    } else if (found.ends_with(".raw")) {
        const Bytes pixels = read_bytes(found);
        ASSERT_EQ(pixels.size(), written * kGrey.bytes()) << "part of the failed frame was left behind";
        for (std::size_t i = 0; i < written; ++i) {
            const auto at = pixels.begin() + static_cast<std::ptrdiff_t>(i * kGrey.bytes());
            EXPECT_EQ(compare(Bytes(at, at + static_cast<std::ptrdiff_t>(kGrey.bytes())), expected(kGrey, i)),
                      "equal");
        }
        std::ifstream lines(found + ".jsonl");
        std::string line;
        std::getline(lines, line);
        EXPECT_EQ(Json::parse(line).at("finished"), false);
        std::uint64_t count = 0;
        while (std::getline(lines, line))
            EXPECT_EQ(Json::parse(line).at("sequence"), count++);
        EXPECT_EQ(count, written);
    } else {
        const std::vector<Bytes> frames = decode_video(found, "GRAY16_LE", kGrey);
        EXPECT_GE(frames.size() + 1, written);
        for (std::size_t i = 0; i + 1 < frames.size(); ++i) // the last one may be incomplete
            EXPECT_EQ(compare(frames[i], expected(kGrey, i)), "equal");
    }
}

TEST(FullDisk, IsSaidLoudlyAndWhatWasWrittenStaysReadable) {
    const TemporaryFolder folder;
    int status = 0;
    const std::string disk = folder / "disk";
    fs::create_directory(disk);
    const std::string refusal =
        run_command("unshare -rm mount -t tmpfs -o size=4m none '" + disk + "' 2>&1", &status);
    if (status != 0)
        GTEST_SKIP() << "no small disk can be mounted here without rights: " << one_line(refusal);
    for (const auto& [name, what] :
         {std::pair{"a.tiff", "raw"}, {"b.tiff", "processed"}, {"c.mkv", "raw"}, {"d.raw", "raw"}}) {
        // The small disk exists only in the child's namespace: the child copies the file out before it ends.
        const std::string path = disk + "/" + name;
        const std::string text = run_command("unshare -rm sh -c \"mount -t tmpfs -o size=4m none '" + disk +
                                             "' && '" + self() + "' --helper full '" + path + "' " + what +
                                             " 0; cp '" + path + "'* '" + (folder / "") + "'\" 2>&1");
        const Json said = result_of(text);
        ASSERT_TRUE(said.is_object()) << text;
        EXPECT_NE(text.find("[error]"), std::string::npos) << text;
        check_full(said, folder / name, what);
    }
}

TEST(FullDisk, IsNeverMadeByARecordingThatKeepsRoomFree) {
    const TemporaryFolder folder;
    int status = 0;
    const std::string disk = folder / "disk";
    fs::create_directory(disk);
    const std::string mount = "mount -t tmpfs -o size=4m none '" + disk + "'";
    const std::string refusal = run_command("unshare -rm " + mount + " 2>&1", &status);
    if (status != 0)
        GTEST_SKIP() << "no small disk can be mounted here without rights: " << one_line(refusal);
    const std::string path = disk + "/a.tiff";
    const std::string text =
        run_command("unshare -rm sh -c \"" + mount + " && '" + self() + "' --helper full '" + path +
                    "' raw -25; echo FREE \\$(stat -f -c '%a %b' '" + disk + "'); cp '" + path + "'* '" +
                    (folder / "") + "'\" 2>&1");
    const Json said = result_of(text);
    ASSERT_TRUE(said.is_object()) << text;
    EXPECT_NE(said.at("error").get<std::string>().find("keep_free = 25 % needs 1.0 MiB"), std::string::npos)
        << text;
    check_full(said, folder / "a.tiff", "raw");
    std::istringstream blocks(text.substr(text.find("FREE ") + 5));
    double free = 0, all = 0;
    blocks >> free >> all;
    EXPECT_GE(free / all, 0.25) << text;
    EXPECT_LT(free / all, 0.25 + 0.1) << "it stopped long before: " << text;
}

TEST(FullDisk, AReadOnlyOneIsRefusedBeforeTheFirstFrame) {
    const TemporaryFolder folder;
    int status = 0;
    const std::string mount = "mount -t tmpfs -o ro none '" + (folder / "") + "'";
    const std::string refusal = run_command("unshare -rm " + mount + " 2>&1", &status);
    if (status != 0)
        GTEST_SKIP() << "no disk can be mounted here without rights: " << one_line(refusal);
    const std::string text = run_command("unshare -rm sh -c \"" + mount + " && '" + self() +
                                         "' --helper full '" + (folder / "a.tiff") + "' raw 0\" 2>&1");
    const Json said = result_of(text);
    ASSERT_TRUE(said.contains("refused")) << text;
    EXPECT_NE(said.at("refused").get<std::string>().find("Cannot write into the folder"), std::string::npos)
        << said;
}

TEST(FullDisk, AFileThatMayNotGrowEndsTheSameWay) {
    const TemporaryFolder folder;
    for (const auto& [name, what] :
         {std::pair{"a.tiff", "raw"}, {"b.tiff", "processed"}, {"c.raw", "raw"}, {"d.mkv", "raw"}}) {
        const std::string path = folder / name;
        const std::string text =
            run_command("'" + self() + "' --helper full '" + path + "' " + what + " 4000000 2>&1");
        check_full(result_of(text), path, what);
    }
}

TEST(FullDisk, NoRoomForOneFrameLeavesNoFile) {
    const TemporaryFolder folder;
    const std::string text =
        run_command("'" + self() + "' --helper full '" + (folder / "a.tiff") + "' raw 1000 2>&1");
    const Json said = result_of(text);
    ASSERT_TRUE(said.is_object()) << text;
    EXPECT_EQ(said.at("written"), 0);
    EXPECT_EQ(said.at("dropped"), 100);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

/// Too few threads: GStreamer would wait for the missing ones forever.
TEST(Starved, AFilmWithoutItsThreadsEndsAndTheOtherRecordingIsWhole) {
    int starved = 0;
    for (const int mib : {18, 22, 26, 30, 34}) {
        const TemporaryFolder folder;
        int status = 0;
        const std::string text =
            run_command("timeout -k 1 100 '" + self() + "' --helper starved '" + (folder / "a.mkv") + "' '" +
                            (folder / "b.tiff") + "' " + std::to_string(mib) + " 2>&1",
                        &status);
        const Json said = result_of(text);
        ASSERT_TRUE(said.is_object()) << mib << " MiB: " << status << '\n' << text;
        const bool whole = said.at("error") == "";
        starved += whole ? 0 : 1;
        EXPECT_EQ(said.at("film"), whole ? 10 : 0) << said;
        EXPECT_EQ(said.at("stack"), 10) << said;
        EXPECT_EQ(read_stack(folder / "b.tiff").size(), 10U);
    }
    std::cout << starved << " of 5 were starved\n";
    EXPECT_GT(starved, 0);
}

/// Removed with its folder, or only the file: not counted as recorded.
TEST(Removed, IsNoticedWhileItIsWrittenAndAtTheEnd) {
    for (const std::string name : {"a.tiff", "a.raw", "a.mkv"}) // NOLINT: a copy of a literal
        for (const bool at_end : {false, true}) {
            const TemporaryFolder folder;
            const std::string inner = folder / "inner";
            fs::create_directory(inner);
            Maker maker(kGrey, kNumber);
            const auto sink = make_recorder(options_for(inner + "/" + name, "raw"));
            sink->open(stream_of(kGrey));
            for (std::uint64_t n = 0; n < 5; ++n)
                sink->push(maker.make(n), true);
            ASSERT_TRUE(test::eventually([&] { return sink->status().written == 5; }));
            if (name == "a.raw")
                fs::remove(inner + "/a.raw.jsonl"); // removing one of the two is enough
            else
                fs::remove_all(inner);
            if (!at_end) {
                EXPECT_TRUE(test::eventually([&] { return !sink->status().error.empty(); })) << name;
                sink->push(maker.make(5), true);
            }
            sink->close();
            const SinkStatus status = sink->status();
            EXPECT_NE(status.error.find("was removed"), std::string::npos) << status.error;
            EXPECT_EQ(status.written, 0U) << name;
            EXPECT_EQ(status.dropped, at_end ? 5U : 6U) << name;
        }
}

/// FFV1 of large 16-bit frames is slower than any camera: each frame is written or counted, and the
/// recorder holds at most two slots of a small ring, and half of those beyond 6 of a larger one.
class Flood : public testing::TestWithParam<int> {};
TEST_P(Flood, EveryFrameIsWrittenOrCounted) {
    const TemporaryFolder folder;
    const Shape shape{640, 480, 1, PixelType::u16};
    const int slots = GetParam();
    Maker maker(shape, {8, 8, 1, PixelType::f32}, slots);
    const auto sink = make_recorder({.path = folder / "flood.mkv", .what = RecordWhat::raw});
    StreamInfo stream = stream_of(shape);
    stream.slots = slots;
    sink->open(stream);
    const Result model = maker.make(0);
    constexpr std::uint64_t kOffered = 300;
    int fewest = slots;
    for (std::uint64_t n = 0; n < kOffered; ++n) {
        Result result = model;
        result.raw = maker.raw().try_acquire();
        ASSERT_TRUE(result.raw) << "the recorder starved the source";
        copy_pixels(model.raw.host(), result.raw.host());
        std::memcpy(result.raw.host().data, &n, sizeof n);
        maker.describe(result, n);
        sink->push(result, false);
        result = {};
        fewest = std::min(fewest, maker.raw().free_slots());
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_GE(fewest, slots - std::max(2, (slots - 6) / 2) - 1); // one is the original
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.written + status.dropped, kOffered);
    EXPECT_GT(status.dropped, 0U);
    const Json tags = video_tags(status.path);
    ASSERT_TRUE(tags.is_object());
    EXPECT_EQ(tags.at("written"), status.written);
    EXPECT_EQ(tags.at("dropped"), status.dropped);
    const std::vector<Bytes> frames = decode_video(status.path, "GRAY16_LE", shape);
    ASSERT_EQ(frames.size(), status.written);
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) { // in order, without duplicates
        std::uint64_t number = 0;
        std::memcpy(&number, frames[i].data(), sizeof number);
        EXPECT_TRUE(i == 0 || number > before);
        before = number;
    }
}

INSTANTIATE_TEST_SUITE_P(Slots, Flood, testing::Values(6, 16, 40));

/// More frames at once than may be pinned: the rest are copied or counted.
TEST(Burst, IsBufferedByCopies) {
    const TemporaryFolder folder;
    const Shape shape{64, 64, 1, PixelType::u16};
    Maker maker(shape);
    const auto sink = make_recorder({.path = folder / "burst.tiff", .what = RecordWhat::raw});
    sink->open(stream_of(shape));
    for (std::uint64_t n = 0; n < 500; ++n)
        sink->push(maker.make(n), false);
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.written + status.dropped, 500U);
    const std::vector<Page> pages = read_stack(status.path);
    ASSERT_EQ(pages.size(), status.written);
    EXPECT_EQ(pages[0].description.at("dropped"), status.dropped);
    EXPECT_EQ(pages[0].description.at("lost_before_recorder"), 0);
    for (const Page& page : pages) {
        const Json& frame = &page == pages.data() ? page.description.at("frame") : page.description;
        ASSERT_EQ(compare(page.pixels, expected(shape, frame.at("sequence"))), "equal");
    }
}

TEST(Burst, OfAFileWaitsAndLosesNothing) {
    const TemporaryFolder folder;
    const Shape shape{640, 480, 1, PixelType::u16};
    Maker maker(shape);
    const auto sink = make_recorder({.path = folder / "wait.mkv", .what = RecordWhat::raw});
    sink->open(stream_of(shape));
    for (std::uint64_t n = 0; n < 12; ++n)
        sink->push(maker.make(n), true);
    sink->close();
    EXPECT_EQ(sink->status().written, 12U);
    EXPECT_EQ(sink->status().dropped, 0U);
    const std::vector<Bytes> frames = decode_video(sink->status().path, "GRAY16_LE", shape);
    ASSERT_EQ(frames.size(), 12U);
    for (std::size_t n = 0; n < 12; ++n)
        EXPECT_EQ(compare(frames[n], expected(shape, n)), "equal");
}

/// The threads wake each other for groups of frames that come often: the last few reach the file, too, and
/// their slots the ring.
TEST(Burst, OfSmallFramesIsWrittenToItsEnd) {
    const TemporaryFolder folder;
    const Shape shape{16, 9, 1, PixelType::u8};
    for (const bool may_wait : {true, false}) {
        Maker maker(shape, shape, 64);
        const auto sink = make_recorder({.path = folder / "small.raw", .what = RecordWhat::raw});
        StreamInfo stream = stream_of(shape);
        stream.slots = 64;
        sink->open(stream);
        std::uint64_t n = 0;
        for (const std::uint64_t some : {3000U, 1U, 500U, 2U}) {
            for (const std::uint64_t end = n + some; n < end; ++n)
                sink->push(maker.make(n), may_wait);
            EXPECT_TRUE(test::eventually([&] {
                const SinkStatus status = sink->status();
                return status.written + status.dropped == n && maker.raw().free_slots() == 64;
            })) << n;
        }
        sink->close();
        const SinkStatus status = sink->status();
        EXPECT_EQ(status.error, "");
        if (may_wait) {
            EXPECT_EQ(status.written, n);
        }
        const Bytes pixels = read_bytes(status.path);
        ASSERT_EQ(pixels.size(), status.written * shape.bytes());
        std::ifstream lines(status.path + ".jsonl");
        std::string line;
        std::getline(lines, line);
        for (auto at = pixels.begin(); std::getline(lines, line); at += shape.bytes())
            ASSERT_EQ(
                compare(Bytes(at, at + shape.bytes()), expected(shape, Json::parse(line).at("sequence"))),
                "equal");
    }
}

} // namespace recorder_failure_test

int killed_helper(const std::string& folder); // killed_test.cpp

int main(int argc, char** argv) {
    using namespace recorder_failure_test;
    const std::vector<std::string> arguments(argv, argv + argc);
    if (argc > 4 && arguments[1] == "--helper")
        return arguments[2] == "four"      ? killed_helper(arguments[3])
               : arguments[2] == "endless" ? helper_endless(arguments[3], arguments[4])
               : arguments[2] == "starved"
                   ? helper_starved(arguments[3], arguments[4], std::stol(arguments.at(5)))
                   : helper_full(arguments[3], arguments[4], std::stol(arguments.at(5)));
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
