// A window without a display: the same pixels, its files, its end.
#include "files/image_file.hpp"
#include "have_egl.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"
#include "ui/canvas/window.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <regex>
#include <set>

namespace specklescope::offscreen_test {

#ifndef SPECKLESCOPE_HAVE_EGL

TEST(Offscreen, IsRefusedWhereTheProgramWasMadeWithoutEgl) {
    const TemporaryFolder folder;
    const ChildResult result =
        run_program({"view", "synthetic", "--offscreen", "--screenshot", "s.png"}, folder.path().string());
    EXPECT_EQ(result.status, 1) << result.all();
    EXPECT_NE(result.err.find("libegl-dev"), std::string::npos) << result.all();
}

#else

const std::string kFilm = "synthetic:vessels?live=false&width=160&height=120&rate=50";

struct Picture {
    int width = 0, height = 0;
    std::vector<std::byte> rgb;
    std::array<int, 3> at(int x, int y) const {
        const std::size_t i =
            3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
        return {std::to_integer<int>(rgb.at(i)), std::to_integer<int>(rgb.at(i + 1)),
                std::to_integer<int>(rgb.at(i + 2))};
    }
};

Picture read_picture(const std::string& path) {
    const std::unique_ptr<ImageReader> reader = open_image(path);
    const Shape shape = reader->next_page().value();
    EXPECT_EQ(shape.channels, 3);
    Picture picture{shape.width, shape.height, std::vector<std::byte>(shape.bytes())};
    reader->read_rows(HostView(picture.rgb.data(), shape));
    return picture;
}

class Offscreen : public testing::Test {
protected:
    /// On the CPU, which exists everywhere; without a display.
    std::vector<std::string> words(const std::vector<std::string>& more,
                                   const std::vector<std::string>& variables = {}) const {
        std::vector<std::string> argv = {"env", "LIBGL_ALWAYS_SOFTWARE=1"};
        argv.insert(argv.end(), variables.begin(), variables.end());
        argv.insert(argv.end(), {test::program_path(), "view", "--offscreen", "--view", "width=640", "--view",
                                 "height=480"});
        argv.insert(argv.end(), more.begin(), more.end());
        return argv;
    }
    ChildResult view(const std::vector<std::string>& more,
                     const std::vector<std::string>& variables = {}) const {
        return run_child(words(more, variables), folder_.path().string());
    }
    /// Three numbers: drawn, in the movie, dropped.
    static std::array<int, 3> said_of_movie(const ChildResult& result) {
        static const std::regex kSaid(R"((\d+) frames drawn, (\d+) recorded, (\d+) dropped)");
        std::smatch found;
        if (!std::regex_search(result.err, found, kSaid)) {
            ADD_FAILURE() << result.all();
            return {};
        }
        return {std::stoi(found[1]), std::stoi(found[2]), std::stoi(found[3])};
    }
    static void expect_one_sentence(const ChildResult& result, int status, const std::string& piece) {
        EXPECT_EQ(result.status, status) << result.all();
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.all();
        EXPECT_NE(result.err.find(piece), std::string::npos) << result.all();
    }
    TemporaryFolder folder_;
};

TEST_F(Offscreen, AFilmIsShownToItsEndAndLeavesItsLastPicture) {
    const ChildResult result = view(
        {kFilm, "--frames", "10", "--screenshot", "s.png", "--snapshot", "last.png", "--stats", "s.json"});
    EXPECT_EQ(result.status, 0) << result.all();
    const Picture picture = read_picture(folder_ / "s.png");
    EXPECT_EQ(picture.width, 640);
    EXPECT_EQ(picture.height, 480);
    EXPECT_EQ(names_in(folder_.path().string()), (std::vector<std::string>{"last.png", "s.json", "s.png"}));
    EXPECT_FALSE(std::filesystem::exists(folder_ / ".config")) << "the window remembers nothing of it";
    EXPECT_NE(read_text(folder_ / "s.json").find("\"processed\": 10"), std::string::npos);
}

TEST_F(Offscreen, StatisticsHaveTheDelayToTheScreen) {
    const ChildResult result = view({kFilm, "--frames", "1", "--stats", "s.json"});
    EXPECT_EQ(result.status, 0) << result.all();
    const auto stats = nlohmann::json::parse(read_text(folder_ / "s.json"));
    const auto& delay = stats.at("to_screen_ms");
    EXPECT_EQ(delay.at("count"), 1) << stats;
    EXPECT_GT(delay.at("median"), 0) << stats;
    EXPECT_GE(delay.at("max"), stats.at("latency_ms").at("max")) << stats;
}

/// The window moved through ui/canvas/hand.hpp.
class HandOnWindow {
public:
    struct Drawn {
        double at_s, events, sequence, version, uploads, stops, low, high;
    };
    HandOnWindow(std::vector<std::string> argv, const TemporaryFolder& folder)
        : frames_(folder / "hand.frames") {
        const std::string path = folder / "hand";
        EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
        pipe_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
        pid_ = start_process(std::move(argv), {{"SPECKLESCOPE_UI_HAND", path}}, folder.path().string(),
                             folder / "log.txt");
    }
    HandOnWindow(const HandOnWindow&) = delete;
    HandOnWindow& operator=(const HandOnWindow&) = delete;
    ~HandOnWindow() {
        close(pipe_);
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    void send(const std::string& event) const {
        EXPECT_GT(write(pipe_, (event + "\n").c_str(), event.size() + 1), 0);
    }
    std::vector<Drawn> frames() const {
        std::ifstream file(frames_);
        std::string line;
        std::getline(file, line);
        std::vector<Drawn> all;
        while (std::getline(file, line) && !file.eof()) {
            Drawn d{};
            std::istringstream(line) >> d.at_s >> d.events >> d.sequence >> d.version >> d.uploads >>
                d.stops >> d.low >> d.high;
            all.push_back(d);
        }
        return all;
    }
    /// False after a minute and a half.
    bool until(const std::function<bool(const std::vector<Drawn>&)>& so) const {
        for (int i = 0; i < 900; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(100)))
            if (const std::vector<Drawn> all = frames(); !all.empty() && so(all))
                return true;
        return false;
    }

private:
    std::string frames_;
    int pipe_ = -1;
    pid_t pid_ = -1;
};

TEST_F(Offscreen, TheFrameAfterAKeyShowsItAndNoImageIsUploadedTwice) {
    const HandOnWindow hand(words({kFilm, "--stats", "s.json"}), folder_);
    ASSERT_TRUE(hand.until([](const auto&) { return true; })) << read_text(folder_ / "log.txt");
    const std::string brighter = "character " + std::to_string(int{']'});
    int sent = 0;
    const auto drawn_after = [&](const std::string& event) {
        hand.send(event);
        ++sent;
        return hand.until([&](const auto& all) { return all.back().events == sent; });
    };
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(drawn_after(brighter)) << "while the film runs";
    ASSERT_TRUE(drawn_after("key 32")) << "the film pauses";
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(drawn_after(brighter)) << "while it is paused";
    const double version = hand.frames().back().version;
    ASSERT_TRUE(drawn_after("character " + std::to_string(int{'>'})));
    ASSERT_TRUE(hand.until([&](const auto& all) { return all.back().version > version; }));
    const auto frames = hand.frames();
    for (std::size_t i = 1; i < frames.size(); ++i) {
        const double stops =
            0.5 * (std::min(frames[i].events, 3.0) + std::clamp(frames[i].events - 4, 0.0, 3.0));
        EXPECT_EQ(frames[i].stops, stops) << "frame " << i;
        const bool same =
            frames[i].sequence == frames[i - 1].sequence && frames[i].version == frames[i - 1].version;
        EXPECT_LE(frames[i].uploads - frames[i - 1].uploads, same ? 0 : 1) << "frame " << i;
    }
    std::size_t count = 0; // a paused window draws nothing once its messages have disappeared
    EXPECT_TRUE(hand.until([&](const auto& all) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        return std::exchange(count, all.size()) == all.size();
    }));
}

