// A virtual screen with the real window, driven by real mouse and keyboard events.
#pragma once

#include "tests/support/child.hpp"
#include "tests/support/places.hpp"
#include "ui/canvas/probe.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <thread>

namespace specklescope {

/// Image of the screen, RGB.
struct Screenshot {
    int width = 0, height = 0;
    std::string pixels;
    std::array<int, 3> at(int x, int y) const {
        const std::size_t i =
            3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
        return {static_cast<unsigned char>(pixels.at(i)), static_cast<unsigned char>(pixels.at(i + 1)),
                static_cast<unsigned char>(pixels.at(i + 2))};
    }
};

inline bool have_tool(const std::string& name) {
    const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (access((folder + "/" + name).c_str(), X_OK) == 0)
            return true;
    return false;
}

/// Forks and runs argv with these variables; the descriptor `keep` stays open in the child. Output goes to
/// `log`.
inline pid_t start_process(std::vector<std::string> argv,
                           const std::vector<std::pair<std::string, std::string>>& variables,
                           const std::string& folder, const std::string& log) {
    std::vector<char*> words;
    for (std::string& word : argv)
        words.push_back(word.data());
    words.push_back(nullptr);
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1); // NOLINT(concurrency-mt-unsafe): the child is alone
    if (!folder.empty() && chdir(folder.c_str()) != 0)
        _exit(126);
    if (FILE* out = std::fopen(log.c_str(), "ae")) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(out), STDERR_FILENO);
    }
    execvp(words[0], words.data());
    _exit(127);
}

