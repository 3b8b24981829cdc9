// Function and condition of each action: one row per action, in the order of their declaration.
#include "ui/app.hpp"

#include "ui/actions/palette.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

constexpr double kStopStep = 0.5;
constexpr double kLayerStep = 0.05; ///< step of a divider, an opacity or a threshold
constexpr int kJump = 10;           ///< in frames
constexpr double kScaleStep = 1.1;
constexpr const char* kHistory = "History"; ///< PaletteEntry::kind

} // namespace

struct App::Actions {
    using Layout = ViewSettings::Layout;
    using Why = std::string (*)(const App&);

    struct Row {
        Action action;
        void (*run)(App&);
        Why why_not = possible;
    };

    static std::string possible(const App&) { return ""; }
    static std::string a_source(const App& a) { return a.session_.pipeline() ? "" : "No source is open."; }
    static std::string a_result(const App& a) {
        return a.display_.has_result() ? "" : "There is no image yet.";
    }
    static std::string an_alarm(const App& a) {
        return a.session_.alarms().empty() ? "There is no alarm." : "";
    }
    static std::string a_film(const App& a) {
        return is_film(a.session_) ? "" : "The source is not a file with several frames.";
    }
    static std::string a_speed(const App& a) {
        return !is_film(a.session_) ? a_film(a) : film_speed(a.session_) ? "" : "This source has no speed.";
    }
    static std::string comparable(const App& a) { return a.session_.comparison.why_not(); }
    static std::string a_window(const App& a) {
        return a.first_window() ? "" : "No stage of the chain has a window with a radius.";
    }
    template <bool Across> static std::string layers(const App& a) { return a.why_not_layers(Across); }
    template <int Steps> static void low_end(App& a) { a.state_.histogram.nudge(a.session_, false, Steps); }
    template <int Steps> static void high_end(App& a) { a.state_.histogram.nudge(a.session_, true, Steps); }
    static void take_baseline_picture(App& a) {
        a.session_.take_baseline_image();
        a.state_.change = true;
    }
    static void show_change(App& a) {
        if (a.session_.picture_baseline.image())
            a.state_.change = !a.state_.change;
        else
            take_baseline_picture(a);
    }
    static std::string traced(const App& a) {
        return a.traces_.has_regions() || a.session_.traces_wanted()
                   ? ""
                   : "There are no regions. Draw one first.";
    }
    static bool draws(const App& a) {
        return a.state_.regions.why_not(Action::drop_corner, a.session_).empty();
    }
    /// While a polygon is drawn, removes its last corner instead.
    static void undo(App& a) {
        if (draws(a))
            a.state_.regions.run(Action::drop_corner, a.session_);
        else
            a.session_.undo();
    }
    static std::string undoable(const App& a) {
        return !a.session_.history().can_undo() && !draws(a) ? "There is nothing to undo."
                                                             : a.state_.regions.why_held();
    }
    static std::string redoable(const App& a) {
        return a.session_.history().can_redo() ? a.state_.regions.why_held() : "There is nothing to redo.";
    }
    static std::string recordable(const App& a) {
        const bool wanted =
            a.session_.recordings.running(output_kind("traces")) || a.session_.traces_wanted();
        return wanted || !a.session_.pipeline() ? a_source(a) : Recordings::kNoRegions;
    }
    template <int N> static std::string label(const App& a) {
        return a.session_.events().remembered().size() >= N ? a_source(a) : "There are fewer event labels.";
    }
    template <int N> static void mark(App& a) { TraceStrip::mark_remembered(a.session_, N - 1); }
    template <Action A> static constexpr Row region() {
        return {A, [](App& a) { a.state_.regions.run(A, a.session_); },
                [](const App& a) { return a.state_.regions.why_not(A, a.session_); }};
    }
    template <Exports::Film F> static constexpr Row film(Action action) {
        return {action, [](App& a) { a.session_.exports.save_film(F); },
                [](const App& a) { return a.session_.exports.why_no_film(F); }};
    }
    static void show(App& a, Layout layout) { a.session_.view().layout = layout; }