TEST_F(Offscreen, AMovieOfTheWindowHasEachFrameThatWasDrawnOrCountsItAsDropped) {
    const ChildResult result =
        view({kFilm, "--frames", "60", "--window-movie", "m.mkv"}, {"SPECKLESCOPE_UI_PROBE=probe.json"});
    EXPECT_EQ(result.status, 0) << result.all();
    const auto [drawn, written, dropped] = said_of_movie(result);
    EXPECT_GT(written, 0);
    EXPECT_EQ(drawn, written + dropped);
    const auto probe = nlohmann::json::parse(read_text(folder_ / "probe.json"));
    EXPECT_GE(drawn, probe["frame"].get<int>()) << "it was drawn more often than the movie was offered";
    EXPECT_TRUE(test::python(folder_, "written, dropped = " + std::to_string(written) + ", " +
                                          std::to_string(dropped) + R"py(
import cv2
film, times = cv2.VideoCapture('m.mkv'), []
while True:
    ok, frame = film.read()
    if not ok:
        break
    assert frame.shape == (480, 640, 3), frame.shape
    times.append(film.get(cv2.CAP_PROP_POS_MSEC))
assert len(times) == written, (len(times), written)
assert all(a < b for a, b in zip(times, times[1:])), times
assert times[-1] - times[0] > 500, 'shorter than the film that it shows'
text = open('m.mkv', 'rb').read().decode('latin-1')
assert '"content": "window"' in text or '"content":"window"' in text, 'not said'
)py")) << read_text(folder_ / "python.log");
    const ChildResult from = run_program({"run", kFilm, "--config", "from:m.mkv"}, folder_.path().string());
    EXPECT_EQ(from.status, 2) << from.all();
    EXPECT_NE(from.err.find("a movie of the window"), std::string::npos) << from.all();
}

TEST_F(Offscreen, AnInterruptFinishesPictureMovieAndStatisticsOfALiveSource) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const TemporaryFolder folder;
        Child child(words({"synthetic:uniform?width=96&height=64", "--screenshot", "s.png", "--window-movie",
                           "m.mp4", "--stats", "s.json"}),
                    folder.path().string());
        EXPECT_TRUE(child.until(
            [](const ChildResult& so_far) { return so_far.err.find("Recording ") != std::string::npos; },
            std::chrono::seconds(90)));
        child.signal(signal);
        const ChildResult result = child.finish();
        EXPECT_EQ(result.status, 0) << result.all();
        EXPECT_EQ(names_in(folder.path().string()), (std::vector<std::string>{"m.mp4", "s.json", "s.png"}))
            << result.all();
        const auto [drawn, written, dropped] = said_of_movie(result);
        EXPECT_EQ(drawn, written + dropped);
        EXPECT_GT(written, 0);
    }
}

