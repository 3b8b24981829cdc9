// The window under a user's hand: each row starts the program's window, sends it keys or the mouse, and reads
// from ui/canvas/hand.hpp when each frame was on the screen.
#include "bench/report.hpp"
#include "bench/sections.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace specklescope::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

/// One frame on the screen: a line of ui/canvas/hand.hpp.
struct Drawn {
    double at_s = 0, events = 0, sequence = 0, version = 0, uploads = 0, stops = 0, low = 0, high = 0;
    std::vector<int> row; ///< pixels of the frame, after an event `row`
};

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

struct Size {
    int width, height;
    std::string text() const { return std::to_string(width) + "×" + std::to_string(height); }
};

class OpenWindow {
public:
    OpenWindow(std::vector<std::string> arguments, Size window, bool offscreen);
    OpenWindow(const OpenWindow&) = delete;
    OpenWindow& operator=(const OpenWindow&) = delete;
    ~OpenWindow() {
        if (pipe_ >= 0)
            stop();
    }

    void settle(); ///< waits for the first frames
    const std::vector<Drawn>& frames();
    const std::string& renderer() const { return renderer_; }
    void send(const std::string& event) const;
    /// Waits for `so`; throws RunError with the program's message if it does not come true.
    void wait(const std::function<bool()>& so) const;
    /// ms from a key to the first frame with another value.
    double press(char key, double Drawn::*value);
    void pause() {
        send("key 32");
        std::this_thread::sleep_for(1s);
    }
    std::array<double, 4> place_of(const std::string& control) const; ///< x, y, width, height
    Json probe_with(const char* part, const std::string& name) const; ///< waits until the probe has it
    nlohmann::json end();                                             ///< ends the program; its statistics
    double processor_s() const;
    double mb(const std::string& key) const; ///< of /proc/PID/status

private:
    void stop();
    std::string of_process(const char* file) const { return "/proc/" + std::to_string(child_) + "/" + file; }
    Scratch scratch_;
    std::string hand_ = scratch_ / "hand", probe_ = scratch_ / "probe.json", log_ = scratch_ / "log.txt",
                stats_ = scratch_ / "stats.json";
    int pipe_ = -1;
    pid_t child_ = 0;
    std::ifstream file_;
    std::string renderer_, line_;
    std::vector<Drawn> frames_;
};

OpenWindow::OpenWindow(std::vector<std::string> arguments, Size window, bool offscreen) {
    if (mkfifo(hand_.c_str(), 0600) != 0)
        throw RunError("No pipe can be made in " + scratch_.path().string() +
                       "; set TMPDIR to another folder.");
    pipe_ = open(hand_.c_str(), O_RDWR | O_CLOEXEC);
    arguments.insert(arguments.begin(), "view");
    arguments.insert(arguments.end(),
                     {"--no-remember", "--view", "width=" + std::to_string(window.width), "--view",
                      "height=" + std::to_string(window.height), "--view", "theme=dark", "--stats", stats_});
    if (offscreen)
        arguments.emplace_back("--offscreen");
    child_ = start_program(std::move(arguments), log_,
                           {"SPECKLESCOPE_UI_HAND=" + hand_, "SPECKLESCOPE_UI_PROBE=" + probe_});
}

void OpenWindow::settle() {
    constexpr std::size_t kSettled = 10; // images, fonts and shaders are there
    wait([&] { return frames().size() >= kSettled; });
    std::this_thread::sleep_for(1s);
}

/// Ends the program.
void OpenWindow::stop() {
    close(std::exchange(pipe_, -1)); // the program waits for this
    if (child_ > 0) {
        kill(child_, SIGINT);
        waitpid(std::exchange(child_, 0), nullptr, 0);
    }
}

nlohmann::json OpenWindow::end() {
    stop();
    std::ifstream file(stats_);
    return nlohmann::json::parse(file);
}