    static const Row& row(Action action) {
        static constexpr std::array<Row, kActions> kRows = {{
            {Action::undo, undo, undoable},
            {Action::redo, [](App& a) { a.session_.redo(); }, redoable},
            {Action::history, [](App& a) { a.palette_.open(kHistory); }, a_source},
            {Action::compare, [](App& a) { a.session_.compare_before(); }, a_source},
            {Action::pause, [](App& a) { toggle_pause(a.session_, a.state_.film); }, a_source},
            {Action::step_back, [](App& a) { step_back(a.session_, a.state_.film); }, a_film},
            {Action::step, [](App& a) { step_once(a.session_, a.state_.film); }, a_source},
            {Action::jump_back, [](App& a) { jump_by(a.session_, a.state_.film, -kJump); }, a_film},
            {Action::jump, [](App& a) { jump_by(a.session_, a.state_.film, kJump); }, a_film},
            {Action::first_frame, [](App& a) { seek_to_begin(a.session_, a.state_.film); }, a_film},
            {Action::last_frame, [](App& a) { seek_to_end(a.session_, a.state_.film); }, a_film},
            {Action::loop, [](App& a) { toggle_loop(a.session_, a.state_.film); }, a_film},
            {Action::mark_in, [](App& a) { mark_in(a.session_, a.state_.film); }, a_film},
            {Action::mark_out, [](App& a) { mark_out(a.session_, a.state_.film); }, a_film},
            {Action::slower, [](App& a) { change_speed(a.session_, -1); }, a_speed},
            {Action::faster, [](App& a) { change_speed(a.session_, 1); }, a_speed},
            {Action::show_processed, [](App& a) { show(a, Layout::processed); }},
            {Action::show_raw, [](App& a) { show(a, Layout::raw); }},
            {Action::show_both, [](App& a) { show(a, Layout::side_by_side); }},
            {Action::show_split, [](App& a) { show(a, Layout::split); }},
            {Action::show_blended, [](App& a) { show(a, Layout::blended); }},
            {Action::next_layout,
             [](App& a) {
                 const auto count = static_cast<int>(view_table().at("layout").choices.size());
                 show(a, static_cast<Layout>((static_cast<int>(a.session_.view().layout) + 1) % count));
             }},
            {Action::layers_left, [](App& a) { a.move_layers(-kLayerStep, 0); }, layers<true>},
            {Action::layers_right, [](App& a) { a.move_layers(kLayerStep, 0); }, layers<true>},
            {Action::more_opaque, [](App& a) { a.move_layers(0, kLayerStep); }, layers<false>},
            {Action::less_opaque, [](App& a) { a.move_layers(0, -kLayerStep); }, layers<false>},
            {Action::compare_recording, [](App& a) { a.state_.open_dialog = a.state_.open_compares = true; },
             comparable},
            {Action::compare_settings, [](App& a) { a.session_.comparison.keep_settings(); }, comparable},
            {Action::end_compare, [](App& a) { a.session_.comparison.close(); },
             [](const App& a) {
                 return a.session_.comparison.active() ? std::string() : "No comparison is open.";
             }},
            {Action::zoom_in, [](App& a) { a.zoom_by(kZoomStep); }, a_result},
            {Action::zoom_out, [](App& a) { a.zoom_by(1 / kZoomStep); }, a_result},
            {Action::fit, [](App& a) { a.state_.camera.fit(); }},
            {Action::one_to_one, [](App& a) { a.zoom_by(0); }, a_result},
            {Action::next_colormap,
             [](App& a) {
                 ColorMap& map = a.session_.view().colormap_of(a.display_.has_result()
                                                                   ? a.display_.result().quantity
                                                                   : a.session_.chain().displayed_quantity());
                 const auto count = static_cast<int>(view_table().at("colormap").choices.size());
                 map = static_cast<ColorMap>((static_cast<int>(map) + 1) % count);
             }},
            {Action::automatic_range,
             [](App& a) {
                 bool& automatic = a.session_.view().mapping.automatic;
                 automatic = !automatic;
             }},
            {Action::histogram, [](App& a) { a.state_.histogram.toggle = a.session_.view().panel = true; }},
            {Action::lower_low, low_end<-1>, a_result},
            {Action::raise_low, low_end<1>, a_result},
            {Action::lower_high, high_end<-1>, a_result},
            {Action::raise_high, high_end<1>, a_result},
            {Action::darker, [](App& a) { a.expose_by(-kStopStep); }},
            {Action::brighter, [](App& a) { a.expose_by(kStopStep); }},
            {Action::smaller_window, [](App& a) { a.widen_first_window(-1); }, a_window},
            {Action::larger_window, [](App& a) { a.widen_first_window(1); }, a_window},
            {Action::mark_saturated, [](App& a) { a.state_.mark_saturated = !a.marks_saturated(); }},
            {Action::pixel_size, [](App& a) { a.state_.scale.ask = true; }, a_source},
            {Action::change, show_change, a_source},
            {Action::baseline_picture, take_baseline_picture, a_source},
            {Action::open, [](App& a) { a.state_.open_dialog = true; }},
            {Action::save_traces, [](App& a) { a.session_.exports.save_traces(a.session_.events()); },
             [](const App& a) { return a.session_.exports.why_no_traces(); }},
            {Action::copy_traces, [](App& a) { a.traces_.copy(a.session_); }, traced},
            {Action::save_plot, [](App& a) { a.traces_.save_plot(a.session_); }, traced},
            film<Exports::Film::results>(Action::export_results),
            film<Exports::Film::change>(Action::export_change),
            film<Exports::Film::screen>(Action::export_screen),
            {Action::snapshot, [](App& a) { a.state_.snapshot = true; }, a_result},
            {Action::record, [](App& a) { a.session_.recordings.toggle(output_kind(RecordWhat::processed)); },
             a_source},
            {Action::record_raw, [](App& a) { a.session_.recordings.toggle(output_kind(RecordWhat::raw)); },
             a_source},
            {Action::record_traces, [](App& a) { a.session_.recordings.toggle(output_kind("traces")); },
             recordable},
            {Action::record_screen,
             [](App& a) { a.session_.recordings.toggle(output_kind(RecordWhat::screen)); }, a_source},
            {Action::report, [](App& a) { a.state_.report.ask = true; }, a_result},
            {Action::check_recording, [](App& a) { a.state_.check.ask = true; }, a_source},
            {Action::calibrate_camera, [](App& a) { a.calibrate_.ask = true; }},
            {Action::palette, [](App& a) { a.palette_.open(); }},
            {Action::menu, [](App& a) { a.menu_.open(); }},
            {Action::keys, [](App& a) { a.state_.keys_open = !a.state_.keys_open; }},
            {Action::controls, [](App& a) { a.walk_.next(); }},
            {Action::statistics, [](App& a) { a.session_.view().overlay = !a.session_.view().overlay; }},
            {Action::panel, [](App& a) { a.session_.view().panel = !a.session_.view().panel; }},
            {Action::full_screen, [](App& a) { a.window_.toggle_full_screen(); }},
            {Action::larger_text, [](App& a) { a.scale_interface(kScaleStep); }},
            {Action::smaller_text, [](App& a) { a.scale_interface(1 / kScaleStep); }},
            {Action::quit, [](App& a) { a.window_.request_close(); }},
            {Action::presets, [](App& a) { a.state_.presets_asked = a.session_.view().panel = true; }},
            {Action::acknowledge, [](App& a) { a.session_.acknowledge_alarms(); }, an_alarm},
            {Action::messages, [](App& a) { a.state_.messages_open = !a.state_.messages_open; }},
            {Action::monitor, [](App& a) { a.session_.view().monitor = !a.session_.view().monitor; }},
            {Action::traces, [](App& a) { a.toggle_traces(); }},
            {Action::baseline, [](App& a) { a.traces_.take_baseline(a.session_); }, traced},
            {Action::relative, [](App& a) { a.traces_.toggle_relative(a.session_); }, traced},
            {Action::intervals, [](App& a) { a.traces_.edit_intervals(a.session_); }, traced},
            {Action::delete_interval, [](App& a) { a.traces_.intervals().delete_chosen(a.session_); },
             [](const App& a) {
                 return std::string(a.traces_.intervals().chosen(a.session_) ? "" : "No interval is chosen.");
             }},
            {Action::response, [](App& a) { a.traces_.toggle_response(); }, traced},
            {Action::event, [](App& a) { a.session_.mark_event(); }, a_source},
            {Action::event_1, mark<1>, label<1>},
            {Action::event_2, mark<2>, label<2>},
            {Action::event_3, mark<3>, label<3>},
            {Action::event_4, mark<4>, label<4>},
            {Action::event_5, mark<5>, label<5>},
            {Action::event_6, mark<6>, label<6>},
            {Action::event_7, mark<7>, label<7>},
            {Action::event_8, mark<8>, label<8>},
            {Action::event_9, mark<9>, label<9>},
            {Action::follow, [](App& a) { a.traces_.follow(); }, traced},
            {Action::whole_run, [](App& a) { a.traces_.show_whole(); }, traced},
            {Action::whole_film,
             [](App& a) {
                 a.session_.view().traces = ViewSettings::Traces::shown;
                 a.traces_.toggle_whole_film(a.session_);
             },
             [](const App& a) { return TraceStrip::why_no_whole_film(a.session_); }},
            region<Action::select_tool>(),
            region<Action::rectangle_tool>(),
            region<Action::ellipse_tool>(),
            region<Action::line_tool>(),
            region<Action::polygon_tool>(),
            region<Action::freehand_tool>(),
            region<Action::next_region>(),
            region<Action::previous_region>(),
            region<Action::paste_region>(),
            region<Action::save_regions>(),
            region<Action::load_regions>(),
            region<Action::move_left>(),
            region<Action::move_right>(),
            region<Action::move_up>(),
            region<Action::move_down>(),
            region<Action::move_far_left>(),
            region<Action::move_far_right>(),
            region<Action::move_far_up>(),
            region<Action::move_far_down>(),
            region<Action::narrower>(),
            region<Action::wider>(),
            region<Action::lower>(),
            region<Action::higher>(),
            region<Action::delete_region>(),
            region<Action::rename_region>(),
            region<Action::recolour_region>(),
            region<Action::lock_region>(),
            region<Action::duplicate_region>(),
            region<Action::copy_region>(),
            region<Action::finish_shape>(),
            region<Action::drop_corner>(),
            region<Action::cancel>(),
        }};
        constexpr auto in_order = [] {
            for (std::size_t i = 0; i < kActions; ++i)
                if (static_cast<std::size_t>(kRows[i].action) != i)
                    return false;
            return true;
        };
        static_assert(in_order(), "a row for each action, in the order of their declaration");
        return kRows[static_cast<std::size_t>(action)];
    }
};

