// Main loop of the window: events, layout, drawing, pacing.
#pragma once

#include "config/start.hpp"
#include "pipeline/mapping.hpp"
#include "session/requests.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/actions/menu_bar.hpp"
#include "ui/actions/palette.hpp"
#include "ui/canvas/display.hpp"
#include "ui/canvas/window.hpp"
#include "ui/panels/calibrate_dialog.hpp"
#include "ui/panels/monitor.hpp"
#include "ui/panels/panel.hpp"
#include "ui/sources/open_dialog.hpp"
#include "ui/traces/strip.hpp"

namespace specklescope {

class App final : private RequestFront {
public:
    App(Session& session, Window& window);
    /// Runs until the window is closed or, with `ends_by_itself`, until the session has ended.
    void run(bool ends_by_itself);
    void draw() { frame(); } ///< draws one more frame
    /// Writes the snapshot of the newest result that the settings request at the end. False if it could not
    /// be written.
    bool write_last() const;

private:
    std::optional<Result> newest(bool pixels) override;
    void act(Action action, const std::string& folder) override;
    void quit() override {
        leaves_ = true; // another program cannot answer a question
        window_.request_close();
    }
    bool leaves();
    static constexpr double kZoomStep = 1.2; ///< per key press or notch of the wheel

    /// Areas of the pictures of one film.
    struct Pictures {
        Rect head; ///< title, while two films are compared
        Rect area, processed, raw;
        Rect change;                     ///< shows the change against the baseline; empty: not shown
        Rect processed_frame, raw_frame; ///< placed by the camera, also beyond a divider
        bool only_change() const { return change.x == processed.x && change.width == processed.width; }
    };
    struct Layout : Pictures {
        Rect tools, status, panel, film, region_tools, canvas, bar, traces;
        Pictures second; ///< of the film that the session's is compared with
        /// The result lies over the raw picture: with a divider between them, or blended.
        bool split = false, blended = false;
        bool shows_processed = true, shows_raw = false, shows_panel = true,
             panel_below = false, ///< controls below the picture, in a tall window
            shows_traces = false;
    };
    /// A displayed film and its place.
    struct Side {
        const Display& display;
        const Pictures& at;
    };
    std::vector<Side>
    sides(const Layout& layout) const; ///< the session's, and the compared one if it has a result
    bool resting() const;
    bool take_result();
    bool take_second();
    void free_range(const Quantity& quantity);
    void handle_input();
    void press(const KeyChord& chord);
    void open_dropped(const std::string& path);
    bool has_key(Action action, const KeyChord& chord) const;
    bool page_open() const;                   ///< the list of keys or of messages
    bool asks_for_field() const;              ///< true if a dialog with a text field opens in this frame
    struct Actions;                           ///< function and condition of each action: ui/app_actions.cpp
    std::string why_not(Action action) const; ///< empty: the action is possible
    void run(Action action);
    /// Runs an action that writes files, with `folder` as the current folder instead of the window's own.
    void run_in(const std::string& folder, Action action);
    void keep_pictures(); ///< writes the requested pictures
    std::vector<PaletteEntry> palette_entries();
    void add_event_entries(std::vector<PaletteEntry>& entries);
    void add_history_entries(std::vector<PaletteEntry>& entries);
    bool edits_pending() const; ///< a widget or a key is held
    void zoom_by(double factor);
    void expose_by(double stops);
    void widen_first_window(int step);
    void scale_interface(double factor);
    std::optional<std::size_t> first_window() const; ///< first stage of the chain with a radius
    std::string why_not_layers(bool across) const;
    void move_layers(double across, double up);
    Layout arrange();
    double picture_needs(double width) const;
    Layout arrange_monitor();
    void draw_around();
    void draw_monitor();
    void place_pictures(Layout& layout) const;
    Pictures place_side(const Rect& area, const Layout& layout) const;
    void divider(const Layout& layout);
    Camera::Placement placement(const Side& side, bool raw) const;
    Camera::Placement placement(const Layout& layout, bool raw) const {
        return placement({display_, layout}, raw);
    }
    bool on_raw(const Layout& layout, const Pictures& at, double x, double y) const;
    void tell_look();              ///< passes the appearance to screen movies
    Mapping shown_mapping() const; ///< with the colour map for the quantity that is shown
    bool marks_saturated() const;  ///< raw pixels at full scale are drawn in red
    bool shows_change() const;     ///< true if the change is selected and a matching baseline exists
    /// Reason why the result is drawn grey; empty: drawn in colour.
    std::string why_grey() const;
    void draw_raw(const Side& side, double ratio);
    void draw_result(const Side& side, double ratio);
    ValueRange range_of(const Side& side) const; ///< of the result
    void frame();
    void count_presented();
    void canvas_window(const Layout& layout);
    void canvas_mouse(const Layout& layout);
    void panel_edge(const Layout& layout);
    RegionViews region_views(const Layout& layout) const;
    double um_per_px(const Side& side, bool raw) const; ///< of the displayed result; 0: unknown
    double zoom() const;                                ///< screen pixels per image pixel
    void canvas_pixels(const Layout& layout);
    int side_pixels(const Side& side, const Layout& layout);
    void canvas_labels(const Layout& layout);
    void side_labels(const Side& side, const Layout& layout);
    void heads(const Layout& layout);
    std::string head_value(const Side& side, const Layout& layout, bool brief) const;
    void raw_label(const Layout& layout);
    void canvas_bar(const Rect& bar, const Quantity& quantity);
    std::vector<Rect> canvas_scale(const Layout& layout); ///< returns the areas of the scale bars
    bool shows_traces() const;
    void toggle_traces();
    Hover hover(const Layout& layout) const;
    ToneCurve shown_curve() const; ///< of the processed picture; requires a result
    void draw_pictures();
    void report() const;
    void report_second() const;

    Session& session_;
    Window& window_;
    Display display_;
    std::optional<Display> second_; ///< of the film that the session's is compared with
    Mapping second_mapping_;        ///< its own range, if its results are another quantity
    ViewState state_;
    Layout layout_;
    Hover hover_;
    TraceStrip traces_;
    Palette palette_;
    MenuBar menu_;
    OpenDialog open_;
    CalibrateDialog calibrate_;
    Monitor monitor_;
    MonitorLayout monitor_layout_;
    ControlWalk walk_;
    StatsSnapshot stats_;
    SteadyClock::time_point stats_read_{};
    std::uint64_t generation_ = 0;
    KeyChord pressed_;           ///< last
    RangeSubject range_subject_; ///< subject of a range that the user has fixed
    bool fading_ = false;
    bool leaves_ = false;                   ///< without a question
    float alarms_ = 0;                      ///< height of the bar of alarms in the last frame
    std::string grey_;                      ///< why_grey() of this frame
    std::optional<RequestServer> requests_; ///< server for --control
};

} // namespace specklescope
