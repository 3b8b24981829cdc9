// Window: Dear ImGui with its fonts and its input, on a surface.
#pragma once

#include "config/settings.hpp"
#include "ui/canvas/gl.hpp"
#include "ui/canvas/hand.hpp"
#include "ui/canvas/surface.hpp"

#include <imgui.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

class Window {
public:
    static constexpr double kLeastScale = 0.5; ///< of the interface; the parameter declares the maximum
    /// `offscreen`: in memory, without a display. Throws RunError with the reason if no window or no OpenGL
    /// 3.3 is available.
    explicit Window(const ViewSettings& view, bool offscreen = false);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    bool closed() const { return surface_->closed(); }
    void request_close() { surface_->request_close(); }
    void keep_open() { surface_->keep_open(); }
    void set_title(const std::string& title) { surface_->set_title(title); }
    void toggle_full_screen() { surface_->toggle_full_screen(); }
    /// Sleeps until an event arrives, at most `seconds`. True after input, a resize or an expose, or if
    /// queued input waits for the next frame.
    bool wait(double seconds);
    /// Time to start the work for the next frame. 0.9 of a refresh after the last start, to keep the pace if
    /// presenting does not wait for the monitor (no vsync, a virtual display). If it waits: so late that the
    /// frame is complete at 0.9 of the refresh, judged by the longest recent work, to show a newer result.
    SteadyClock::time_point due();
    void start_work(); ///< for the next frame
    /// Takes as much input as one frame can process; see input_queue.hpp.
    void begin_frame();
    /// Clears, calls `draw` for the picture, draws Dear ImGui over it and presents the frame.
    void end_frame(void (*draw)(void*), void* context);
    /// Called with each complete frame before it is presented, while OpenGL can read it; may be empty.
    std::function<void(SurfaceSize)> on_drawn;
    double ratio() const; ///< framebuffer pixels per window coordinate
    /// Effective scale of text and controls: the requested scale (0: the monitor's), limited by the size of
    /// the window.
    double scale() const { return scale_; }
    /// Call before each frame: the window may have a new size or be on another monitor.
    void set_scale(double wanted);
    void set_theme(ViewSettings::Theme theme);
    double refresh_rate() const { return surface_->refresh_rate(); }
    const std::string& renderer() const { return renderer_; }
    const std::string& note() const { return note_; } ///< about the font; empty without problems
    int icons() const { return surface_->icons(); }   ///< number of icon sizes; 0: not installed
    /// Size to store in the settings: the size before full screen.
    void size(int& width, int& height) const;

    std::vector<KeyPress> take_keys(); ///< of the current frame
    /// See input_queue.hpp.
    void put_back(const std::vector<KeyPress>& keys);
    void wait_for_field();
    std::vector<std::string> take_drops();
    /// Mouse path since the last call, also between two frames, with the left button down in this frame or
    /// released since.
    std::vector<ImVec2> take_path();
    Hand* hand() const { return hand_.get(); } ///< null unless `specklescope bench` moves the window

private:
    void start_imgui(const ViewSettings& view);
    void load_fonts(std::string* note);
    double scale_for(double wanted) const;
    WindowInput input_;
    std::unique_ptr<Surface> surface_;
    gl::Texture glyphs_;
    std::unique_ptr<Hand> hand_ = Hand::of_environment();
    std::string renderer_, note_;
    double scale_ = 1;
    bool light_ = false;
    SteadyClock::time_point started_{}, presented_{};
    gl::Query drawn_ = gl::Query::make();       ///< OpenGL's time at the end of a frame's drawing
    GLint64 started_gl_ = 0;                    ///< the same clock, at the start of the work
    bool asked_ = false;                        ///< drawn_ belongs to the frame of started_gl_
    std::deque<std::chrono::nanoseconds> work_; ///< of recent frames, from started_gl_ to drawn_
};

/// Wakes wait() from any thread.
void wake_window();
/// After this call wake_window() does not access the display.
void display_gone();

} // namespace specklescope
