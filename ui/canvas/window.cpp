#include "ui/canvas/window.hpp"

#include "ui/canvas/theme.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace specklescope {

void wake_window() {
    wake_glfw();
    wake_offscreen();
}

Window::Window(const ViewSettings& view, bool offscreen)
    : surface_(offscreen ? make_offscreen_surface(view) : make_glfw_surface(view, input_)),
      renderer_(gl::renderer()) {
    start_imgui(view);
}

void Window::start_imgui(const ViewSettings& view) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr; // the program's settings store the layout
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    scale_ = scale_for(view.ui_scale);
    light_ = view.theme == ViewSettings::Theme::light;
    theme::apply(static_cast<float>(scale_), light_);
    surface_->start_imgui();
    if (!ImGui_ImplOpenGL3_Init("#version 330 core"))
        throw RunError(
            "Dear ImGui cannot load OpenGL's functions: libGL.so.1 was not found; install libgl1.");
    ImFontAtlas small; // the backend always makes a texture: not from our fonts, see load_fonts()
    ImFontAtlas* const fonts = std::exchange(io.Fonts, &small);
    ImGui_ImplOpenGL3_CreateDeviceObjects();
    io.Fonts = fonts;
    load_fonts(&note_);
}

/// Stores one byte per glyph pixel; Dear ImGui's backend uses four, and keeps copies.
void Window::load_fonts(std::string* note) {
    theme::load_fonts(static_cast<float>(scale_), note);
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    unsigned char* coverage = nullptr;
    int width = 0, height = 0;
    atlas.GetTexDataAsAlpha8(&coverage, &width, &height);
    glyphs_ = gl::Texture::make();
    glBindTexture(GL_TEXTURE_2D, glyphs_.id());
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    constexpr std::array<GLint, 4> kWhite = {GL_ONE, GL_ONE, GL_ONE, GL_RED};
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, kWhite.data());
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, width, height, 0, GL_RED, GL_UNSIGNED_BYTE, coverage);
    atlas.SetTexID(reinterpret_cast<ImTextureID>( // NOLINT(performance-no-int-to-ptr): as the backend expects
        static_cast<std::uintptr_t>(glyphs_.id())));
    atlas.ClearTexData();
    atlas.ClearInputData();
}

/// Limits the scale so that the controls fit side by side. Uses steps, so that resizing does not create
/// fonts for each size.
double Window::scale_for(double wanted) const {
    constexpr double kWidth = 480, kHeight = 360, kSteps = 8; // space for the controls at scale 1
    const SurfaceSize size = surface_->size();
    const double room = std::floor(std::min(size.width / kWidth, size.height / kHeight) * kSteps) / kSteps;
    const double asked = std::clamp(wanted > 0 ? wanted : surface_->content_scale() / ratio(), kLeastScale,
                                    view_table().at("ui_scale").max);
    return std::min(asked, std::max(room, 1.0));
}

void Window::set_theme(ViewSettings::Theme theme) {
    const bool light = theme == ViewSettings::Theme::light;
    if (light != std::exchange(light_, light))
        theme::apply(static_cast<float>(scale_), light_);
}

void Window::set_scale(double wanted) {
    const double scale = scale_for(wanted);
    if (scale == scale_)
        return;
    scale_ = scale;
    theme::apply(static_cast<float>(scale_), light_);
    load_fonts(nullptr);
}

Window::~Window() {
    ImGui_ImplOpenGL3_Shutdown();
    surface_->stop_imgui();
    ImGui::DestroyContext();
}

bool Window::wait(double seconds) {
    surface_->wait(input_.queue.empty() ? seconds : 0);
    if (hand_)
        hand_->feed(input_);
    return std::exchange(input_.any, false) || !input_.queue.empty();
}

SteadyClock::time_point Window::due() {
    constexpr std::size_t kRecent = 60;
    const std::chrono::duration<double> refresh(1 / refresh_rate()); // of the current monitor
    const auto part = std::chrono::duration_cast<SteadyClock::duration>(refresh * 0.9);
    GLuint known = GL_FALSE;
    if (asked_)
        glGetQueryObjectuiv(drawn_.id(), GL_QUERY_RESULT_AVAILABLE, &known);
    if (known == GL_FALSE)
        return started_ + part;
    GLuint64 end = 0;
    glGetQueryObjectui64v(drawn_.id(), GL_QUERY_RESULT, &end);
    work_.emplace_back(static_cast<GLint64>(end) - started_gl_);
    if (work_.size() > kRecent)
        work_.pop_front();
    return std::max(started_ + part, presented_ + part - *std::max_element(work_.begin(), work_.end()));
}

void Window::start_work() {
    started_ = SteadyClock::now();
    glGetInteger64v(GL_TIMESTAMP, &started_gl_);
    asked_ = false;
}

void Window::begin_frame() {
    ImGui_ImplOpenGL3_NewFrame();
    surface_->new_frame();
    ImGuiIO& io = ImGui::GetIO();
    if (hand_ && hand_->mouse())
        io.MousePos = *hand_->mouse();
    // Tab moves between fields only while one is edited, and is a shortcut otherwise. Dear ImGui would move
    // to the first field of a window.
    const bool fields = io.WantTextInput || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
    io.KeyMap[ImGuiKey_Tab] = fields ? GLFW_KEY_TAB : -1;
    input_.queue.feed(io);
    if (io.MouseDown[0] && !input_.down) {
        if (input_.drawing)
            input_.strokes.pop_front();
        input_.drawing = true;
    }
    input_.down = io.MouseDown[0];
    ImGui::NewFrame();
}

void Window::end_frame(void (*draw)(void*), void* context) {
    ImGui::Render();
    const SurfaceSize size = surface_->framebuffer();
    glViewport(0, 0, size.width, size.height);
    const ImVec4 back = theme::vec(theme::kCanvas);
    glClearColor(back.x, back.y, back.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    draw(context);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    if (on_drawn)
        on_drawn(size);
    if (hand_)
        hand_->drawn();
    glQueryCounter(drawn_.id(), GL_TIMESTAMP);
    asked_ = true;
    surface_->show();
    presented_ = SteadyClock::now();
}

double Window::ratio() const {
    const int width = surface_->size().width;
    return width > 0 ? static_cast<double>(surface_->framebuffer().width) / width : 1;
}

void Window::size(int& width, int& height) const {
    const SurfaceSize size = surface_->lasting_size();
    width = size.width;
    height = size.height;
}

std::vector<KeyPress> Window::take_keys() { return input_.queue.take_keys(); }
void Window::put_back(const std::vector<KeyPress>& keys) { input_.queue.put_back(keys, ImGui::GetIO()); }
void Window::wait_for_field() { input_.queue.wait_for_field(); }
std::vector<ImVec2> Window::take_path() {
    return input_.drawing ? std::exchange(input_.strokes.front(), {}) : std::vector<ImVec2>();
}
std::vector<std::string> Window::take_drops() { return std::exchange(input_.drops, {}); }

} // namespace specklescope
