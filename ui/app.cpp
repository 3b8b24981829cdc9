#include "ui/app.hpp"

#include "base/long_work.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "config/in_turn.hpp"
#include "config/last_window.hpp"
#include "config/start.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/ending.hpp"
#include "ui/panels/alarm_bar.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"
#include "ui/panels/transport.hpp"
#include "ui/regions/region_panel.hpp"
#include "ui/ui.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using theme::dp;

constexpr double kIdle = 0.25;   ///< s between drawings without events, to update the statistics
constexpr auto kQuiet = 3s;      ///< after which banners and messages no longer change by themselves
constexpr int kSettleFrames = 3; ///< Dear ImGui responds to an input during the next two frames
constexpr auto kStatsEvery = 200ms;
constexpr auto kLast = 700ms; ///< time after the last result to draw its range, histogram and statistics
constexpr double kTall = 1.2; ///< height per width from which the controls are below the picture
constexpr double kLeastShare = 0.3; ///< of the window, for the picture; with less, no traces unless asked for

/// The room that picture, panel and traces share.
struct Middle {
    double width = 0, height = 0;
    bool below = false; ///< the panel is below the picture
};
struct Around {
    double panel = 0, traces = 0; ///< sizes
};

double picture_width(const Middle& all, const Around& around) {
    return std::max(1.0, all.width - (all.below ? 0 : around.panel));
}
double picture_height(const Middle& all, const Around& around) {
    return std::max(1.0, all.height - around.traces - (all.below ? around.panel : 0));
}

/// In a small window first the traces, then the panel shrink, until the picture has 480×360 dp.
Around shrunk(const Middle& all, Around around) {
    const double least = 480 * 360 * std::pow(dp(1), 2), least_traces = dp(120), least_panel = dp(210);
    const auto shrink = [](double size, double by, double to) {
        return std::max(std::min(size, to), size - std::max(0.0, by));
    };
    around.traces =
        shrink(around.traces, least / picture_width(all, around) - picture_height(all, around), least_traces);
    const double missing = all.below ? least / picture_width(all, around) - picture_height(all, around)
                                     : least / picture_height(all, around) - picture_width(all, around);
    around.panel = shrink(around.panel, missing, least_panel);
    return around;
}

} // namespace

App::App(Session& session, Window& window) : session_(session), window_(window) {
    state_.change = session.picture_baseline.asked();
    if (!window.note().empty())
        session.say(Message::Level::warning, window.note());
    if (RequestServer::wanted(session.settings()))
        requests_.emplace(session, static_cast<RequestFront&>(*this), wake_window);
}

std::optional<Result> App::newest(bool pixels) {
    if (!display_.has_result())
        return std::nullopt;
    return pixels ? display_.host_result() : display_.result();
}

void App::act(Action action, const std::string& folder) {
    const std::string why = why_not(action);
    if (!why.empty())
        throw UsageError("That is not possible now: " + why);
    if (folder.empty())
        return run(action);
    run_in(folder, action);
}

void App::run(bool ends_by_itself) {
    int redraw = kSettleFrames;
    auto stirred = SteadyClock::now() - 1s;
    bool over = false;
    auto over_since = stirred;
    while (!leaves() && !InterruptGuard::interrupted() &&
           (!over || redraw > 0 || SteadyClock::now() - over_since < kLast)) {
        const auto waits = SteadyClock::now();
        if (window_.wait(redraw > 0 || fading_ ? 0 : kIdle))
            redraw = kSettleFrames;
        if (redraw > 0 || SteadyClock::now() - waits < kIdle * 0.9s) // also woken by another thread
            stirred = SteadyClock::now();
        if (session_.view().vsync)
            std::this_thread::sleep_until(window_.due());
        window_.start_work();
        const bool news = session_.poll();
        if (!std::exchange(
                over, ends_by_itself &&
                          session_.over(requests_.has_value()))) // no result arrives after this point;
                                                                 // take_result() below takes the last one
            over_since = SteadyClock::now();
        const bool taken = take_result();
        if (take_second() || taken || news)
            redraw = std::max(redraw, 1);
        else if (SteadyClock::now() - stirred > kQuiet && resting())
            continue;
        frame();
        redraw = std::max(0, redraw - 1);
    }
}