const std::vector<Drawn>& OpenWindow::frames() {
    if (!file_.is_open())
        file_.open(hand_ + ".frames");
    file_.clear();
    for (char c = 0; file_.get(c);) {
        if (c != '\n') {
            line_ += c;
            continue;
        }
        const std::string line = std::exchange(line_, "");
        if (renderer_.empty()) {
            renderer_ = line;
            continue;
        }
        Drawn drawn;
        std::istringstream words(line);
        words >> drawn.at_s >> drawn.events >> drawn.sequence >> drawn.version >> drawn.uploads >>
            drawn.stops >> drawn.low >> drawn.high;
        for (int value = 0; words >> value;)
            drawn.row.push_back(value);
        frames_.push_back(std::move(drawn));
    }
    return frames_;
}

void OpenWindow::send(const std::string& event) const {
    const std::string line = event + "\n";
    if (write(pipe_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw RunError("The window takes no input.");
}

void OpenWindow::wait(const std::function<bool()>& so) const {
    constexpr double kLongest = 60;
    for (const double end = now_s() + kLongest; !so(); std::this_thread::sleep_for(1ms)) {
        siginfo_t ended{};
        waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid == child_ || now_s() > end) {
            std::ifstream log(log_);
            log.ignore(std::string_view("specklescope: ").size());
            std::string message;
            std::getline(log, message);
            throw RunError(message.empty() ? "It does not answer." : message);
        }
    }
}

double OpenWindow::press(char key, double Drawn::*value) {
    std::size_t next = frames().size();
    const double before = frames_.back().*value, begin = now_s();
    send("character " + std::to_string(static_cast<int>(key)));
    wait([&] {
        while (next < frames().size() && (frames_[next].at_s < begin || frames_[next].*value == before))
            ++next;
        return next < frames_.size();
    });
    return (frames_[next].at_s - begin) * 1e3;
}

Json OpenWindow::probe_with(const char* part, const std::string& name) const {
    Json probe;
    wait([&] {
        std::ifstream file(probe_);
        probe = Json::parse(file, nullptr, false);
        return probe.is_object() && probe.at(part).contains(name);
    });
    return probe.at(part);
}

std::array<double, 4> OpenWindow::place_of(const std::string& control) const {
    return probe_with("widgets", control).at(control).get<std::array<double, 4>>();
}

double OpenWindow::processor_s() const {
    std::ifstream file(of_process("stat"));
    std::string text;
    std::getline(file, text);
    std::istringstream words(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i)
        words >> skipped;
    double user = 0, system = 0;
    words >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OpenWindow::mb(const std::string& key) const {
    std::ifstream in(of_process("status"));
    for (std::string word; in >> word;)
        if (double kb = 0; word == key + ":" && in >> kb)
            return kb / 1024;
    return 0;
}

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(q * static_cast<double>(values.size())))];
}

struct Keys {
    const char* name;
    std::array<char, 2> keys; ///< in turn
    double Drawn::*value;
};

Json press_keys(OpenWindow& window, const Keys& keys, int presses) {
    window.press(keys.keys[1], keys.value); // also ends an automatic range
    std::vector<double> times;
    for (int i = 0; i < presses; ++i) {
        // Not in step with the frames.
        std::this_thread::sleep_for(150ms + std::chrono::milliseconds(i * 37 % 100));
        times.push_back(window.press(keys.keys.at(static_cast<std::size_t>(i % 2)), keys.value));
    }
    return {{"median_ms", quantile(times, 0.5)}, {"p95_ms", quantile(times, 0.95)}};
}

/// Frames a second on the screen while the mouse moves the slider.
Json move_slider(OpenWindow& window, double seconds) {
    const std::array<double, 4> slider = window.place_of("speckle.radius");
    const auto move = [&](double part) {
        window.send("move " + std::to_string(slider[0] + part * slider[2]) + " " +
                    std::to_string(slider[1] + slider[3] / 2));
        std::this_thread::sleep_for(8ms); // as often as a mouse
    };
    move(0.2);
    std::this_thread::sleep_for(300ms);
    window.send("button 1");
    std::this_thread::sleep_for(300ms);
    const std::size_t first = window.frames().size();
    const double begin = now_s();
    for (int i = 0; now_s() < begin + seconds; ++i)
        move(0.2 + 0.006 * std::abs(i % 200 - 100));
    const double drawn = static_cast<double>(window.frames().size() - first);
    const double rate = drawn / (now_s() - begin);
    window.send("button 0");
    return {{"drawn_per_s", rate}};
}

