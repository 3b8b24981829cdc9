// The window's life: events, layout, drawing, pacing.
#pragma once

#include "config/start.hpp"
#include "pipeline/mapping.hpp"
#include "session/requests.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/actions/palette.hpp"
#include "ui/canvas/display.hpp"
#include "ui/canvas/window.hpp"
#include "ui/panels/panel.hpp"
#include "ui/sources/open_dialog.hpp"
#include "ui/traces/strip.hpp"

namespace specklescope {

class App final : private RequestFront {
public:
    App(Session& session, Window& window);
    /// Until the window is closed or, if it `ends_by_itself`, the session is over.
    void run(bool ends_by_itself);
    void draw() { frame(); } ///< once more
    /// The snapshot that the settings ask for at the end, of the newest result. False if it could not be
    /// written.
    bool write_last() const;

private:
    std::optional<Result> newest(bool pixels) override;
    void act(Action action, const std::string& folder) override;
    void quit() override { window_.request_close(); }
    static constexpr double kZoomStep = 1.2; ///< of a key, or a notch of the wheel

    struct Layout {
        Rect tools, status, panel, film, region_tools, canvas, bar, traces, processed, raw;
        Rect change;                     ///< where the change against the baseline is seen; empty: nowhere
        Rect processed_frame, raw_frame; ///< what the camera places them in: more than is seen of a split one
        /// Lies over another picture: a divider between them, or one through the other.
        bool split = false, blended = false;
        bool only_change() const { return change.x == processed.x && change.width == processed.width; }
        bool shows_processed = true, shows_raw = false, shows_panel = true,
             panel_below = false, ///< the controls, in a tall window
            shows_traces = false;
    };
    bool take_result();
    void free_range(const Quantity& quantity);
    void handle_input();
    void press(const KeyChord& chord);
    void open_dropped(const std::string& path);
    bool asks_for_field() const; ///< a dialog with one opens in this frame
    struct Actions;              ///< what each action runs, and when it is possible: ui/app_actions.cpp
    std::string why_not(Action action) const; ///< empty: it is possible
    void run(Action action);
    /// One about files, which are in this folder and not where the window has them.
    void run_in(const std::string& folder, Action action);
    void keep_pictures(); ///< those that were asked for
    std::vector<PaletteEntry> palette_entries();
    void add_event_entries(std::vector<PaletteEntry>& entries);
    void zoom_by(double factor);
    void expose_by(double stops);
    void widen_first_window(int step);
    void scale_interface(double factor);
    std::optional<std::size_t> first_window() const; ///< of the chain: the stage with a radius
    std::string why_not_layers(bool across) const;
    void move_layers(double across, double up);
    Layout arrange() const;
    void place_pictures(Layout& layout) const;
    void divider(const Layout& layout);
    Camera::Placement placement(const Layout& layout, bool raw) const;
    bool on_raw(const Layout& layout, double x, double y) const;
    void tell_look();              ///< to movies of the screen
    Mapping shown_mapping() const; ///< with the colour map for the quantity that is shown
    bool marks_saturated() const;
    bool shows_change() const; ///< it is wanted, and there is a baseline of such a picture
    /// Why the result is drawn grey: it is not what it is taken for. Empty: it is in colour.
    std::string why_grey() const;
    void draw_raw(double ratio);
    void draw_result(double ratio);
    void frame();
    void canvas_window(const Layout& layout);
    void canvas_mouse(const Layout& layout);
    void panel_edge(const Layout& layout);
    RegionViews region_views(const Layout& layout) const;
    double um_per_px(bool raw) const; ///< of the result that is shown; 0: unknown
    double zoom() const;              ///< pixels of the screen for one of the picture
    void canvas_pixels(const Layout& layout);
    void canvas_labels(const Layout& layout);
    void raw_label(const Layout& layout);
    void canvas_bar(const Rect& bar, const Quantity& quantity);
    std::vector<Rect> canvas_scale(const Layout& layout); ///< where they lie
    bool shows_traces() const;
    void toggle_traces();
    Shape placed_shape(bool raw) const;
    Hover hover(const Layout& layout) const;
    ToneCurve shown_curve() const; ///< of the processed picture; there is one
    void draw_pictures();
    void report() const;

    Session& session_;
    Window& window_;
    Display display_;
    ViewState state_;
    Layout layout_;
    Hover hover_;
    TraceStrip traces_;
    Palette palette_;
    OpenDialog open_;
    ControlWalk walk_;
    StatsSnapshot stats_;
    SteadyClock::time_point stats_read_{};
    std::uint64_t generation_ = 0;
    RangeSubject range_subject_; ///< of a range that the user has fixed
    bool fading_ = false;
    std::string grey_;                      ///< why_grey(), of this drawing
    std::optional<RequestServer> requests_; ///< of --control
};

} // namespace specklescope
