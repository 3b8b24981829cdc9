#include "ui/canvas/window.hpp"

#include "base/error.hpp"
#include "ui/canvas/gl.hpp"
#include "ui/canvas/icon.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/ui.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>

namespace specklescope {

struct Window::State {
    GLFWwindow* handle = nullptr;
    InputQueue queue;
    std::vector<std::string> drops;
    /// Where the mouse went after each press of the left button that has come; `drawing`: the first is of the
    /// press that the frames have been given last.
    std::deque<std::vector<ImVec2>> strokes;
    bool drawing = false, down = false;
    /// As told by the events, in their order: glfwGetCursorPos asks the server, and a window that draws
    /// slowly would learn where the mouse has got to since its button went down.
    std::optional<ImVec2> mouse;
    bool input = false;
    int x = 0, y = 0, width = 0, height = 0; ///< before full screen
};

namespace {

std::atomic<bool> glfw_runs{false};
std::string glfw_error; ///< of the last failing call; main thread

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

Window::State& state_of(GLFWwindow* handle) {
    return *static_cast<Window::State*>(glfwGetWindowUserPointer(handle));
}

/// Instead of Dear ImGui's own: keys, characters and buttons go through the queue.
void install_callbacks(GLFWwindow* handle) {
    glfwSetKeyCallback(handle, [](GLFWwindow* w, int key, int, int action, int modifiers) {
        state_of(w).input = true;
        state_of(w).queue.key(key, action, modifiers);
    });
    glfwSetCharCallback(handle, [](GLFWwindow* w, unsigned character) {
        state_of(w).input = true;
        state_of(w).queue.character(character);
    });
    glfwSetMouseButtonCallback(handle, [](GLFWwindow* w, int button, int action, int) {
        state_of(w).input = true;
        if (!state_of(w).mouse) {
            double x = 0, y = 0;
            glfwGetCursorPos(w, &x, &y);
            state_of(w).mouse = ImVec2(static_cast<float>(x), static_cast<float>(y));
        }
        const ImVec2 at = *state_of(w).mouse;
        if (button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS)
            state_of(w).strokes.emplace_back();
        state_of(w).queue.button(button, action == GLFW_PRESS, at.x, at.y, glfwGetTime());
    });
    glfwSetScrollCallback(handle, [](GLFWwindow* w, double x, double y) {
        state_of(w).input = true;
        ImGui_ImplGlfw_ScrollCallback(w, x, y);
    });
    glfwSetCursorPosCallback(handle, [](GLFWwindow* w, double x, double y) {
        state_of(w).input = true;
        state_of(w).mouse = ImVec2(static_cast<float>(x), static_cast<float>(y));
        if (glfwGetMouseButton(w, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS && !state_of(w).strokes.empty())
            state_of(w).strokes.back().push_back(*state_of(w).mouse);
    });
    glfwSetCursorEnterCallback(handle, [](GLFWwindow* w, int entered) {
        state_of(w).input = true;
        ImGui_ImplGlfw_CursorEnterCallback(w, entered);
    });
    glfwSetWindowFocusCallback(handle, [](GLFWwindow* w, int focused) {
        state_of(w).input = true;
        ImGui_ImplGlfw_WindowFocusCallback(w, focused);
    });
    glfwSetFramebufferSizeCallback(handle, [](GLFWwindow* w, int, int) { state_of(w).input = true; });
    glfwSetWindowRefreshCallback(handle, [](GLFWwindow* w) { state_of(w).input = true; });
    glfwSetDropCallback(handle, [](GLFWwindow* w, int count, const char** paths) {
        state_of(w).input = true;
        state_of(w).drops.assign(paths, paths + count);
    });
}

} // namespace

bool display_available(std::string* reason) {
    const auto set = [](const char* name) {
        const char* value =
            std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody changes the environment
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

void wake_window() {
    if (glfw_runs)
        glfwPostEmptyEvent();
}

Window::Window(const ViewSettings& view) : state_(std::make_unique<State>()) {
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
    state_->handle = glfwCreateWindow(width, height, "Specklescope", nullptr, nullptr);
    if (!state_->handle)
        throw RunError("No window with OpenGL 3.3 can be opened: " + glfw_error +
                       "; 'specklescope run' works without one.");
    glfwSetWindowUserPointer(state_->handle, state_.get());
    icons_ = set_window_icon(state_->handle);
    glfwSetWindowSizeLimits(state_->handle, 480, 360, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwMakeContextCurrent(state_->handle);
    glfwSwapInterval(view.vsync ? 1 : 0);
    renderer_ = gl::renderer();
    start_imgui(view);
    install_callbacks(state_->handle);
}

void Window::start_imgui(const ViewSettings& view) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr; // the settings remember what is worth it
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    take_scale(view.ui_scale);
    theme::load_fonts(static_cast<float>(scale_), &note_);
    ImGui_ImplGlfw_InitForOpenGL(state_->handle, false);
    ImGui_ImplOpenGL3_Init("#version 330 core");
}

void Window::take_scale(double wanted) {
    wanted_scale_ = wanted;
    auto scale = static_cast<float>(wanted);
    if (scale <= 0) {
        float vertical = 1;
        glfwGetWindowContentScale(state_->handle, &scale, &vertical);
    }
    scale_ = std::clamp(scale, static_cast<float>(kLeastScale),
                        static_cast<float>(view_table().at("ui_scale").max));
    theme::apply(static_cast<float>(scale_));
}

void Window::set_scale(double wanted) {
    if (wanted == wanted_scale_)
        return;
    take_scale(wanted);
    theme::load_fonts(static_cast<float>(scale_), nullptr);
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
}

Window::~Window() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(state_->handle);
    glfw_runs = false;
    glfwTerminate();
}

bool Window::closed() const { return glfwWindowShouldClose(state_->handle); }
void Window::request_close() { glfwSetWindowShouldClose(state_->handle, GLFW_TRUE); }
void Window::set_title(const std::string& title) { glfwSetWindowTitle(state_->handle, title.c_str()); }

void Window::toggle_full_screen() {
    State& s = *state_;
    if (glfwGetWindowMonitor(s.handle)) {
        glfwSetWindowMonitor(s.handle, nullptr, s.x, s.y, s.width, s.height, GLFW_DONT_CARE);
        return;
    }
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    if (!mode)
        return;
    glfwGetWindowPos(s.handle, &s.x, &s.y);
    glfwGetWindowSize(s.handle, &s.width, &s.height);
    glfwSetWindowMonitor(s.handle, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

bool Window::wait(double seconds) {
    if (seconds > 0 && state_->queue.empty())
        glfwWaitEventsTimeout(seconds);
    else
        glfwPollEvents();
    return std::exchange(state_->input, false) || !state_->queue.empty();
}

void Window::begin_frame() {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGuiIO& io = ImGui::GetIO();
    // Tab goes from field to field where one is being typed in, and is a shortcut elsewhere: Dear ImGui would
    // take the first field of a window for it.
    const bool fields = io.WantTextInput || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
    io.KeyMap[ImGuiKey_Tab] = fields ? GLFW_KEY_TAB : -1;
    state_->queue.feed(io);
    if (io.MouseDown[0] && !state_->down) {
        if (state_->drawing)
            state_->strokes.pop_front();
        state_->drawing = true;
    }
    state_->down = io.MouseDown[0];
    ImGui::NewFrame();
}

void Window::end_frame(void (*draw)(void*), void* context) {
    ImGui::Render();
    int width = 0, height = 0;
    glfwGetFramebufferSize(state_->handle, &width, &height);
    glViewport(0, 0, width, height);
    const ImVec4 back = theme::vec(theme::kCanvas);
    glClearColor(back.x, back.y, back.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    draw(context);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    glfwSwapBuffers(state_->handle);
}

double Window::ratio() const {
    int width = 0, height = 0, pixels = 0, ignored = 0;
    glfwGetWindowSize(state_->handle, &width, &height);
    glfwGetFramebufferSize(state_->handle, &pixels, &ignored);
    return width > 0 ? static_cast<double>(pixels) / width : 1;
}

double Window::refresh_rate() const {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    return mode && mode->refreshRate > 0 ? mode->refreshRate : 60;
}

void Window::size(int& width, int& height) const {
    if (glfwGetWindowMonitor(state_->handle)) {
        width = state_->width;
        height = state_->height;
    } else {
        glfwGetWindowSize(state_->handle, &width, &height);
    }
}

std::vector<KeyPress> Window::take_keys() { return state_->queue.take_keys(); }
void Window::put_back(const std::vector<KeyPress>& keys) { state_->queue.put_back(keys, ImGui::GetIO()); }
void Window::wait_for_field() { state_->queue.wait_for_field(); }
std::vector<ImVec2> Window::take_path() {
    return state_->drawing ? std::exchange(state_->strokes.front(), {}) : std::vector<ImVec2>();
}
std::vector<std::string> Window::take_drops() { return std::exchange(state_->drops, {}); }

} // namespace specklescope
