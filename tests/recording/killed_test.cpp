// kill -9 at a random moment with five active recorders: each file can be opened and lacks at most the last
// second.
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/random.hpp"

#include <csignal>
#include <ctime>
#include <thread>

namespace killed_test {

using namespace specklescope;
using namespace std::chrono_literals;

const Shape kGrey{640, 480, 1, PixelType::u16};
const Shape kNumber{640, 480, 1, PixelType::f32};
constexpr int kRate = 60;
constexpr int kFiles = 5;
const char* const kNames[kFiles] = {"raw.ome.tiff", "raw.raw", "raw.h5", "raw.mkv", "flow.mkv"};

double now_s() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now); // this clock is the same in every process
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Noise, with the frame number in bright and dark blocks that a lossy encoder leaves readable.
template <class T> void stamp(HostView view, std::uint64_t n, T bright) {
    const auto pixels = view.as<T>();
    for (int bit = 0; bit < 16; ++bit)
        for (int y = 0; y < 16; ++y)
            std::fill_n(pixels.row(y) + 16 * bit, 16, (n >> bit & 1U) != 0 ? bright : T{0});
}

/// Records like a camera until it is killed. After each frame it prints the time, and for each recorder the
/// dropped frames and the first ones accepted.
int record_until_killed(const std::string& folder) {
    Maker maker(kGrey, kNumber, 12);
    const Result model = maker.make(1);
    std::vector<std::shared_ptr<Sink>> sinks;
    for (const std::string name : kNames) { // NOLINT: a copy of a literal
        RecordOptions options{.path = folder + "/" + name, .what = RecordWhat::raw};
        if (name == "flow.mkv") {
            options.what = RecordWhat::processed;
            options.mapping = {.colormap = ColorMap::grey, .automatic = false, .low = 0, .high = 1000};
        }
        sinks.push_back(make_recorder(options));
        sinks.back()->open(stream_of(kGrey, kRate));
    }
    auto due = SteadyClock::now();
    for (std::uint64_t n = 0; n < 60000; ++n) {
        Result result = model;
        result.raw = maker.raw().acquire(1min);
        result.image = maker.image().acquire(1min);
        copy_pixels(model.raw.host(), result.raw.host());
        copy_pixels(model.image.host(), result.image.host());
        stamp<std::uint16_t>(result.raw.host(), n, 65535);
        stamp<float>(result.image.host(), n, 1000);
        maker.describe(result, n);
        for (const auto& sink : sinks)
            sink->push(result, false);
        result = {};
        std::printf("%llu %.6f", static_cast<unsigned long long>(n), now_s());
        for (const auto& sink : sinks) {
            const SinkStatus status = sink->status();
            std::printf(" %llu %llu", static_cast<unsigned long long>(status.dropped),
                        static_cast<unsigned long long>(status.late));
        }
        std::printf("\n");
        std::fflush(stdout);
        due = std::max(due + std::chrono::microseconds(1000000 / kRate), SteadyClock::now());
        std::this_thread::sleep_until(due);
    }
    return 1;
}

struct Told {
    double at = 0;
    std::uint64_t dropped[kFiles] = {}, late[kFiles] = {};
};

std::vector<Told> told(const std::string& text) {
    std::vector<Told> lines;
    std::istringstream in(text.substr(0, text.rfind('\n') + 1)); // the last line may be incomplete
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::uint64_t number = 0;
        Told one;
        words >> number >> one.at;
        for (int i = 0; i < kFiles; ++i)
            words >> one.dropped[i] >> one.late[i];
        if (words && number == lines.size())
            lines.push_back(one);
    }
    return lines;
}

/// Number of kills: 4, or from the environment (./dev nightly kill).
int moments() {
    const char* asked = std::getenv("SPECKLESCOPE_KILLS"); // NOLINT(concurrency-mt-unsafe)
    return asked ? std::atoi(asked) : 4;
}