std::string App::why_not(Action action) const { return Actions::row(action).why_not(*this); }
void App::run(Action action) { Actions::row(action).run(*this); }

void App::run_in(const std::string& folder, Action action) {
    const bool asked = state_.regions.file.ask != RegionFileField::Ask::nothing;
    const struct Lent {
        std::string& folder;
        const std::string own;
        ~Lent() { folder = own; }
    } lent{session_.recordings.folder, std::exchange(session_.recordings.folder, folder)};
    run(action);
    if (std::exchange(state_.report.ask, false)) // without asking the user to fill in the form
        session_.report(display_.host_result());
    keep_pictures(); // now, while this folder is current
    if (!asked && state_.regions.file.ask != RegionFileField::Ask::nothing)
        state_.regions.file.folder = folder;
}

/// 0: one screen pixel per image pixel.
void App::zoom_by(double factor) {
    const Rect& area = layout_.shows_processed ? layout_.processed_frame : layout_.raw_frame;
    const Shape placed = display_.placed_shape(!layout_.shows_processed);
    if (factor == 0)
        state_.camera.set_scale(area, placed, 1 / window_.ratio());
    else
        state_.camera.zoom(area, placed, area.x + area.width / 2, area.y + area.height / 2, factor);
}

/// Reason why there is no divider or threshold to move (`across`), or no opacity; empty: there is one.
std::string App::why_not_layers(bool across) const {
    using Shown = ViewSettings::Layout;
    const Shown shown = session_.settings().view.as<ViewSettings>().layout;
    if (shown == Shown::blended || (across && shown == Shown::split))
        return "";
    return across ? "Neither a divider nor a blend is shown." : "No blend is shown.";
}

