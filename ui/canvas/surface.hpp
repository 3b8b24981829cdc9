// What the window draws on: a window of the system (glfw_surface.cpp), or memory (offscreen_surface.cpp).
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

/// What the user has done and no frame has been given yet.
struct WindowInput {
    InputQueue queue;
    std::vector<std::string> drops;
    /// Where the mouse went after each press of the left button that has come; `drawing`: the first is of the
    /// press that the frames have been given last.
    std::deque<std::vector<ImVec2>> strokes;
    bool drawing = false, down = false;
    /// As told by the events, in their order: asking the system for it would give a window that draws slowly
    /// where the mouse has got to since its button went down.
    std::optional<ImVec2> mouse;
    bool any = false; ///< something came, also a resize or an expose
};

struct SurfaceSize {
    int width = 0, height = 0;
};

/// A context of OpenGL 3.3 core with a framebuffer, current on the thread that made it: the main thread.
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
    /// Until something happens, at most so long; 0: only takes what has.
    virtual void wait(double seconds) = 0;

    // Dear ImGui's side of it, while there is a context of its own.
    virtual void start_imgui() = 0;
    virtual void stop_imgui() = 0;
    virtual void new_frame() = 0; ///< size and time into ImGuiIO

    virtual SurfaceSize framebuffer() const = 0;  ///< pixels
    virtual SurfaceSize size() const = 0;         ///< window coordinates
    virtual SurfaceSize lasting_size() const = 0; ///< the same, before full screen
    virtual double content_scale() const = 0;
    virtual double refresh_rate() const = 0;
    virtual void show() = 0; ///< what has been drawn
    virtual int icons() const { return 0; }
};

/// Throw RunError with the reason when it, or OpenGL 3.3, cannot be had.
std::unique_ptr<Surface> make_glfw_surface(const ViewSettings& view, WindowInput& input);
/// Neither asks for a display nor starts GLFW.
std::unique_ptr<Surface> make_offscreen_surface(const ViewSettings& view);

// From any thread; nothing where there is none.
void wake_glfw();
void wake_offscreen();

} // namespace specklescope