TEST_F(Offscreen, ItEndsWithItsRecordings) {
    const ChildResult result =
        view({"synthetic:uniform?width=96&height=64", "--record-raw", "r.tiff", "--record-frames", "5"});
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_NE(result.err.find("Recorded 5 frames"), std::string::npos) << result.all();
}

TEST_F(Offscreen, ItEndsWithOneWhereAllItsRecordingsHaveFailed) {
    std::string line;
    for (const std::string& word : words({"synthetic:uniform?width=96&height=64", "--record", "-"}))
        line += " '" + word + "'";
    const ChildResult gone =
        run_child({"bash", "-c", line + " 2> said | head -c 100000 > got; echo ${PIPESTATUS[0]}"},
                  folder_.path().string());
    EXPECT_EQ(gone.out, "1\n") << read_text(folder_ / "said");
    EXPECT_NE(read_text(folder_ / "said").find("its reader disconnected"), std::string::npos)
        << read_text(folder_ / "said");

    std::filesystem::create_directory(folder_ / "inner");
    Child child(words({"synthetic:uniform?width=96&height=64", "--record-raw", "inner/a.tiff",
                       "--record-seconds", "1000"}),
                folder_.path().string());
    EXPECT_TRUE(child.until(
        [](const ChildResult& so_far) { return so_far.err.find("Recording ") != std::string::npos; },
        std::chrono::seconds(90)));
    std::filesystem::remove_all(folder_ / "inner");
    const ChildResult removed = child.finish();
    EXPECT_EQ(removed.status, 1) << removed.all();
    EXPECT_NE(removed.err.find("was removed"), std::string::npos) << removed.all();
}

TEST_F(Offscreen, ASinglePictureEndsToo) {
    ASSERT_EQ(
        run_program({"run", kFilm, "--frames", "1", "--snapshot", "p.png"}, folder_.path().string()).status,
        0);
    const ChildResult result = view({"p.png", "--screenshot", "s.png"});
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_TRUE(std::filesystem::exists(folder_ / "s.png"));
}

TEST_F(Offscreen, WhatCannotBeIsRefusedInOneSentence) {
    expect_one_sentence(view({kFilm, "--screenshot", "s.png", "--record-raw", "r.tiff"},
                             {"__EGL_VENDOR_LIBRARY_FILENAMES=/dev/null"}),
                        1, "No window can be drawn offscreen");
    expect_one_sentence(view({kFilm}), 2, "--screenshot FILE");
    expect_one_sentence(view({kFilm, "--screenshot", "s.jpg"}), 2, "must end in .png");
    expect_one_sentence(view({kFilm, "--window-movie", "s.tiff"}), 2, "must end in .mkv or .mp4");
    expect_one_sentence(view({kFilm, "--screenshot", "missing/s.png"}), 1, "missing/s.png");
    expect_one_sentence(view({kFilm, "--window-movie", "missing/m.mkv"}), 1, "missing/m.mkv");
    expect_one_sentence(view({kFilm, "--screenshot", "s.png", "--view", "width=100000"}), 2, "width");
    for (const char* option : {"--offscreen", "--screenshot=s.png", "--window-movie=m.mkv"})
        expect_one_sentence(run_program({"run", kFilm, "--frames", "2", option}, folder_.path().string()), 2,
                            "belongs to specklescope view");
    expect_one_sentence(view({"missing.tiff", "--screenshot", "s.png"}), 1, "missing.tiff");
    write_text(folder_ / "stranger.toml", "[program]\nscreenshot = \"s.png\"\n");
    expect_one_sentence(view({kFilm, "--config", "stranger.toml"}), 2, "stranger.toml, line 2");
    EXPECT_EQ(names_in(folder_.path().string()), std::vector<std::string>{"stranger.toml"});
}