/// Processor time in % of a core, and memory; also the part that is the code of libraries and drivers.
Json at_rest(OpenWindow& window, double seconds) {
    std::this_thread::sleep_for(4s); // messages and banners have disappeared
    const double used = window.processor_s(), begin = now_s();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return {{"cpu_percent", 100 * (window.processor_s() - used) / (now_s() - begin)},
            {"rss_mb", window.mb("VmRSS")},
            {"files_mb", window.mb("RssFile")}};
}

/// Each frame shows its number in 12 pairs of columns: bright and dark for 1, dark and bright for 0.
constexpr int kBits = 12;
constexpr Size kNumbered = {640, 480};
constexpr int kDark = 40, kBright = 200; // full scale would be marked as saturated

std::vector<std::byte> numbered_frame(std::size_t number) {
    std::vector<std::byte> pixels(static_cast<std::size_t>(kNumbered.width * kNumbered.height));
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const int column = static_cast<int>(i) % kNumbered.width * 2 * kBits / kNumbered.width;
        const bool bright = ((number >> (column / 2)) + static_cast<std::size_t>(column)) % 2 != 0;
        pixels[i] = std::byte(bright ? kBright : kDark);
    }
    return pixels;
}

/// Nothing if the row does not show a number.
std::optional<std::size_t> number_in(const std::vector<int>& row) {
    std::size_t number = 0;
    for (std::size_t bit = 0; bit < kBits; ++bit) {
        const int step = row.size() == 2 * kBits ? row[2 * bit] - row[2 * bit + 1] : 0;
        if (std::abs(step) < (kBright - kDark) / 2)
            return std::nullopt;
        number |= std::size_t{step > 0} << bit;
    }
    return number;
}

/// Writes numbered frames to a pipe, as a camera would deliver them.
class NumberedFrames {
public:
    NumberedFrames(const std::string& path, double rate);
    NumberedFrames(const NumberedFrames&) = delete;
    NumberedFrames& operator=(const NumberedFrames&) = delete;
    ~NumberedFrames() {
        thread_ = {};
        close(pipe_);
    }
    /// Time at which the frame began to enter the pipe.
    double written_s(std::size_t number) {
        const std::scoped_lock lock(mutex_);
        return written_.at(number);
    }

private:
    bool write_whole(const std::vector<std::byte>& pixels, const std::stop_token& stop) const;
    int pipe_ = -1;
    std::mutex mutex_;
    std::vector<double> written_; ///< guarded by mutex_
    std::jthread thread_;
};

NumberedFrames::NumberedFrames(const std::string& path, double rate) {
    if (mkfifo(path.c_str(), 0600) != 0)
        throw RunError("The pipe " + path + " cannot be made. Set TMPDIR to another folder.");
    pipe_ = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    thread_ = std::jthread([this, rate](const std::stop_token& stop) {
        const auto period =
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate));
        auto due = Clock::now();
        for (std::size_t number = 0; !stop.stop_requested(); ++number) {
            const std::vector<std::byte> pixels = numbered_frame(number);
            due = std::max(due + period, Clock::now());
            std::this_thread::sleep_until(due);
            {
                const std::scoped_lock lock(mutex_);
                written_.push_back(now_s());
            }
            if (!write_whole(pixels, stop))
                return;
        }
    });
}

bool NumberedFrames::write_whole(const std::vector<std::byte>& pixels, const std::stop_token& stop) const {
    for (std::size_t done = 0; done < pixels.size() && !stop.stop_requested();) {
        pollfd room{.fd = pipe_, .events = POLLOUT, .revents = 0};
        poll(&room, 1, 100);
        if (const ssize_t wrote = write(pipe_, pixels.data() + done, pixels.size() - done); wrote > 0)
            done += static_cast<std::size_t>(wrote);
        else if (errno != EAGAIN)
            return false;
    }
    return true;
}

} // namespace