/// The guarantee: a frame accepted a second before the program's last line, and not reported as dropped by
/// then, is in the file. Only the frame being written may take longer, and for a video another one in the
/// encoder, since the recorder controls neither the disk nor the CPU.
void check(const std::vector<Told>& lines, const Json& found) {
    std::size_t old = 0; // frames offered more than a second before
    while (old < lines.size() && lines[old].at < lines.back().at - 1)
        ++old;
    for (int i = 0; i < kFiles; ++i) {
        const std::string name = kNames[i];
        const bool video = name.ends_with(".mkv");
        const Json& numbers = found.at(name);
        std::uint64_t owed = 0;
        if (old > 0) {
            const std::uint64_t taken = old - lines[old - 1].dropped[i];
            const std::uint64_t late = lines.back().late[i] - lines[old - 1].late[i];
            owed = taken - std::min(taken, late + (video ? 2 : 1));
        }
        if (!numbers.is_array()) {
            EXPECT_EQ(owed, 0U) << name << " does not open: " << numbers;
            continue;
        }
        std::uint64_t kept = 0;
        std::int64_t before = -1;
        for (const std::int64_t number : numbers) {
            EXPECT_GT(number, before) << name << ": not in order";
            before = number;
            kept += number < static_cast<std::int64_t>(old) ? 1 : 0;
        }
        EXPECT_GE(kept, owed) << name << ": of " << old << " frames older than a second, "
                              << lines.back().dropped[i] << " dropped, " << lines.back().late[i] << " late";
        if (!lines.empty())
            std::printf("%s: %zu frames, newest %.2f s before the last word; %llu of %zu dropped\n",
                        name.c_str(), numbers.size(),
                        before < 0 || static_cast<std::size_t>(before) >= lines.size()
                            ? 0.0
                            : lines.back().at - lines[static_cast<std::size_t>(before)].at,
                        static_cast<unsigned long long>(lines.back().dropped[i]), lines.size());
    }
}

TEST(Killed, FiveRecordersLoseAtMostTheLastSecond) {
    auto random = test::test_random(9);
    for (int moment = 0; moment < moments(); ++moment) {
        const TemporaryFolder folder;
        const double after = std::uniform_real_distribution<>(0.1, 5)(random);
        SCOPED_TRACE("killed after " + std::to_string(after) + " s");
        std::string text;
        {
            Child child({fs::read_symlink("/proc/self/exe").string(), "--helper", "four",
                         folder.path().string(), "raw"},
                        folder.path().string());
            double first = 0;
            ASSERT_TRUE(child.until(
                [&](const ChildResult& r) {
                    if (first == 0 && !r.out.empty())
                        first = now_s();
                    return first > 0 && now_s() > first + after;
                },
                60s));
            child.signal(SIGKILL);
            const ChildResult result = child.finish();
            ASSERT_EQ(result.status, 128 + SIGKILL) << result.all();
            text = result.out;
        }
        std::string command = "/usr/bin/python3 '" + test::source_folder() +
                              "/tests/recording/read_killed.py' " + std::to_string(kGrey.width) + " " +
                              std::to_string(kGrey.height);
        for (const char* name : kNames)
            command += " '" + (folder / name) + "'";
        int status = 0;
        const std::string seen = run_command(command + " 2>'" + (folder / "python.log") + "'", &status);
        ASSERT_EQ(status, 0) << seen << read_text(folder / "python.log");
        check(told(text), Json::parse(seen));
    }
}

/// Fragments of one second: the last fragment is lost.
TEST(Killed, AnMp4OpensUpToItsLastSecond) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.mp4";
    Child child({test::program_path(), "run", "synthetic:vessels?width=128&height=96&rate=60&live=true",
                 "--backend", "cpu", "--stage", "none", "--record", path},
                folder.path().string());
    double began = 0;
    ASSERT_TRUE(child.until(
        [&](const ChildResult&) {
            std::error_code none;
            if (began == 0 && fs::file_size(path, none) > 0 && !none)
                began = now_s();
            return began > 0 && now_s() > began + 4.5;
        },
        60s));
    child.signal(SIGKILL);
    ASSERT_EQ(child.finish().status, 128 + SIGKILL);
    const std::string command =
        "ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 '" + path + "'";
    const int frames = std::atoi(run_command(command + " 2>'" + (folder / "ffprobe.log") + "'").c_str());
    EXPECT_EQ(read_text(folder / "ffprobe.log"), "") << "ffprobe finds nothing wrong";
    EXPECT_GE(frames, 120) << "4.5 s, less the last fragment, on a slow machine";
    EXPECT_EQ(decode_video(path, "RGB", {128, 96, 3, PixelType::u8}).size(),
              static_cast<std::size_t>(frames));
}

} // namespace killed_test

int killed_helper(const std::string& folder) { return killed_test::record_until_killed(folder); }