TEST_F(Offscreen, AFullDiskEndsTheMovieWithASentenceAndOne) {
    const std::string disk = folder_ / "disk";
    std::filesystem::create_directory(disk);
    const std::string mount = "mount -t tmpfs -o size=64k none '" + disk + "'";
    if (run_child({"unshare", "-rm", "sh", "-c", mount}, folder_.path().string()).status != 0)
        GTEST_SKIP() << "no small disk can be mounted here without rights";
    std::string line = mount + " && exec";
    for (const std::string& word :
         words({kFilm, "--frames", "60", "--window-movie", disk + "/m.mkv", "--screenshot", "s.png"}))
        line += " '" + word + "'";
    const ChildResult result = run_child({"unshare", "-rm", "sh", "-c", line}, folder_.path().string());
    EXPECT_EQ(result.status, 1) << result.all();
    EXPECT_NE(result.err.find("ree some space"), std::string::npos) << result.all();
    const auto [drawn, written, dropped] = said_of_movie(result);
    EXPECT_EQ(drawn, written + dropped);
    EXPECT_GT(dropped, 0);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "s.png")) << "the picture has a disk of its own";
}

/// A socket in place of a display server that counts connections.
TEST_F(Offscreen, TheDisplayIsLeftAlone) {
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ASSERT_GE(server, 0);
    const std::string display = std::to_string(60000 + ::getpid() % 5000);
    const std::string name = "/tmp/.X11-unix/X" + display;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path + 1); // the abstract socket, which clients try first
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), length), 0);
    ASSERT_EQ(::listen(server, 8), 0);
    const ChildResult result =
        view({kFilm, "--frames", "2", "--screenshot", "s.png"}, {"DISPLAY=:" + display});
    EXPECT_EQ(result.status, 0) << result.all();
    EXPECT_LT(::accept4(server, nullptr, nullptr, SOCK_CLOEXEC), 0) << "it spoke to the display";
    ::close(server);
}

struct Held {
    std::size_t descriptors = 0;
    double resident_mib = 0;
};

Held held() {
    Held now;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++now.descriptors;
    std::ifstream status("/proc/self/statm");
    double all = 0, resident = 0;
    status >> all >> resident;
    now.resident_mib = resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
    return now;
}

/// A window of 640 by 480 pixels has more than a MiB of pixels, and fonts: a leak would be visible.
TEST(OffscreenWindow, FiftyOfThemOneAfterAnotherLeaveNothingBehind) {
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1); // NOLINT(concurrency-mt-unsafe): no other thread reads it
    ViewSettings view;
    view.width = 640;
    view.height = 480;
    const auto once = [&view] {
        Window window(view, true);
        for (int i = 0; i < 2; ++i) {
            window.begin_frame();
            ImGui::Begin("test");
            ImGui::TextUnformatted("text");
            ImGui::End();
            window.end_frame([](void*) {}, nullptr);
        }
    };
    for (int i = 0; i < 10; ++i)
        once();
    const Held before = held();
    for (int i = 0; i < 50; ++i)
        once();
    const Held after = held();
    EXPECT_EQ(after.descriptors, before.descriptors);
    EXPECT_LT(after.resident_mib - before.resident_mib, 25.0) << "more than half a MiB for each";
    RecordProperty("resident_mib", std::to_string(after.resident_mib - before.resident_mib));
}

TEST(OffscreenWindow, TheNextFrameIsDueWithinARefreshOfTheLast) {
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1); // NOLINT(concurrency-mt-unsafe): no other thread reads it
    ViewSettings view;
    view.width = 640;
    view.height = 480;
    Window window(view, true);
    const std::chrono::microseconds part(std::lround(0.9e6 / window.refresh_rate()));
    for (int i = 0; i < 5; ++i) {
        const auto before = SteadyClock::now();
        window.start_work();
        window.begin_frame();
        window.end_frame([](void*) {}, nullptr);
        glFinish();
        const auto due = window.due();
        constexpr std::chrono::microseconds kRounding(1);
        EXPECT_GE(due, before + part - kRounding);
        EXPECT_LE(due, SteadyClock::now() + part + kRounding);
    }
}

