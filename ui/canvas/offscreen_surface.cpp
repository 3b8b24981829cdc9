// Window without a display: OpenGL on an EGL pbuffer. The EGL display selects the GPU that draws. It must be
// the GPU that computes; otherwise results reach the screen through the host.
#include "ui/canvas/surface.hpp"

#include "base/error.hpp"
#include "have_egl.hpp"

#ifdef SPECKLESCOPE_HAVE_EGL

#include "base/memory_budget.hpp"
#include "ui/canvas/gl.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#endif

#include <condition_variable>
#include <mutex>

namespace specklescope {

namespace {

/// Wakes wait().
struct Bell {
    std::mutex mutex;
    std::condition_variable changed;
    bool rung = false;
};

Bell& bell() {
    static Bell instance;
    return instance;
}

} // namespace

void wake_offscreen() {
    {
        const std::scoped_lock lock(bell().mutex);
        bell().rung = true;
    }
    bell().changed.notify_one();
}

#ifdef SPECKLESCOPE_HAVE_EGL

namespace {

std::string egl_error() {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "EGL error 0x%04X", static_cast<unsigned>(eglGetError()));
    return text.data();
}

bool names(const char* extensions, std::string_view one) {
    const std::string_view all = extensions ? extensions : "";
    for (std::size_t at = all.find(one); at != std::string_view::npos; at = all.find(one, at + 1)) {
        const std::size_t end = at + one.size();
        if ((at == 0 || all[at - 1] == ' ') && (end == all.size() || all[end] == ' '))
            return true;
    }
    return false;
}

template <class Function> Function function(const char* name) {
    return reinterpret_cast<Function>(eglGetProcAddress(name));
}

bool is_set(const char* variable) {
    const char* value =
        std::getenv(variable); // NOLINT(concurrency-mt-unsafe): the environment does not change
    return value && *value;
}

/// EGL display to try, not opened yet.
struct Place {
    std::string name;
    EGLenum platform = 0; ///< 0: the default display
    void* of = nullptr;   ///< EGL device; null: the platform's only device
    int rank = 0;         ///< lowest first
};

/// Rank: GPUs in CUDA's order, then other GPUs, then the CPU. The CPU is first if Mesa is set to use it.
int rank_of(EGLDeviceEXT device) {
    constexpr int kOther = 1000, kSoftware = 2000;
    const auto text = function<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
    const auto attribute = function<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
    const char* extensions = text ? text(device, EGL_EXTENSIONS) : nullptr;
    if (names(extensions, "EGL_MESA_device_software"))
        return is_set("LIBGL_ALWAYS_SOFTWARE") ? -1 : kSoftware;
    EGLAttrib ordinal = 0;
    if (attribute && names(extensions, "EGL_NV_device_cuda") &&
        attribute(device, EGL_CUDA_DEVICE_NV, &ordinal) == EGL_TRUE)
        return static_cast<int>(std::clamp<EGLAttrib>(ordinal, 0, kOther - 1));
    return kOther;
}

std::string name_of(int rank) {
    return rank < 0 || rank >= 2000 ? "the processor" : rank < 1000 ? "GPU " + std::to_string(rank) : "a GPU";
}

std::vector<Place> places() {
    std::vector<Place> all;
    const char* client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (names(client, "EGL_EXT_platform_device") &&
        (names(client, "EGL_EXT_device_enumeration") || names(client, "EGL_EXT_device_base")))
        if (const auto query = function<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT")) {
            std::array<EGLDeviceEXT, 64> devices{};
            EGLint count = 0;
            if (query(static_cast<EGLint>(devices.size()), devices.data(), &count) == EGL_TRUE)
                for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
                    const int rank = rank_of(devices.at(i));
                    all.push_back({name_of(rank), EGL_PLATFORM_DEVICE_EXT, devices.at(i), rank});
                }
        }
    std::stable_sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.rank < b.rank; });
    if (names(client, "EGL_MESA_platform_surfaceless"))
        all.push_back({"Mesa without a display", EGL_PLATFORM_SURFACELESS_MESA, nullptr});
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) // it would belong to this display
        all.push_back({"the default display", 0, nullptr});
    return all;
}

/// EGL display with a pbuffer and a context, current on this thread during its lifetime.
class Drawing {
public:
    Drawing() = default;
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;
    ~Drawing() { end(); }

    /// Reason why drawing is not possible here; empty: ready. Throws RunError if a smaller surface might
    /// work.
    std::string begin(const Place& place, SurfaceSize size);
    EGLDisplay display() const { return display_; }

private:
    std::string open(const Place& place);
    EGLConfig config() const;
    void end() noexcept;
    EGLDisplay display_ = EGL_NO_DISPLAY;
    EGLSurface pixels_ = EGL_NO_SURFACE;
    EGLContext context_ = EGL_NO_CONTEXT;
};