Json run_screen(bool offscreen) {
    constexpr Size kWindow = {1440, 900};
    constexpr double kSeconds = 10;
    Json rows = Json::array();
    for (const int rate : {60, 120, 1000}) {
        const Scratch scratch;
        const std::string pipe = scratch / "frames";
        NumberedFrames frames(pipe, rate);
        OpenWindow window({"raw:" + pipe + "?width=" + std::to_string(kNumbered.width) +
                               "&height=" + std::to_string(kNumbered.height) + "&format=gray8&rate=100000",
                           "--view", "layout=raw"},
                          kWindow, offscreen);
        window.settle();
        const Json at = window.probe_with("values", "image.scale");
        const auto whole = [](double value) { return std::to_string(std::lround(value)); };
        const double scale = at.at("image.scale");
        window.send("row " + whole(at.at("image.x")) + " " +
                    whole(at.at("image.y").get<double>() + scale * kNumbered.height / 2) + " " +
                    whole(scale * kNumbered.width) + " " + std::to_string(2 * kBits));
        const std::size_t first = window.frames().size();
        std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
        std::vector<double> delays;
        int other = 0;
        const std::vector<Drawn>& drawn = window.frames();
        for (std::size_t i = first; i < drawn.size(); ++i) {
            const auto sequence = static_cast<std::size_t>(drawn[i].sequence);
            if (drawn[i].row.empty() || drawn[i].sequence == drawn[i - 1].sequence)
                continue;
            if (number_in(drawn[i].row) == sequence % (1U << kBits))
                delays.push_back((drawn[i].at_s - frames.written_s(sequence)) * 1e3);
            else
                ++other;
        }
        if (delays.empty())
            throw RunError("No number of a frame can be read from the window.");
        const nlohmann::json stats = window.end();
        const nlohmann::json& inside = stats.at("to_screen_ms");
        rows.push_back({{"name", std::to_string(rate) + " frames/s"},
                        {"image", kNumbered.text()},
                        {"window", kWindow.text()},
                        {"drawn_by", window.renderer()},
                        {"read", delays.size()},
                        {"wrong", other},
                        {"median_ms", quantile(delays, 0.5)},
                        {"p95_ms", quantile(delays, 0.95)},
                        {"p99_ms", quantile(delays, 0.99)},
                        {"inside_median_ms", inside.at("median")},
                        {"inside_p95_ms", inside.at("p95")},
                        {"inside_p99_ms", inside.at("p99")}});
        std::fprintf(stderr, "screen: %d frames/s\n", rate);
    }
    return rows;
}

Json run_window(bool offscreen) {
    constexpr std::array<Keys, 3> kKeys = {{{"radius", {'>', '<'}, &Drawn::version},
                                            {"exposure", {']', '['}, &Drawn::stops},
                                            {"range", {'}', '{'}, &Drawn::high}}};
    struct Case {
        Size image, window;
    };
    constexpr std::array<Case, 2> kCases = {{{{640, 480}, {1440, 900}}, {{1280, 1024}, {1280, 1024}}}};
    constexpr int kPresses = 40;
    constexpr double kRest = 5, kMoves = 4; // s
    Json rows = Json::array();
    for (const auto& [image, size] : kCases) {
        const std::string scene = "synthetic:vessels?width=" + std::to_string(image.width) +
                                  "&height=" + std::to_string(image.height);
        const Scratch scratch;
        const std::string film = scratch / "film.tiff";
        run_program({"run", scene + "&live=false", "--frames", "20", "--record-raw", film});
        for (const bool live : {true, false}) {
            OpenWindow window(live ? std::vector<std::string>{scene + "&rate=30&live=true"}
                                   : std::vector<std::string>{film, "--rate", "2"},
                              size, offscreen);
            window.settle();
            if (!live)
                window.pause();
            const auto add = [&, &image = image, &size = size](const std::string& name, const Json& values) {
                Json row = {{"name", name + (live ? ", live" : ", paused film")},
                            {"image", image.text()},
                            {"window", size.text()},
                            {"drawn_by", window.renderer()}};
                row.update(values);
                std::fprintf(stderr, "window: %s, %s\n", row["name"].get<std::string>().c_str(),
                             row["image"].get<std::string>().c_str());
                rows.push_back(std::move(row));
            };
            add("at rest", at_rest(window, kRest));
            for (const Keys& keys : kKeys)
                add(keys.name, press_keys(window, keys, kPresses));
            add("slider", move_slider(window, kMoves));
        }
    }
    return rows;
}

} // namespace specklescope::bench