/// True if the next drawing would be the same as the last one, unless something happens.
bool App::resting() const {
    const Pipeline* pipeline = session_.pipeline();
    return pipeline && (pipeline->paused() || has_ended(session_)) && !session_.opening() &&
           session_.recordings.running().empty() && !ImGui::GetIO().WantTextInput &&
           output_of(session_.settings(), "window_movie").empty();
}

/// The window was closed. While something is recorded, the user is asked first.
bool App::leaves() {
    if (!window_.closed())
        return false;
    const bool unattended = session_.settings().program.as<ProgramSettings>().offscreen;
    if (leaves_ || unattended || session_.recordings.running().empty())
        return true;
    window_.keep_open();
    state_.leave_asked = true;
    return false;
}

bool App::write_last() const {
    const Settings& settings = session_.settings();
    const std::string snapshot = output_of(settings, "snapshot");
    if (snapshot.empty())
        return true;
    if (!session_.pipeline() || !display_.has_result()) {
        spdlog::error("There is no image to save as '{}'.", one_line(snapshot));
        return false;
    }
    try {
        const std::string path =
            write_last_snapshot(settings, display_.host_result(), session_.pipeline()->stream());
        spdlog::info("Snapshot saved as {}.", one_line(path));
        return true;
    } catch (const Error& error) {
        spdlog::error("{}", error.what());
        return false;
    }
}

bool App::take_result() {
    if (session_.generation() != generation_) {
        generation_ = session_.generation();
        if (session_.restored())
            range_subject_ = {};
        display_.clear();
        state_.histogram.clear();
        state_.camera.fit();
        const std::string name = session_.pipeline()->status().source.name;
        window_.set_title(name + " – Specklescope");
    }
    Result result;
    if (!session_.pipeline() || !session_.pipeline()->mailbox().take(result))
        return false;
    free_range(result.quantity);
    if (result.repeated)
        session_.traces().push(result);
    display_.show(*session_.pipeline(), std::move(result), layout_.shows_raw, layout_.shows_processed);
    return true;
}

bool App::take_second() {
    Pipeline* const pipeline = session_.comparison.pipeline();
    if (!pipeline) {
        second_.reset();
        return false;
    }
    std::optional<Result> result = session_.comparison.take();
    if (!result)
        return false;
    if (!second_)
        second_.emplace();
    second_->show(*pipeline, std::move(*result), layout_.shows_raw, layout_.shows_processed);
    return true;
}

/// Returns a fixed range to automatic when the source or quantity changes, since its numbers no longer
/// apply.
void App::free_range(const Quantity& quantity) {
    if (std::string& awaited = session_.range_for; !awaited.empty()) {
        if (quantity.name != awaited && session_.chain().displayed_quantity().name == awaited)
            return; // result of the previous chain
        if (quantity.name == awaited)
            range_subject_ = {};
        awaited.clear();
    }
    std::string text = release_range(session_.view().mapping, range_subject_,
                                     {session_.settings().source.shown(), quantity.name});
    if (!text.empty()) {
        session_.range_released();
        monitor_.range_released();
        session_.say(Message::Level::info, std::move(text));
    }
}

bool App::edits_pending() const {
    const auto& down = ImGui::GetIO().KeysDown;
    return ImGui::IsAnyItemActive() || session_.regions.dragging() ||
           std::any_of(std::begin(down), std::end(down), [](bool held) { return held; });
}

/// Monitor mode shows only image, colour bar and values.
App::Layout App::arrange_monitor() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const ViewSettings& view = session_.view();
    const bool colour = display_.has_result() && display_.processed_shape().channels == 3;
    Layout l;
    l.shows_raw = view.layout == ViewSettings::Layout::raw;
    l.shows_processed = !l.shows_raw;
    monitor_layout_ = monitor_layout(size.x, size.y, Monitor::bar_height(),
                                     l.shows_processed && !colour ? color_bar_width() : 0);
    l.tools = monitor_layout_.bar;
    l.canvas = monitor_layout_.canvas;
    l.bar = monitor_layout_.color_bar;
    l.shows_panel = false;
    place_pictures(l);
    return l;
}