std::string Drawing::open(const Place& place) {
    EGLDisplay display = EGL_NO_DISPLAY;
    if (place.platform == 0) {
        display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    } else if (const auto get = function<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT")) {
        display = get(place.platform, place.of, nullptr);
    }
    if (display == EGL_NO_DISPLAY)
        return "there is none";
    if (eglInitialize(display, nullptr, nullptr) != EGL_TRUE)
        return egl_error();
    display_ = display;
    return "";
}

/// Chooses eight bits per channel, as in a window; EGL prefers the format with the most bits.
EGLConfig Drawing::config() const {
    constexpr std::array<EGLint, 13> kWanted = {EGL_SURFACE_TYPE,
                                                EGL_PBUFFER_BIT,
                                                EGL_RENDERABLE_TYPE,
                                                EGL_OPENGL_BIT,
                                                EGL_RED_SIZE,
                                                8,
                                                EGL_GREEN_SIZE,
                                                8,
                                                EGL_BLUE_SIZE,
                                                8,
                                                EGL_SAMPLES,
                                                0,
                                                EGL_NONE};
    std::array<EGLConfig, 256> found{};
    EGLint count = 0;
    if (eglChooseConfig(display_, kWanted.data(), found.data(), static_cast<EGLint>(found.size()), &count) !=
        EGL_TRUE)
        return nullptr;
    const auto bits = [this](EGLConfig config, EGLint of) {
        EGLint value = 0;
        return eglGetConfigAttrib(display_, config, of, &value) == EGL_TRUE ? value : 0;
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i)
        if (bits(found.at(i), EGL_RED_SIZE) == 8 && bits(found.at(i), EGL_GREEN_SIZE) == 8 &&
            bits(found.at(i), EGL_BLUE_SIZE) == 8)
            return found.at(i);
    return nullptr;
}

std::string Drawing::begin(const Place& place, SurfaceSize size) {
    if (std::string reason = open(place); !reason.empty())
        return reason;
    EGLConfig const chosen = eglBindAPI(EGL_OPENGL_API) == EGL_TRUE ? config() : nullptr;
    if (!chosen)
        return "it has no OpenGL in memory";
    constexpr std::array<EGLint, 9> kCore = {EGL_CONTEXT_MAJOR_VERSION,
                                             3,
                                             EGL_CONTEXT_MINOR_VERSION,
                                             3,
                                             EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                             EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                             EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE,
                                             EGL_TRUE,
                                             EGL_NONE};
    context_ = eglCreateContext(display_, chosen, EGL_NO_CONTEXT, kCore.data());
    if (context_ == EGL_NO_CONTEXT)
        return "no context of OpenGL 3.3, " + egl_error();
    const std::array<EGLint, 5> extent = {EGL_WIDTH, size.width, EGL_HEIGHT, size.height, EGL_NONE};
    pixels_ = eglCreatePbufferSurface(display_, chosen, extent.data());
    const bool current =
        pixels_ != EGL_NO_SURFACE && eglMakeCurrent(display_, pixels_, pixels_, context_) == EGL_TRUE;
    std::string error = current ? "" : egl_error();
    std::array<GLint, 2> most = {std::numeric_limits<GLint>::max(), std::numeric_limits<GLint>::max()};
    if (current)
        glGetIntegerv(GL_MAX_VIEWPORT_DIMS, most.data());
    if (most[0] < size.width || most[1] < size.height || (!current && pixels_ == EGL_NO_SURFACE))
        throw RunError("A window of " + std::to_string(size.width) + "×" + std::to_string(size.height) +
                       " pixels is more than " + (current ? gl::renderer() : place.name) +
                       " draws in memory" + (error.empty() ? "" : " (" + error + ")") +
                       "; give a smaller one with --view width=N --view height=N.");
    return error;
}

void Drawing::end() noexcept {
    if (display_ == EGL_NO_DISPLAY)
        return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT)
        eglDestroyContext(display_, context_);
    if (pixels_ != EGL_NO_SURFACE)
        eglDestroySurface(display_, pixels_);
    eglTerminate(display_);
    eglReleaseThread();
}

