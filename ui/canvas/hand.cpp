#include "ui/canvas/hand.hpp"

#include "ui/canvas/gl.hpp"
#include "ui/canvas/window.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <sstream>

namespace specklescope {

std::unique_ptr<Hand> Hand::of_environment() {
    const char* path =
        std::getenv("SPECKLESCOPE_UI_HAND"); // NOLINT(concurrency-mt-unsafe): the environment does not change
    return path && *path ? std::unique_ptr<Hand>(new Hand(path)) : nullptr;
}

Hand::Hand(const std::string& path) : frames_(path + ".frames") {
    frames_ << gl::renderer() << '\n' << std::flush;
    reader_ = std::jthread([this, path] {
        std::ifstream pipe(path);
        for (std::string line; std::getline(pipe, line);) {
            {
                const std::scoped_lock lock(mutex_);
                lines_.push_back(line);
            }
            wake_window(); // as an event of the window system does
        }
    });
}

void Hand::feed(WindowInput& input) {
    std::vector<std::string> lines;
    {
        const std::scoped_lock lock(mutex_);
        lines.swap(lines_);
    }
    for (const std::string& line : lines)
        take(input, line);
}

void Hand::take(WindowInput& input, const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    float x = 0, y = 0;
    words >> kind >> x >> y;
    const int code = static_cast<int>(x);
    input.any = true;
    ++events_;
    if (kind == "key") {
        for (const int action : {GLFW_PRESS, GLFW_RELEASE})
            input.queue.key(code, action, 0);
    } else if (kind == "character") {
        input.queue.character(static_cast<unsigned>(code));
    } else if (kind == "move") {
        mouse_ = ImVec2(x, y);
    } else if (kind == "button" && mouse_) {
        if (code == 1)
            input.strokes.emplace_back();
        input.queue.button(GLFW_MOUSE_BUTTON_LEFT, code == 1, mouse_->x, mouse_->y, 0);
    } else if (kind == "row") {
        row_.x = code;
        row_.y = static_cast<int>(y);
        words >> row_.width >> row_.count;
    }
}

void Hand::drawn() {
    if (row_.count == 0)
        return;
    std::array<GLint, 4> window{};
    glGetIntegerv(GL_VIEWPORT, window.data());
    std::vector<std::uint8_t> row(static_cast<std::size_t>(row_.width));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(row_.x, window[3] - 1 - row_.y, row_.width, 1, GL_RED, GL_UNSIGNED_BYTE, row.data());
    values_.clear();
    for (int i = 0; i < row_.count; ++i)
        values_ += " " + std::to_string(
                             row.at(static_cast<std::size_t>((2 * i + 1) * row_.width / (2 * row_.count))));
}

void Hand::presented(const FrameInfo& shown, int uploads, double stops, double low, double high) {
    glFinish(); // drawn, not only requested
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    std::ostringstream line; // one write per frame
    line.precision(15);
    line << now.count() << ' ' << events_ << ' ' << shown.sequence << ' ' << shown.version << ' ' << uploads
         << ' ' << stops << ' ' << low << ' ' << high << values_ << '\n';
    frames_ << line.str() << std::flush;
}

} // namespace specklescope
