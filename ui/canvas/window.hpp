// The window: Dear ImGui with its fonts and its input, on a surface.
#pragma once

#include "config/settings.hpp"
#include "ui/canvas/surface.hpp"

#include <imgui.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

class Window {
public:
    static constexpr double kLeastScale = 0.5; ///< of the interface; the most is the declared one
    /// `offscreen`: in memory, without a display. Throws RunError with the reason when no window or no OpenGL
    /// 3.3 can be had.
    explicit Window(const ViewSettings& view, bool offscreen = false);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    bool closed() const { return surface_->closed(); }
    void request_close() { surface_->request_close(); }
    void set_title(const std::string& title) { surface_->set_title(title); }
    void toggle_full_screen() { surface_->toggle_full_screen(); }
    /// Sleeps until something happens, at most so long. True if there was input, a resize or an expose, or if
    /// input waits for the next frame.
    bool wait(double seconds);
    /// Takes as much input as one frame can bear; see input_queue.hpp.
    void begin_frame();
    /// Clears, calls `draw` for the picture, draws Dear ImGui over it and shows it all.
    void end_frame(void (*draw)(void*), void* context);
    /// Called with each whole frame before it is shown, while OpenGL can read it; empty: nobody is.
    std::function<void(SurfaceSize)> on_drawn;
    double ratio() const; ///< framebuffer pixels per window coordinate
    /// Size of text and controls in force: what is wanted, 0 as the monitor asks, as far as the window has
    /// room.
    double scale() const { return scale_; }
    /// Before each frame: the window may have another size, or lie on another monitor.
    void set_scale(double wanted);
    void set_theme(ViewSettings::Theme theme);
    double refresh_rate() const { return surface_->refresh_rate(); }
    const std::string& renderer() const { return renderer_; }
    const std::string& note() const { return note_; } ///< about the font; empty when all is well
    int icons() const { return surface_->icons(); }   ///< sizes of the window's icon; 0: not installed
    /// Size for the settings: of the window while it was not full screen.
    void size(int& width, int& height) const;

    std::vector<KeyPress> take_keys(); ///< of the frame that has begun
    /// See input_queue.hpp.
    void put_back(const std::vector<KeyPress>& keys);
    void wait_for_field();
    std::vector<std::string> take_drops();
    /// Where the mouse has been since the last call, with the left button down as this frame knows it or let
    /// go since: also between two frames.
    std::vector<ImVec2> take_path();

private:
    void start_imgui(const ViewSettings& view);
    double scale_for(double wanted) const;
    WindowInput input_;
    std::unique_ptr<Surface> surface_;
    std::string renderer_, note_;
    double scale_ = 1;
    bool light_ = false;
};

/// Wakes wait() from any thread.
void wake_window();
/// From here on wake_window() does nothing to a display.
void display_gone();

} // namespace specklescope