/// Exit status; nullopt while it runs.
inline int wait_process(pid_t pid, std::chrono::seconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Xvfb on a separate display. The test chooses the number: with -displayfd the server removes the sockets
/// of displays that are in use. -noreset: it does not restart when the last client disconnects.
class Desktop {
public:
    explicit Desktop(const std::string& log, const std::string& size = "1280x800") : log_(log) {
        constexpr int kTries = 50;
        const int first = 100 + static_cast<int>(getpid() % 50000);
        for (int number = first; number < first + kTries && display_.empty(); ++number) {
            int ready[2];
            if (pipe(ready) != 0)
                throw std::runtime_error("no pipe");
            server_ = start_process({"Xvfb", ":" + std::to_string(number), "-r", "-displayfd",
                                     std::to_string(ready[1]), "-screen", "0", size + "x24", "-nolisten",
                                     "tcp", "-noreset"},
                                    {}, "", log);
            close(ready[1]);
            char letter = 0; // to the end of the line: the server ends if nothing reads it
            while (letter != '\n' && read(ready[0], &letter, 1) == 1)
                ;
            close(ready[0]);
            if (letter == '\n')
                display_ = ":" + std::to_string(number);
            else
                wait_process(server_, std::chrono::seconds(10));
        }
        if (display_.empty())
            server_ = -1;
    }
    Desktop(const Desktop&) = delete;
    Desktop& operator=(const Desktop&) = delete;
    ~Desktop() {
        if (server_ <= 0)
            return;
        kill(server_, SIGTERM);
        wait_process(server_, std::chrono::seconds(10));
    }
    const std::string& display() const { return display_; } ///< empty: it did not start
    /// Ends the server, as if it had crashed.
    void vanish() {
        kill(server_, SIGKILL);
        wait_process(server_, std::chrono::seconds(10));
        server_ = -1;
    }

    /// Runs xdotool with these arguments and waits for it.
    void events(const std::vector<std::string>& words) const {
        std::vector<std::string> argv = {"xdotool"};
        argv.insert(argv.end(), words.begin(), words.end());
        ASSERT_EQ(
            wait_process(start_process(argv, {{"DISPLAY", display_}}, "", log_), std::chrono::seconds(60)),
            0);
    }
    Screenshot shot(const std::string& file) const {
        const pid_t pid = start_process({"import", "-window", "root", "-depth", "8", "ppm:" + file},
                                        {{"DISPLAY", display_}}, "", log_);
        EXPECT_EQ(wait_process(pid, std::chrono::seconds(60)), 0);
        std::ifstream in(file, std::ios::binary);
        Screenshot shot;
        std::string magic;
        int depth = 0;
        in >> magic >> shot.width >> shot.height >> depth;
        in.get();
        shot.pixels.assign(std::istreambuf_iterator<char>(in), {});
        EXPECT_EQ(magic, "P6");
        EXPECT_EQ(shot.pixels.size(),
                  static_cast<std::size_t>(shot.width) * static_cast<std::size_t>(shot.height) * 3);
        return shot;
    }

private:
    std::string log_, display_;
    pid_t server_ = -1;
};

/// The program's window; its state comes from the probe file.
class Viewer {
public:
    /// `argv`: words before those of the program, which run it.
    Viewer(const Desktop& desktop, const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           std::vector<std::string> argv = {})
        : desktop_(desktop), probe_(folder / "probe.json"), log_(folder / "log.txt") {
        std::filesystem::remove(probe_);
        argv.push_back(test::program_path());
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        pid_ = start_process(argv,
                             {{"DISPLAY", desktop.display()},
                              {"XDG_CONFIG_HOME", folder / "config"},
                              {"SPECKLESCOPE_UI_PROBE", probe_},
                              {"LIBGL_ALWAYS_SOFTWARE", "1"}},
                             folder.path().string(), log_);
    }
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    ~Viewer() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    nlohmann::json probe() const { return nlohmann::json::parse(read_text(probe_), nullptr, false); }
    double number(const std::string& name) const {
        const auto json = probe();
        const auto& value =
            json.is_object() && json["values"].contains(name) ? json["values"][name] : nlohmann::json();
        return value.is_number() ? value.get<double>() : NAN;
    }
    std::string text(const std::string& name) const {
        const auto json = probe();
        return json.is_object() && json["values"].contains(name) ? json["values"][name].get<std::string>()
                                                                 : "";
    }
    bool has_widget(const std::string& name) const {
        const auto json = probe();
        return json.is_object() && json["widgets"].contains(name);
    }
    /// True if the bar has this alarm. A loaded machine may raise others too, such as frames_dropped.
    bool raised(const std::string& alarm) const { return has_word(text("alarms"), alarm); }
    bool acknowledged(const std::string& alarm) const { return has_word(text("alarms.acknowledged"), alarm); }
    static bool has_word(const std::string& words, const std::string& word) {
        return (" " + words + " ").find(" " + word + " ") != std::string::npos;
    }
    /// Waits until the condition is true; false after a minute and a half.
    bool until(const std::function<bool()>& so, std::chrono::seconds most = std::chrono::seconds(90)) const {
        const auto end = std::chrono::steady_clock::now() + most;
        while (!so()) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return true;
    }
    /// True if a picture is displayed and its automatic range is stable.
    bool shows_picture() const {
        return until([this] {
            return number("displayed") > 0 && number("high") > number("low") && !text("chain").empty();
        });
    }
    Rect widget(const std::string& name) const {
        const auto json = probe();
        if (!json.is_object() || !json["widgets"].contains(name)) {
            ADD_FAILURE() << "no control named " << name << " on the screen\n" << read_text(log_);
            return {};
        }
        const auto& r = json["widgets"][name];
        return {r[0], r[1], r[2], r[3]};
    }
    /// Waits until the window has drawn twice. A key without an action wakes it, since an idle one seldom
    /// draws.
    void drawn() const {
        const auto frame = [this] {
            const auto json = probe();
            return json.is_object() ? json["frame"].get<double>() : NAN;
        };
        const double from = frame();
        key("Pause");
        (void)until([&] { return frame() >= from + 2; }, std::chrono::seconds(30));
    }
    /// Moves the mouse, and waits until the window has drawn with it there.
    void move(double x, double y) const {
        const double to_x = std::round(x), to_y = std::round(y);
        desktop_.events({"mousemove", std::to_string(std::lround(x)), std::to_string(std::lround(y))});
        (void)until([&] { return number("mouse.x") == to_x && number("mouse.y") == to_y; },
                    std::chrono::seconds(5)); // it may lie outside the window
        drawn();
    }
    void press() const { button("mousedown", 1); }
    void release() const { button("mouseup", 0); }
    /// Presses the button at the first point of the screen and releases it at the last; the window sees each
    /// point.
    void drag(const std::vector<std::pair<double, double>>& path) const {
        move(path.front().first, path.front().second);
        press();
        for (std::size_t i = 1; i < path.size(); ++i)
            move(path[i].first, path[i].second);
        release();
    }
    void drag(const std::string& name, double from, double to) const {
        const Rect r = rest(name);
        const auto at = [&](double part) {
            return std::pair(r.x + part * (r.width - 1), r.y + r.height / 2);
        };
        drag({at(from), at((from + to) / 2), at(to)});
    }
    /// Final position of a control, which may move during layout.
    Rect rest(const std::string& name) const {
        Rect r = widget(name);
        for (int tries = 0; tries < 10; ++tries) {
            drawn();
            const Rect before = std::exchange(r, widget(name));
            if (r.x == before.x && r.y == before.y && r.width == before.width && r.height == before.height)
                return r;
        }
        ADD_FAILURE() << name << " does not come to rest";
        return r;
    }
    /// Moves the mouse to the middle of a control.
    void point_at(const std::string& name) const {
        const Rect r = rest(name);
        move(r.x + r.width / 2, r.y + r.height / 2);
    }
    void click(const std::string& name) const {
        point_at(name);
        press();
        release();
    }
    /// Turns the wheel at the initial position of the control `over` until `name` is above the status bar.
    void scroll_to(const std::string& name, const std::string& over) const {
        constexpr double kLowest = 700;
        const auto bottom = [&] {
            const Rect r = widget(name);
            return r.y + r.height;
        };
        const Rect r = rest(over);
        (void)rest(name); // the program itself may be scrolling to it
        for (int turn = 0; turn < 20 && bottom() > kLowest; ++turn) {
            const double before = bottom();
            move(r.x + r.width / 2, r.y + r.height / 2);
            desktop_.events({"click", "5"});
            ASSERT_TRUE(until([&] { return bottom() < before; })) << name << " does not move";
        }
    }
    void double_click(const std::string& name) const {
        point_at(name);
        double_click();
    }
    /// At the mouse position. Sends both clicks together: the window measures the time between them with its
    /// own clock.
    void double_click() const {
        freeze(true);
        desktop_.events({"click", "--repeat", "2", "--delay", "60", "1"});
        freeze(false);
    }
    void events(const std::vector<std::string>& words) const { desktop_.events(words); }
    /// Stops the program, as during a long drawing; input in the meantime arrives all at once.
    void freeze(bool on) const { kill(pid_, on ? SIGSTOP : SIGCONT); }
    void signal(int number) const { kill(pid_, number); }
    /// Exit status, after the program has ended by itself.
    int wait() { return wait_process(std::exchange(pid_, -1), std::chrono::seconds(90)); }
    void key(const std::string& name) const { desktop_.events({"key", name}); }
    /// Presses Ctrl+Q, and Enter if the window asks because a recording runs; returns the exit status.
    int quit() {
        key("ctrl+q");
        siginfo_t ended{};
        (void)until([&] {
            (void)waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
            return ended.si_pid == pid_ || has_widget("leave.finish");
        });
        if (ended.si_pid != pid_)
            key("Return");
        return wait();
    }
    std::string log() const { return read_text(log_); }
    /// Its folder in /proc.
    std::filesystem::path process() const { return "/proc/" + std::to_string(pid_); }

private:
    void button(const std::string& event, double down) const {
        desktop_.events({event, "1"});
        (void)until([&] { return number("mouse.down") == down; });
        drawn();
    }

    const Desktop& desktop_;
    std::string probe_, log_;
    pid_t pid_ = -1;
};

} // namespace specklescope