/// Height of the picture in this width.
double App::picture_needs(double width) const {
    if (!display_.has_result() || second_ || session_.view().layout == ViewSettings::Layout::side_by_side)
        return std::numeric_limits<double>::max();
    const Shape shape = display_.placed_shape(session_.view().layout == ViewSettings::Layout::raw);
    return width * shape.height / std::max(1, shape.width);
}

App::Layout App::arrange() {
    if (session_.view().monitor)
        return arrange_monitor();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const double tools = dp(46), status = dp(30);
    const ViewSettings& view = session_.settings().view.as<ViewSettings>();
    Layout l;
    l.shows_panel = view.panel;
    const double height = std::max(1.0, size.y - tools - status);
    l.panel_below = height > kTall * size.x;
    const bool colour = display_.has_result() && display_.processed_shape().channels == 3;
    l.split = view.layout == ViewSettings::Layout::split;
    l.blended = view.layout == ViewSettings::Layout::blended && !display_.moved() && !colour;
    l.shows_raw = view.layout == ViewSettings::Layout::raw ||
                  view.layout == ViewSettings::Layout::side_by_side || l.blended ||
                  (l.split && !shows_change());
    l.shows_processed = view.layout != ViewSettings::Layout::raw;
    const double bar = l.shows_processed && !colour ? color_bar_width() : 0;
    const double strip = l.shows_panel ? region_bar_width() : 0; // next to the picture, not on it
    const double most = l.panel_below ? height * 0.45 : size.x * 0.42;
    Around wanted;
    wanted.panel = l.shows_panel ? std::min<double>(dp(static_cast<float>(view.panel_size)), most) : 0;
    double film = transport_height(session_, size.x - (l.panel_below ? 0 : wanted.panel));
    const Middle middle{size.x - bar - strip, height - film, l.panel_below};
    l.shows_traces = shows_traces();
    const double strip_height = l.shows_traces ? dp(static_cast<float>(view.traces_size)) : 0;
    if (l.shows_panel && l.panel_below && view.panel_size == ViewSettings().panel_size) // takes what is left
        wanted.panel =
            std::clamp(middle.height - strip_height - picture_needs(middle.width), wanted.panel, most);
    Around around = shrunk(middle, wanted);
    if (l.shows_traces) {
        const double whole = middle.height - (l.panel_below ? wanted.panel : 0);
        const Around both = shrunk(middle, {wanted.panel, std::min(strip_height, whole * 0.6)});
        l.shows_traces =
            view.traces == ViewSettings::Traces::shown ||
            picture_width(middle, both) * picture_height(middle, both) >= kLeastShare * size.x * size.y;
        around = l.shows_traces ? both : around;
    }
    const double traces = around.traces, right = l.panel_below ? 0 : around.panel,
                 below = l.panel_below ? around.panel : 0;
    film = transport_height(session_, size.x - right); // wider, it is lower
    l.tools = {0, 0, size.x, tools};
    l.status = {0, size.y - status, size.x, status};
    l.panel = l.panel_below ? Rect{0, tools + height - below, size.x, below}
                            : Rect{size.x - right, tools, right, height};
    const double whole = std::max(1.0, height - below);
    l.traces = {0, tools + whole - traces, std::max(1.0, size.x - right), traces};
    l.film = {0, tools + whole - traces - film, std::max(1.0, size.x - right), film};
    l.region_tools = {0, tools, strip, std::max(1.0, whole - traces - film)};
    l.canvas = {strip, tools, std::max(1.0, size.x - right - bar - strip), l.region_tools.height};
    l.bar = {l.canvas.x + l.canvas.width, tools, bar, l.canvas.height};
    place_pictures(l);
    return l;
}

/// Shown unless the user has chosen, if there is something to trace.
bool App::shows_traces() const {
    using Traces = ViewSettings::Traces;
    const Traces wanted = session_.view().traces;
    return wanted == Traces::shown ||
           (wanted == Traces::automatic && (traces_.has_regions() || session_.traces_wanted()));
}

