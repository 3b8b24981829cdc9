// Runs the real program as a child process, like a user.
#pragma once

#include "tests/support/folder.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <pty.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace specklescope {

struct ChildResult {
    int status = -1; ///< exit status; 128 + signal if one ended it
    std::string out, err;
    std::string all() const {
        return "status " + std::to_string(status) + "\n--- out\n" + out + "--- err\n" + err;
    }
};

inline std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A running program; its output is collected.
class Child {
public:
    /// Starts argv[0] in `folder`, without a display and with its own configuration. `terminal`: standard
    /// error is a terminal of 80 columns.
    Child(std::vector<std::string> argv, const std::string& folder, bool terminal = false) {
        int out[2], err[2];
        const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
        if (pipe(out) != 0 ||
            (terminal ? openpty(&err[0], &err[1], nullptr, nullptr, &size) : pipe(err)) != 0)
            throw std::runtime_error("no pipe");
        // Allocated before the fork: after it no memory may be allocated, since other threads may hold locks.
        std::vector<std::string> variables = environment(folder);
        const std::vector<char*> words = pointers_to(argv), known = pointers_to(variables);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(out[1], STDOUT_FILENO);
            dup2(err[1], STDERR_FILENO);
            for (const int descriptor : {out[0], out[1], err[0], err[1]})
                close(descriptor);
            if (chdir(folder.c_str()) == 0)
                execvpe(words[0], words.data(), known.data());
            _exit(127);
        }
        close(out[1]);
        close(err[1]);
        out_ = out[0];
        err_ = err[0];
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        close(out_);
        close(err_);
    }

    /// Collects output until `enough` returns true, the program ends, or the time is over (false).
    bool until(const std::function<bool(const ChildResult&)>& enough, std::chrono::seconds limit) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!enough(result_) && (out_open_ || err_open_)) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            pollfd polls[2] = {{out_open_ ? out_ : -1, POLLIN, 0}, {err_open_ ? err_ : -1, POLLIN, 0}};
            poll(polls, 2, 100);
            if (polls[0].revents != 0)
                out_open_ = take(out_, result_.out);
            if (polls[1].revents != 0)
                err_open_ = take(err_, result_.err);
        }
        return true;
    }
    const ChildResult& so_far() const { return result_; }
    void signal(int number) const { kill(pid_, number); }
    /// Waits for the end; status stays −1 on a timeout.
    ChildResult finish(std::chrono::seconds limit = std::chrono::seconds(120)) {
        if (until([](const ChildResult&) { return false; }, limit)) {
            int status = 0;
            waitpid(pid_, &status, 0);
            result_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            pid_ = -1;
        }
        return result_;
    }

private:
    /// The environment of this process, without a display and with its own configuration.
    static std::vector<std::string> environment(const std::string& folder) {
        std::vector<std::string> all = {"XDG_CONFIG_HOME=" + folder + "/.config",
                                        "XDG_CACHE_HOME=" + folder + "/.cache"};
        for (char** one = environ; *one; ++one) {
            const std::string entry = *one;
            const std::string name = entry.substr(0, entry.find('='));
            if (name != "DISPLAY" && name != "WAYLAND_DISPLAY" && name != "XDG_CONFIG_HOME" &&
                name != "XDG_CACHE_HOME")
                all.push_back(entry);
        }
        return all;
    }
    /// Arguments for exec; valid while `texts` is unchanged.
    static std::vector<char*> pointers_to(std::vector<std::string>& texts) {
        std::vector<char*> all;
        for (std::string& text : texts)
            all.push_back(text.data());
        all.push_back(nullptr);
        return all;
    }
    static bool take(int descriptor, std::string& text) {
        char buffer[4096];
        const ssize_t count = read(descriptor, buffer, sizeof buffer);
        if (count > 0)
            text.append(buffer, static_cast<std::size_t>(count));
        return count > 0;
    }
    pid_t pid_ = -1;
    int out_ = -1, err_ = -1;
    bool out_open_ = true, err_open_ = true;
    ChildResult result_;
};

inline ChildResult run_child(std::vector<std::string> argv, const std::string& folder) {
    return Child(std::move(argv), folder).finish();
}

inline ChildResult run_program(std::vector<std::string> arguments, const std::string& folder) {
    arguments.insert(arguments.begin(), test::program_path());
    return run_child(std::move(arguments), folder);
}

/// Names in a folder without hidden ones, sorted.
inline std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (const std::string name = entry.path().filename().string(); name[0] != '.')
            names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace specklescope