/// Moves the divider of a split view, or the threshold (across) and opacity (up) of a blend.
void App::move_layers(double across, double up) {
    ViewSettings& view = session_.view();
    const auto move = [](double& value, double by) { value = std::clamp(value + by, 0.0, 1.0); };
    if (view.layout == ViewSettings::Layout::split) {
        move(view.split, across);
    } else {
        move(view.blend.threshold, across);
        move(view.blend.opacity, up);
    }
}

void App::expose_by(double stops) {
    double& now = session_.view().mapping.exposure_stops;
    const ParamDecl& decl = view_table().at("exposure_stops");
    now = std::clamp(now + stops, decl.min, decl.max);
}

std::optional<std::size_t> App::first_window() const {
    const std::vector<ChainStage>& stages = session_.chain().stages();
    for (std::size_t i = 0; i < stages.size(); ++i)
        if (const ParamDecl* decl = stages[i].params.table().find("radius");
            decl && decl->kind == ParamKind::integer && stages[i].params.visible(*decl) &&
            !stages[i].bypassed)
            return i;
    return std::nullopt;
}

void App::widen_first_window(int step) {
    const std::size_t index = first_window().value();
    const ChainStage& stage = session_.chain().stages()[index];
    const ParamDecl& decl = stage.params.table().at("radius");
    const auto now = static_cast<double>(std::get<std::int64_t>(stage.params.get("radius")));
    const double next = std::clamp(now + step, decl.min, decl.max);
    if (next != now)
        session_.edit(index, "radius", static_cast<std::int64_t>(next));
}