void App::toggle_traces() {
    using Traces = ViewSettings::Traces;
    session_.view().traces = layout_.shows_traces ? Traces::hidden : Traces::shown;
}

void App::frame() {
    window_.set_scale(session_.view().ui_scale);
    window_.set_theme(session_.view().theme);
    walk_.begin_frame(!page_open() && ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup));
    window_.begin_frame();
    follow(state_.film, session_, display_.has_result() ? &display_.result() : nullptr);
    if (display_.has_result())
        session_.comparison.follow(display_.result().info);
    traces_.update(session_);
    monitor_.update(session_, display_.has_result(), generation_);
    handle_input();
    if (requests_)
        requests_->poll();
    layout_ = arrange();
    grey_ = why_grey();
    if (Pipeline* pipeline = session_.pipeline()) {
        display_.set_baseline(layout_.change.width > 0 ? session_.picture_baseline.image() : nullptr);
        display_.look(*pipeline, layout_.shows_raw, layout_.shows_processed);
        if (display_.has_result())
            session_.picture_baseline.compare(display_.result(), session_.traces(), session_.baseline);
        if (SteadyClock::now() - stats_read_ > kStatsEvery) {
            stats_ = pipeline->stats();
            stats_read_ = SteadyClock::now();
        }
    }
    if (Pipeline* pipeline = session_.comparison.pipeline(); pipeline && second_) {
        second_->look(*pipeline, layout_.shows_raw, layout_.shows_processed);
        second_->update_range(second_mapping_);
    }
    if (session_.compared().empty()) // both are shown with the same range
        display_.update_range(session_.view().mapping);
    state_.histogram.update(display_, layout_.bar.width > 0 || state_.histogram.open(),
                            layout_.change.width > 0, layout_.only_change());
    if (layout_.shows_raw || state_.histogram.open())
        display_.update_raw_range();
    tell_look();
    state_.marks_saturated = marks_saturated();
    canvas_window(layout_);
    if (session_.view().monitor)
        draw_monitor();
    else
        draw_around();
    if (std::exchange(state_.toggle_traces, false))
        toggle_traces();
    if (asks_for_field())
        window_.wait_for_field();
    open_.draw(session_, state_);
    draw_region_files(session_, state_.regions.file, state_.confirm, state_.dismiss);
    state_.scale.draw(session_, state_.confirm, state_.dismiss);
    if (state_.report.draw(session_, {state_.confirm, state_.confirm_all, state_.dismiss}) &&
        display_.has_result())
        session_.report(display_.host_result());
    state_.check.draw(session_, state_.confirm, state_.dismiss);
    calibrate_.draw(session_, state_);
    if (std::optional<std::string> folder = state_.folder.draw(state_.confirm, state_.dismiss))
        session_.recordings.folder = std::move(*folder);
    draw_open_error(session_, state_);
    draw_keys(&state_.keys_open, std::exchange(state_.about_asked, false), session_.settings().keys);
    draw_messages(&state_.messages_open, session_);
    if (draw_leave(session_, state_))
        quit();
    palette_.draw([this] { return palette_entries(); }, state_.confirm, state_.dismiss);
    keep_pictures();
    if (!edits_pending())
        session_.record_edits();
    if (const std::optional<std::string> dropped = take_drop();
        dropped && !take_region_file(*dropped, session_))
        open_dropped(*dropped);
    report();
    window_.end_frame([](void* self) { static_cast<App*>(self)->draw_pictures(); }, this);
    count_presented();
    if (const Mapping& mapping = session_.view().mapping; window_.hand() && display_.has_result())
        window_.hand()->presented(display_.result().info, display_.processed().uploads(),
                                  mapping.exposure_stops, mapping.low, mapping.high);
    probe::end_frame();
}

/// The delay to the screen is measured only where it is displayed or written.
void App::count_presented() {
    const bool timed = session_.view().overlay || !output_of(session_.settings(), "stats").empty();
    if (Pipeline* pipeline = session_.pipeline(); pipeline && generation_ == session_.generation())
        display_.presented(*pipeline, timed);
    if (Pipeline* pipeline = session_.comparison.pipeline(); pipeline && second_)
        second_->presented(*pipeline, timed);
}

