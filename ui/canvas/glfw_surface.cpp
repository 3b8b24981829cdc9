#include "base/error.hpp"
#include "ui/canvas/icon.hpp"
#include "ui/canvas/surface.hpp"
#include "ui/canvas/view.hpp"
#include "ui/canvas/window.hpp"
#include "ui/ui.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

namespace specklescope {

namespace {

std::atomic<bool> glfw_runs{false};
std::mutex glfw_ends;                ///< held while a thread other than the main thread calls GLFW
thread_local std::string glfw_error; ///< last error on this thread

bool start_glfw(std::string* reason) {
    if (glfw_runs)
        return true;
    glfwSetErrorCallback([](int, const char* text) { glfw_error = text; });
    if (!glfwInit()) {
        if (reason)
            *reason = glfw_error.empty() ? "the window system does not answer" : glfw_error;
        return false;
    }
    glfw_runs = true;
    return true;
}

WindowInput& input_of(GLFWwindow* handle) {
    return *static_cast<WindowInput*>(glfwGetWindowUserPointer(handle));
}

/// Replaces Dear ImGui's callbacks: keys, characters and buttons go through the queue.
void install_callbacks(GLFWwindow* handle) {
    glfwSetKeyCallback(handle, [](GLFWwindow* w, int key, int, int action, int modifiers) {
        input_of(w).any = true;
        input_of(w).queue.key(key, action, modifiers);
    });
    glfwSetCharCallback(handle, [](GLFWwindow* w, unsigned character) {
        input_of(w).any = true;
        input_of(w).queue.character(character);
    });
    glfwSetMouseButtonCallback(handle, [](GLFWwindow* w, int button, int action, int) {
        input_of(w).any = true;
        if (!input_of(w).mouse) {
            double x = 0, y = 0;
            glfwGetCursorPos(w, &x, &y);
            input_of(w).mouse = ImVec2(static_cast<float>(x), static_cast<float>(y));
        }
        const ImVec2 at = *input_of(w).mouse;
        if (button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS)
            input_of(w).strokes.emplace_back();
        input_of(w).queue.button(button, action == GLFW_PRESS, at.x, at.y, glfwGetTime());
    });
    glfwSetScrollCallback(handle, [](GLFWwindow* w, double x, double y) {
        input_of(w).any = true;
        ImGui_ImplGlfw_ScrollCallback(w, x, y);
    });
    glfwSetCursorPosCallback(handle, [](GLFWwindow* w, double x, double y) {
        WindowInput& input = input_of(w);
        input.any = true;
        input.mouse = ImVec2(static_cast<float>(x), static_cast<float>(y));
        if (glfwGetMouseButton(w, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS && !input.strokes.empty())
            input.strokes.back().push_back(*input.mouse);
    });
    glfwSetCursorEnterCallback(handle, [](GLFWwindow* w, int entered) {
        input_of(w).any = true;
        ImGui_ImplGlfw_CursorEnterCallback(w, entered);
    });
    glfwSetWindowFocusCallback(handle, [](GLFWwindow* w, int focused) {
        input_of(w).any = true;
        input_of(w).queue.focus_changed();
        ImGui_ImplGlfw_WindowFocusCallback(w, focused);
    });
    glfwSetFramebufferSizeCallback(handle, [](GLFWwindow* w, int, int) { input_of(w).any = true; });
    glfwSetWindowRefreshCallback(handle, [](GLFWwindow* w) { input_of(w).any = true; });
    glfwSetDropCallback(handle, [](GLFWwindow* w, int count, const char** paths) {
        input_of(w).any = true;
        input_of(w).drops.assign(paths, paths + count);
    });
}

class GlfwSurface final : public Surface {
public:
    GlfwSurface(const ViewSettings& view, WindowInput& input);
    GlfwSurface(const GlfwSurface&) = delete;
    GlfwSurface& operator=(const GlfwSurface&) = delete;
    ~GlfwSurface() override {
        glfwDestroyWindow(handle_);
        const std::scoped_lock nobody_else(glfw_ends);
        glfw_runs = false;
        glfwTerminate();
    }

    bool closed() const override { return glfwWindowShouldClose(handle_); }
    void request_close() override { glfwSetWindowShouldClose(handle_, GLFW_TRUE); }
    void keep_open() override { glfwSetWindowShouldClose(handle_, GLFW_FALSE); }
    void set_title(const std::string& title) override { glfwSetWindowTitle(handle_, title.c_str()); }
    void toggle_full_screen() override;
    void wait(double seconds) override {
        if (seconds > 0)
            glfwWaitEventsTimeout(seconds);
        else
            glfwPollEvents();
    }
    void start_imgui() override {
        ImGui_ImplGlfw_InitForOpenGL(handle_, false);
        install_callbacks(handle_);
    }
    void stop_imgui() override { ImGui_ImplGlfw_Shutdown(); }
    void new_frame() override { ImGui_ImplGlfw_NewFrame(); }

    SurfaceSize framebuffer() const override {
        SurfaceSize size;
        glfwGetFramebufferSize(handle_, &size.width, &size.height);
        return size;
    }
    SurfaceSize size() const override {
        SurfaceSize size;
        glfwGetWindowSize(handle_, &size.width, &size.height);
        return size;
    }
    SurfaceSize lasting_size() const override { return glfwGetWindowMonitor(handle_) ? before_ : size(); }
    double content_scale() const override {
        float across = 1, up = 1;
        glfwGetWindowContentScale(handle_, &across, &up);
        return across;
    }
    double refresh_rate() const override {
        GLFWmonitor* monitor = this->monitor();
        const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
        return mode && mode->refreshRate > 0 ? mode->refreshRate : 60;
    }
    void show() override { glfwSwapBuffers(handle_); }
    int icons() const override { return icons_; }

private:
    /// Monitor that shows the largest part of the window; null: none.
    GLFWmonitor* monitor() const;
    GLFWwindow* handle_ = nullptr;
    int x_ = 0, y_ = 0; ///< position before full screen
    SurfaceSize before_;
    int icons_ = 0;
};

GlfwSurface::GlfwSurface(const ViewSettings& view, WindowInput& input) {
    std::string reason;
    if (!start_glfw(&reason))
        throw RunError("No window can be opened: " + reason + "; 'specklescope run' works without one.");
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "specklescope");
    int width = view.width, height = view.height;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
        int x = 0, y = 0, w = 0, h = 0;
        glfwGetMonitorWorkarea(monitor, &x, &y, &w, &h);
        if (w > 0 && h > 0) {
            width = std::min(width, w);
            height = std::min(height, h);
        }
    }
    handle_ = glfwCreateWindow(width, height, "Specklescope", nullptr, nullptr);
    if (!handle_)
        throw RunError("No window with OpenGL 3.3 can be opened: " + glfw_error +
                       "; 'specklescope run' works without one.");
    glfwSetWindowUserPointer(handle_, &input);
    icons_ = set_window_icon(handle_);
    glfwSetWindowSizeLimits(handle_, 480, 360, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwMakeContextCurrent(handle_);
    glfwSwapInterval(view.vsync ? 1 : 0);
}

GLFWmonitor* GlfwSurface::monitor() const {
    int count = 0;
    GLFWmonitor** const all = glfwGetMonitors(&count);
    int x = 0, y = 0;
    glfwGetWindowPos(handle_, &x, &y);
    const Rect window = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(size().width),
                         static_cast<double>(size().height)};
    std::vector<Rect> places;
    for (int i = 0; i < count; ++i) {
        const GLFWvidmode* mode = glfwGetVideoMode(all[i]);
        glfwGetMonitorPos(all[i], &x, &y);
        places.push_back({static_cast<double>(x), static_cast<double>(y),
                          mode ? static_cast<double>(mode->width) : 0.0,
                          mode ? static_cast<double>(mode->height) : 0.0});
    }
    return count > 0 ? all[most_covered(places, window)] : nullptr;
}

void GlfwSurface::toggle_full_screen() {
    if (glfwGetWindowMonitor(handle_)) {
        glfwSetWindowMonitor(handle_, nullptr, x_, y_, before_.width, before_.height, GLFW_DONT_CARE);
        return;
    }
    GLFWmonitor* monitor = this->monitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    if (!mode)
        return;
    glfwGetWindowPos(handle_, &x_, &y_);
    before_ = size();
    glfwSetWindowMonitor(handle_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

} // namespace

std::unique_ptr<Surface> make_glfw_surface(const ViewSettings& view, WindowInput& input) {
    return std::make_unique<GlfwSurface>(view, input);
}

bool display_available(std::string* reason) {
    const auto set = [](const char* name) {
        const char* value =
            std::getenv(name); // NOLINT(concurrency-mt-unsafe): the environment does not change
        return value && *value;
    };
    if (!set("DISPLAY") && !set("WAYLAND_DISPLAY")) {
        if (reason)
            *reason = "neither DISPLAY nor WAYLAND_DISPLAY is set";
        return false;
    }
    return start_glfw(reason);
}

void display_gone() { glfw_runs = false; }

void wake_glfw() {
    if (!glfw_runs)
        return;
    const std::scoped_lock stays(glfw_ends);
    if (glfw_runs) // GLFW may have been terminated
        glfwPostEmptyEvent();
}

} // namespace specklescope