void App::scale_interface(double factor) {
    const ParamDecl& decl = view_table().at("ui_scale");
    double& wanted = session_.view().ui_scale;
    const double now = window_.scale();
    if (factor > 1 && wanted > now)
        return session_.say(Message::Level::info, "The window has no room for larger text.");
    wanted = std::clamp(std::round(now * factor * 100) / 100, Window::kLeastScale, decl.max);
}

/// The edits, newest first, each of which can be returned to.
void App::add_history_entries(std::vector<PaletteEntry>& entries) {
    const UndoHistory& history = session_.history();
    for (std::size_t i = history.entries().size(); i-- > 0;) {
        const std::string& edit = history.entries()[i].edit;
        entries.push_back({kHistory, edit.empty() ? "The state at the start" : edit, "history",
                           i == history.at()  ? "now"
                           : i > history.at() ? "undone"
                                              : "",
                           "", [this, i] { (void)session_.go_to(i); }});
    }
}

/// Adds the actions of a click on an event's label, for the newest events.
void App::add_event_entries(std::vector<PaletteEntry>& entries) {
    constexpr std::size_t kMost = 20;
    const std::vector<TimedEvent>& all = session_.events().events();
    for (std::size_t i = all.size(); i > 0 && all.size() - i < kMost; --i) {
        const EventMark& event = all[i - 1].mark;
        const std::string which = event.label + " at frame " + std::to_string(all[i - 1].frame);
        entries.push_back({"Event", "Rename " + which, "rename_event", "", "", [this, event] {
                               session_.view().traces = ViewSettings::Traces::shown;
                               traces_.ask_label(event);
                           }});
        entries.push_back({"Event", "Remove " + which, "remove_event", "", "",
                           [this, number = event.number] { session_.remove_event(number); }});
    }
}

std::vector<PaletteEntry> App::palette_entries() {
    std::vector<PaletteEntry> entries;
    for (const ActionInfo& action : actions()) {
        const std::string menu(action.menu);
        entries.push_back({menu.empty() ? "Action" : menu.substr(menu.rfind('/') + 1),
                           std::string(action.words), std::string(action.name),
                           keys_text(session_.settings().keys, action.action), why_not(action.action),
                           [this, what = action.action] { run(what); }, menu});
        if (action.action == Action::open)
            add_source_entries(session_, entries);
    }
    entries.push_back({"Help", "About Specklescope: version and libraries", "about", "", "",
                       [this] { state_.keys_open = state_.about_asked = true; }, "Help"});
    add_event_entries(entries);
    add_history_entries(entries);
    add_chain_entries(session_, entries);
    add_preset_entries(session_, entries);
    return entries;
}

} // namespace specklescope