/// The bars and controls around the picture.
void App::draw_around() {
    draw_transport(layout_.film, session_, state_.film, traces_.intervals());
    draw_tool_bar(layout_.tools, session_, state_, display_,
                  [this](bool one) { menu_.draw(one, [this] { return palette_entries(); }); });
    draw_status_bar(layout_.status, session_, state_, hover_, display_, zoom());
    if (layout_.shows_traces)
        traces_.draw(layout_.traces, session_, state_.regions.numbers);
    if (layout_.shows_panel) {
        draw_region_bar(layout_.region_tools, state_.regions, session_.settings().keys);
        draw_panel(layout_.panel, session_, state_, display_);
        panel_edge(layout_);
    } else {
        state_.histogram.hide();
    }
}

void App::draw_monitor() {
    state_.histogram.hide();
    monitor_.draw_readouts(monitor_layout_, session_);
    switch (monitor_.draw_bar(monitor_layout_.bar, session_)) {
    case MonitorAsk::leave:
        return run(Action::monitor);
    case MonitorAsk::range:
        return run(Action::automatic_range);
    case MonitorAsk::record:
        return session_.recordings.running().empty() ? run(Action::record) : session_.recordings.end_all();
    case MonitorAsk::snapshot:
        return run(Action::snapshot);
    case MonitorAsk::event:
        return run(Action::event);
    case MonitorAsk::messages:
        return run(Action::messages);
    case MonitorAsk::nothing:
        return;
    }
}

void App::keep_pictures() {
    if (std::exchange(state_.snapshot, false) && display_.has_result())
        session_.recordings.snapshot(display_.host_result());
}

void App::open_dropped(const std::string& path) {
    try {
        session_.open(file_source(path));
    } catch (const UsageError& error) {
        session_.say(Message::Level::error, error.what());
    }
}

ToneCurve App::shown_curve() const {
    const Result& result = display_.result();
    return curve_in_effect(session_.settings().view.as<ViewSettings>().mapping, result.shape().channels,
                           is_picture(result.info, result.quantity));
}

void App::report() const {
    if (!probe::enabled())
        return;
    const Mapping& mapping = session_.settings().view.as<ViewSettings>().mapping;
    probe::value("low", mapping.low);
    probe::value("high", mapping.high);
    probe::value("automatic", mapping.automatic ? 1.0 : 0.0);
    probe::value("colormap",
                 view_table().at("colormap").choices[static_cast<std::size_t>(shown_mapping().colormap)]);
    probe::value("layout", view_table().at("layout").choices[static_cast<std::size_t>(
                               session_.settings().view.as<ViewSettings>().layout)]);
    const UndoHistory& history = session_.history();
    probe::value("history.at", static_cast<double>(history.at()));
    probe::value("history.edit", history.entries().empty() ? "" : history.entries()[history.at()].edit);
    probe::value("path", display_.path());
    probe::value("icons", window_.icons());
    probe::value("folder", session_.recordings.folder);
    probe::value("typing", ImGui::GetIO().WantTextInput ? 1.0 : 0.0);
    probe::value("hover.x", hover_.inside ? hover_.x : -1);
    probe::value("hover.y", hover_.inside ? hover_.y : -1);
    probe::value("hover.raw", hover_.raw.value_or(NAN));
    probe::value("hover.value", hover_.value.value_or(NAN));
    report_regions(session_, state_.regions);
    probe::value("traces.shown", layout_.shows_traces ? 1.0 : 0.0);
    traces_.report();
    probe::value("displayed", static_cast<double>(stats_.frames.displayed));
    if (!display_.has_result())
        return;
    probe::value("assumed",
                 rests_on_assumption(display_.result().quantity, display_.result().exposure) ? 1.0 : 0.0);
    probe::value("channel", grey_channel_of(display_.result()));
    probe::value("chain", to_string(*display_.result().chain));
    probe::value("sequence", static_cast<double>(display_.result().info.sequence));
    report_second();
    const Camera::Placement at = placement(layout_, false);
    probe::value("image.x", at.x);
    probe::value("image.y", at.y);
    probe::value("image.scale", at.scale);
    probe::value("zoom", zoom());
    const ViewSettings& view = session_.settings().view.as<ViewSettings>();
    probe::value("blend.opacity", view.blend.opacity);
    probe::value("blend.threshold", view.blend.threshold);
    probe::value("change.shown", display_.has_change() ? 1.0 : 0.0);
    probe::value("change.range", view.change_range);
    probe::value("change.progress", session_.picture_baseline.progress().value_or(NAN));
    probe::value("hover.change", hover_.change.value_or(NAN));
    probe::value("scale.um_per_px", um_per_px({display_, layout_}, false));
}