std::unique_ptr<Drawing> begin_drawing(SurfaceSize size) {
    std::string reasons;
    for (const Place& place : places()) {
        auto drawing = std::make_unique<Drawing>();
        const std::string reason = drawing->begin(place, size);
        if (reason.empty())
            return drawing;
        reasons += (reasons.empty() ? "" : "; ") + place.name + ": " + reason;
    }
    throw RunError("No window can be drawn offscreen: EGL has no OpenGL 3.3 (" +
                   (reasons.empty() ? "it has no device to draw with" : reasons) +
                   "). Install libgl1-mesa-dri or the GPU's EGL driver, or use 'specklescope run'.");
}

constexpr std::array<std::pair<int, int>, 22> kKeys = {{{ImGuiKey_Tab, GLFW_KEY_TAB},
                                                        {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
                                                        {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
                                                        {ImGuiKey_UpArrow, GLFW_KEY_UP},
                                                        {ImGuiKey_DownArrow, GLFW_KEY_DOWN},
                                                        {ImGuiKey_PageUp, GLFW_KEY_PAGE_UP},
                                                        {ImGuiKey_PageDown, GLFW_KEY_PAGE_DOWN},
                                                        {ImGuiKey_Home, GLFW_KEY_HOME},
                                                        {ImGuiKey_End, GLFW_KEY_END},
                                                        {ImGuiKey_Insert, GLFW_KEY_INSERT},
                                                        {ImGuiKey_Delete, GLFW_KEY_DELETE},
                                                        {ImGuiKey_Backspace, GLFW_KEY_BACKSPACE},
                                                        {ImGuiKey_Space, GLFW_KEY_SPACE},
                                                        {ImGuiKey_Enter, GLFW_KEY_ENTER},
                                                        {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
                                                        {ImGuiKey_KeyPadEnter, GLFW_KEY_KP_ENTER},
                                                        {ImGuiKey_A, GLFW_KEY_A},
                                                        {ImGuiKey_C, GLFW_KEY_C},
                                                        {ImGuiKey_V, GLFW_KEY_V},
                                                        {ImGuiKey_X, GLFW_KEY_X},
                                                        {ImGuiKey_Y, GLFW_KEY_Y},
                                                        {ImGuiKey_Z, GLFW_KEY_Z}}};

class OffscreenSurface final : public Surface {
public:
    explicit OffscreenSurface(const ViewSettings& view) : size_{view.width, view.height} {
        constexpr std::uint64_t kBytesPerPixel = 8; // the drawn image and its copy for reading
        check_memory(kBytesPerPixel * static_cast<std::uint64_t>(size_.width) *
                         static_cast<std::uint64_t>(size_.height),
                     "a window of " + std::to_string(size_.width) + "×" + std::to_string(size_.height) +
                         " pixels",
                     "give a smaller one with --view width=N --view height=N");
        drawing_ = begin_drawing(size_);
    }

    bool closed() const override { return closed_; }
    void request_close() override { closed_ = true; }
    void keep_open() override { closed_ = false; }
    void set_title(const std::string&) override {}
    void toggle_full_screen() override {}
    void wait(double seconds) override {
        std::unique_lock lock(bell().mutex);
        bell().changed.wait_for(lock, std::chrono::duration<double>(seconds), [] { return bell().rung; });
        bell().rung = false;
    }
    void start_imgui() override {
        ImGuiIO& io = ImGui::GetIO();
        io.BackendPlatformName = "specklescope offscreen";
        for (const auto& [key, code] : kKeys)
            io.KeyMap[key] = code;
    }
    void stop_imgui() override {}
    void new_frame() override {
        ImGuiIO& io = ImGui::GetIO();
        io.DisplaySize = ImVec2(static_cast<float>(size_.width), static_cast<float>(size_.height));
        const auto now = SteadyClock::now();
        constexpr float kLeast = 1e-5F; // Dear ImGui requires a positive time step
        io.DeltaTime = std::max(kLeast, std::chrono::duration<float>(now - last_).count());
        last_ = now;
    }

    SurfaceSize framebuffer() const override { return size_; }
    SurfaceSize size() const override { return size_; }
    SurfaceSize lasting_size() const override { return size_; }
    double content_scale() const override { return 1; }
    double refresh_rate() const override { return 60; }
    void show() override { glFlush(); }

private:
    SurfaceSize size_;
    std::unique_ptr<Drawing> drawing_;
    bool closed_ = false;
    SteadyClock::time_point last_ = SteadyClock::now();
};

} // namespace

std::unique_ptr<Surface> make_offscreen_surface(const ViewSettings& view) {
    return std::make_unique<OffscreenSurface>(view);
}

#else

std::unique_ptr<Surface> make_offscreen_surface(const ViewSettings&) {
    throw RunError("This build cannot draw offscreen: it was made without EGL. Install libegl-dev and build "
                   "again, or use 'specklescope run'.");
}

#endif

} // namespace specklescope
