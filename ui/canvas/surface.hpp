// Drawing surface of the window: a system window (glfw_surface.cpp), or memory (offscreen_surface.cpp).
#pragma once

#include "config/settings.hpp"
#include "ui/canvas/input_queue.hpp"

#include <imgui.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// User input that no frame has received yet.
struct WindowInput {
    InputQueue queue;
    std::vector<std::string> drops;
    /// Mouse path after each press of the left button. `drawing`: the first path belongs to the press that
    /// the frames received last.
    std::deque<std::vector<ImVec2>> strokes;
    bool drawing = false, down = false;
    /// Mouse position from the events, in their order. Polling the system would give a slow window the
    /// position of a later moment than the button press.
    std::optional<ImVec2> mouse;
    bool any = false; ///< any event arrived, also a resize or an expose
};

struct SurfaceSize {
    int width = 0, height = 0;
};

/// OpenGL 3.3 core context with a framebuffer, current on the thread that created it: the main thread.
class Surface {
public:
    Surface() = default;
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    virtual ~Surface() = default;

    virtual bool closed() const = 0;
    virtual void request_close() = 0;
    virtual void keep_open() = 0; ///< takes a request back
    virtual void set_title(const std::string& title) = 0;
    virtual void toggle_full_screen() = 0;
    /// Waits for an event, at most `seconds`; 0: only processes pending events.
    virtual void wait(double seconds) = 0;

    // Platform backend of Dear ImGui; requires an ImGui context.
    virtual void start_imgui() = 0;
    virtual void stop_imgui() = 0;
    virtual void new_frame() = 0; ///< sets size and time in ImGuiIO

    virtual SurfaceSize framebuffer() const = 0;  ///< in pixels
    virtual SurfaceSize size() const = 0;         ///< in window coordinates
    virtual SurfaceSize lasting_size() const = 0; ///< the same, before full screen
    virtual double content_scale() const = 0;
    virtual double refresh_rate() const = 0;
    virtual void show() = 0; ///< presents the drawn frame
    virtual int icons() const { return 0; }
};

/// Throw RunError with the reason if the surface or OpenGL 3.3 is not available.
std::unique_ptr<Surface> make_glfw_surface(const ViewSettings& view, WindowInput& input);
/// Needs no display and does not start GLFW.
std::unique_ptr<Surface> make_offscreen_surface(const ViewSettings& view);

// Callable from any thread; does nothing without a GLFW window.
void wake_glfw();
void wake_offscreen();

} // namespace specklescope