/// The film that the session's is compared with.
void App::report_second() const {
    probe::value("second.title", session_.comparison.title());
    probe::value("second.own_title", session_.comparison.own_title());
    const std::vector<Side> all = sides(layout_);
    if (all.size() < 2)
        return;
    const Side& side = all.back();
    const Result& result = side.display.result();
    const Camera::Placement at = placement(side, false);
    const ValueRange range = range_of(side);
    probe::value("second.position", static_cast<double>(result.info.position.value_or(0)));
    probe::value("second.chain", to_string(*result.chain));
    probe::value("second.raw", hover_.second_raw.value_or(NAN));
    probe::value("second.value", hover_.second.value_or(NAN));
    probe::value("second.low", range.low);
    probe::value("second.high", range.high);
    probe::value("second.x", at.x - side.at.processed_frame.x);
    probe::value("second.y", at.y - side.at.processed_frame.y);
    probe::value("second.scale", at.scale);
    if (result.regions && !result.regions->statistics.empty())
        probe::value("second.mean.0", result.regions->statistics[0].mean);
}

int run_viewer(Settings settings) {
    const bool offscreen = settings.program.as<ProgramSettings>().offscreen;
    std::string reason;
    if (!offscreen && !display_available(&reason))
        throw RunError(
            "No window can be opened: " + reason +
            "; 'specklescope run' works without one, and --offscreen draws one without a display.");
    if (!settings.source_remembered)
        ask_for_secrets(settings.source);
    settings = each_in_turn(settings).front(); // names of the files
    prepare_streams(settings);
    check_output_files(settings);
    const InterruptGuard guard; // Ctrl-C closes the window and finishes the recordings
    WindowFiles files(settings);
    Session session(std::move(settings));
    std::optional<Window> window;
    if (offscreen) // before a file is created
        window.emplace(session.view(), true);
    {
        Progress progress(0, session.settings().program.as<ProgramSettings>().log ==
                                 ProgramSettings::Log::quiet);
        const WatchWork watch([&](std::string_view what, double part) {
            progress.preparing(what, part);
            return !InterruptGuard::interrupted();
        });
        session.start(wake_window);
        progress.clear();
    }
    Ending ending(session, files);
    for (const std::string& remark : session.settings().remarks)
        session.say(Message::Level::info, remark);
    bool well = true;
    {
        if (window)
            spdlog::info("Drawn offscreen by {}, {}×{} pixels.", window->renderer(), session.view().width,
                         session.view().height);
        else
            window.emplace(session.view());
        window->on_drawn = [&](SurfaceSize size) { files.drawn(size); };
        App app(session, *window);
        const bool ends = ends_by_itself(session.settings());
        app.run(ends);
        if (files.wants_last()) {
            files.expect_last();
            app.draw();
        }
        well = app.write_last() && !(ends && session.failed());
        session.recordings.end_all(); // recordings that the window must wait for
        window->size(session.view().width, session.view().height);
    }
    window.reset();
    session.settings().chain = session.running_chain();
    session.settings().regions = session.regions.regions();
    session.settings().intervals = session.settings_now().intervals;
    well = ending.finish() && well;
    save_remembered(session.settings());
    if (session.settings().remember)
        save_recent({session.recent().begin(), session.recent().end()});
    return well ? 0 : 1;
}

} // namespace specklescope