class OffscreenAndWindow : public ViewerTest {};

/// Drawn by the same program on the same CPU, all is equal except the status bar with its measured rates and
/// latency.
TEST_F(OffscreenAndWindow, TheyShowTheSamePixels) {
    constexpr int kStatus = 34; ///< px of the bar at the bottom
    write_text(folder_ / "regions.json", R"({"regions":[
{"name":"artery","shape":"rectangle","points":[[30,30],[60,70]]},
{"name":"tissue","shape":"ellipse","points":[[100,10],[140,45]]}]})");
    const std::vector<std::string> scene =
        with({kFilm, "--frames", "24", "--no-remember", "--regions", folder_ / "regions.json", "--view",
              "automatic=false", "--view", "low=100", "--view", "high=2500"});
    std::vector<std::string> in_window = scene;
    in_window.insert(in_window.end(), {"--screenshot", "window.png"});
    Viewer viewer(*desktop_, folder_, in_window);
    desktop_->events({"mousemove", "1279", "799"}); // over no item
    ASSERT_TRUE(viewer.until([&] { return viewer.number("sequence") == 23; })) << viewer.log();
    const Rect plot = viewer.widget("traces.plot"), canvas = viewer.widget("canvas");
    Screenshot screen = shot();
    ASSERT_TRUE(viewer.until([&] { // the first messages have disappeared
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        const Screenshot last = std::exchange(screen, shot());
        const std::size_t most = screen.pixels.size() * (800 - kStatus) / 800;
        return last.pixels.compare(0, most, screen.pixels, 0, most) == 0;
    }));
    viewer.signal(SIGINT);
    EXPECT_EQ(viewer.wait(), 0) << viewer.log();

    std::vector<std::string> argv = {"env",
                                     "LIBGL_ALWAYS_SOFTWARE=1",
                                     test::program_path(),
                                     "view",
                                     "--offscreen",
                                     "--screenshot",
                                     "offscreen.png"};
    argv.insert(argv.end(), scene.begin(), scene.end());
    const ChildResult result = run_child(argv, folder_.path().string());
    ASSERT_EQ(result.status, 0) << result.all();
    const Picture window = read_picture(folder_ / "window.png");
    const Picture offscreen = read_picture(folder_ / "offscreen.png");
    ASSERT_EQ(window.width, 1280);
    ASSERT_EQ(offscreen.width, 1280);
    ASSERT_EQ(offscreen.height, window.height);
    int other = 0, other_screen = 0;
    for (int y = 0; y < window.height - kStatus; ++y)
        for (int x = 0; x < window.width; ++x) {
            other += offscreen.at(x, y) != window.at(x, y) ? 1 : 0;
            other_screen += screen.at(x, y) != window.at(x, y) ? 1 : 0;
        }
    EXPECT_EQ(other, 0) << "pixels differ offscreen";
    EXPECT_EQ(other_screen, 0) << "pixels of the screenshot are not those on the screen";
    const auto colours = [&](const Rect& area) {
        std::set<std::array<int, 3>> seen;
        for (int y = static_cast<int>(area.y); y < static_cast<int>(area.y + area.height); ++y)
            for (int x = static_cast<int>(area.x); x < static_cast<int>(area.x + area.width); ++x)
                seen.insert(offscreen.at(x, y));
        return seen;
    };
    EXPECT_GT(colours(canvas).size(), 100U) << "a map in colours";
    for (const std::array<int, 3>& region : {std::array{238, 136, 102}, std::array{153, 221, 255}}) {
        int in_plot = 0, in_picture = 0;
        const auto near = [&](const std::array<int, 3>& colour) {
            return std::abs(colour[0] - region[0]) + std::abs(colour[1] - region[1]) +
                       std::abs(colour[2] - region[2]) <
                   40;
        };
        for (const auto& colour : colours(plot))
            in_plot += near(colour) ? 1 : 0;
        for (const auto& colour : colours(canvas))
            in_picture += near(colour) ? 1 : 0;
        EXPECT_GT(in_plot, 0) << "no trace in the colour of its region";
        EXPECT_GT(in_picture, 0) << "no outline in the colour of its region";
    }
}

#endif

} // namespace specklescope::offscreen_test
