#include "cli/progress.hpp"

#include "config/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace specklescope {

namespace {

std::size_t terminal_width() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

} // namespace

std::string progress_line(std::uint64_t done, std::uint64_t total, double rate, const std::string& note) {
    std::string text = std::to_string(done) + (total > 0 ? " of " + std::to_string(total) : "") + " frames";
    char part[64];
    std::snprintf(part, sizeof part, " · %.1f frames/s", rate);
    text += part;
    if (total > done && rate > 0) {
        const double left = std::min(std::ceil(static_cast<double>(total - done) / rate), 359999.0);
        const int seconds = static_cast<int>(left);
        if (seconds >= 3600)
            std::snprintf(part, sizeof part, " · %d:%02d:%02d left", seconds / 3600, seconds / 60 % 60,
                          seconds % 60);
        else
            std::snprintf(part, sizeof part, " · %d:%02d left", seconds / 60, seconds % 60);
        text += part;
    }
    return note.empty() ? text : text + " · " + note;
}

std::string progress_bar(std::uint64_t done, std::uint64_t total, double rate, std::size_t width,
                         const std::string& note) {
    std::string line = progress_line(done, total, rate, note);
    constexpr std::size_t kLeast = 10; // a shorter bar is useless
    if (total == 0 || columns(line) + 3 + kLeast > width)
        return line;
    const std::size_t length = std::min<std::size_t>(width - columns(line) - 3, 40);
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const auto full = static_cast<std::size_t>(part * static_cast<double>(length));
    return "[" + std::string(full, '#') + std::string(length - full, '-') + "] " + line;
}

Progress::Progress(std::uint64_t total, bool quiet)
    : total_(total), quiet_(quiet), terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::update(std::uint64_t done, double rate, const std::string& note) {
    const auto now = SteadyClock::now();
    if (quiet_ || now - last_ < std::chrono::milliseconds(terminal_ ? 100 : 2000))
        return;
    last_ = now;
    if (terminal_) {
        std::fprintf(stderr, "\r\033[K%s",
                     progress_bar(done, total_, rate, terminal_width() - 1, note).c_str());
        std::fflush(stderr);
        drawn_ = true;
    } else {
        std::printf("%s\n", progress_line(done, total_, rate, note).c_str());
        std::fflush(stdout);
    }
}

void Progress::preparing(std::string_view what, double part) {
    const auto now = SteadyClock::now();
    if (quiet_ || now - begin_ < std::chrono::milliseconds(500) ||
        (said_ && now - last_ < std::chrono::milliseconds(terminal_ ? 100 : 2000)))
        return;
    last_ = now;
    said_ = true;
    std::string text = one_line(what);
    if (part >= 0)
        text += " · " + std::to_string(static_cast<int>(std::min(1.0, part) * 100)) + " %";
    if (terminal_) {
        std::fprintf(stderr, "\r\033[K%s", text.c_str());
        drawn_ = true;
    } else {
        std::printf("%s\n", text.c_str());
    }
    std::fflush(terminal_ ? stderr : stdout);
}

void Progress::clear() {
    if (drawn_)
        std::fputs("\r\033[K", stderr);
    drawn_ = false;
}

} // namespace specklescope
