#include "ui/traces/strip.hpp"

#include "base/error.hpp"
#include "config/numbers.hpp"
#include "session/session.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/actions/key_words.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_drawing.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr double kNotRelative = std::numeric_limits<double>::quiet_NaN();
constexpr double kFirstStretch_s = 10;
constexpr double kZoomStep = 1.25; ///< a notch of the wheel
constexpr std::array<std::pair<const char*, double>, 8> kStretches = {{{"last 1 s", 1},
                                                                       {"last 5 s", 5},
                                                                       {"last 10 s", 10},
                                                                       {"last 30 s", 30},
                                                                       {"last minute", 60},
                                                                       {"last 5 min", 300},
                                                                       {"last 15 min", 900},
                                                                       {"last hour", 3600}}};

float width_of(const char* text) {
    return ImGui::CalcTextSize(text).x + 2 * ImGui::GetStyle().FramePadding.x;
}

struct Part {
    float width;
    std::function<void()> draw;
};

/// Draws the parts in one row; those without room are in a list that opens at its end. Returns the lower
/// edge.
float draw_row(const std::vector<Part>& parts) {
    const float gap = dp(6), more = width_of("»");
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    float x = ImGui::GetCursorScreenPos().x;
    std::size_t shown = 0;
    for (; shown < parts.size(); ++shown) {
        const float after = shown + 1 < parts.size() ? gap + more : 0;
        if (shown > 0 && x + parts[shown].width + after > right)
            break;
        if (shown > 0)
            ImGui::SameLine(0, gap);
        parts[shown].draw();
        x += parts[shown].width + gap;
    }
    if (shown < parts.size()) {
        ImGui::SameLine(0, gap);
        if (tool_button("»"))
            ImGui::OpenPopup("more");
        probe::item("traces.more");
        tooltip("The other buttons of the traces.");
    }
    const float bottom = ImGui::GetItemRectMax().y;
    if (ImGui::BeginPopup("more")) {
        close_on_escape();
        for (; shown < parts.size(); ++shown)
            parts[shown].draw();
        ImGui::EndPopup();
    }
    return bottom;
}

std::string stretch_name(const TraceView& view) {
    if (view.mode() == TraceView::Mode::held)
        return "held";
    if (view.mode() == TraceView::Mode::whole)
        return "whole run";
    for (const auto& [name, seconds] : kStretches)
        if (seconds == view.seconds())
            return name;
    return "last " + number_text(view.seconds(), 3) + " s";
}

/// Colour as on the picture; by index for a region that was renamed there.
ImU32 colour_of(const std::vector<Region>& regions, std::size_t index, const std::string& name) {
    if (index < regions.size() && regions[index].name == name)
        return region_colour_value(regions[index], index);
    for (std::size_t i = 0; i < regions.size(); ++i)
        if (regions[i].name == name)
            return region_colour_value(regions[i], i);
    return region_colour_value({}, index);
}

/// Drags the border above the strip.
void edge(const Rect& area, double& size) {
    const float high = dp(8);
    ImGui::SetNextWindowPos(theme::point(area.x, area.y - high / 2));
    ImGui::SetNextWindowSize({static_cast<float>(area.width), high});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin("##traces edge", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleVar(2);
    ImGui::InvisibleButton("edge", {static_cast<float>(area.width), high});
    probe::item("traces.edge");
    tooltip("Drag to change the height of the traces.");
    if (ImGui::IsItemHovered() || ImGui::IsItemActive())
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsItemActive()) {
        const ParamDecl& decl = view_table().at("traces_size");
        size = std::clamp(std::round((area.y + area.height - ImGui::GetIO().MousePos.y) / dp(1)), decl.min,
                          decl.max);
    }
    ImGui::End();
}

} // namespace

void TraceStrip::update(Session& session) {
    about_ = session.traces().overview();
    if (std::exchange(quantity_, about_.quantity) != about_.quantity)
        fixed_.reset(); // belonged to other values
    if (about_.film && (!film_axis_ || *film_axis_ != about_.axis))
        view_.show_whole(); // a film has an end
    else if (!about_.film && film_axis_)
        view_.follow(kFirstStretch_s);
    film_axis_ = about_.film ? std::optional(about_.axis) : std::nullopt;
    end_ns_ = end_ns(session);
    view_.set_run(about_.first_ns, end_ns_, about_.newest && about_.film ? about_.newest->time_ns : end_ns_);
    session.baseline.follow(session.traces(), about_, session.intervals);
    intervals_.update(session);
    intervals_.report(session.intervals);
}

void TraceStrip::edit_intervals(Session& session) {
    session.view().traces = ViewSettings::Traces::shown;
    intervals_.edit();
}

/// The last frame of a film, as far as it is known how many there are; otherwise the newest.
std::int64_t TraceStrip::end_ns(const Session& session) const {
    if (!about_.film || !session.pipeline())
        return about_.last_ns;
    const SourceInfo source = session.pipeline()->status().source;
    const double rate = !timed() ? 1 : source.rate;
    if (source.length < 2 || !(rate > 0))
        return about_.last_ns;
    const double end = static_cast<double>(source.length - 1) / rate;
    return std::max(about_.last_ns, static_cast<std::int64_t>(std::min(end, TraceView::kLongest) * 1e9));
}

void TraceStrip::follow() {
    if (view_.mode() != TraceView::Mode::last)
        view_.follow();
}

void TraceStrip::show_whole() {
    view_.show_whole();
    view_.set_run(about_.first_ns, end_ns_, end_ns_);
}

std::string TraceStrip::why_no_whole_film(const Session& session) {
    if (session.whole_film.running())
        return "";
    const std::string why = session.whole_film.why_not();
    return !why.empty() || session.traces_wanted() ? why : "There are no regions to measure. Draw one first.";
}

void TraceStrip::toggle_whole_film(Session& session) {
    if (session.whole_film.running())
        return session.whole_film.cancel();
    if (const std::string why = why_no_whole_film(session); !why.empty())
        return session.say(Message::Level::warning, why);
    try {
        session.whole_film.start();
        show_whole();
    } catch (const std::exception& error) { // the film may be gone
        session.say(Message::Level::error, sentence_of(error));
    }
}

void TraceStrip::whole_film_button(Session& session, float width) {
    const bool runs = session.whole_film.running();
    const WholeFilm::Progress progress = session.whole_film.progress();
    const std::string percent = std::to_string(static_cast<int>(100 * progress.part())) + " %";
    const std::string text = runs ? "Cancel " + percent : "Whole film";
    if (tool_button((text + "##whole film").c_str(), false, width))
        toggle_whole_film(session);
    probe::item("traces.whole_film");
    if (runs) {
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float reached = low.x + (high.x - low.x) * static_cast<float>(progress.part());
        ImGui::GetWindowDrawList()->AddRectFilled({low.x, high.y - dp(3)}, {reached, high.y}, theme::kAccent,
                                                  dp(1.5F));
    }
    const std::string of = progress.total > 0 ? " of " + count_text(progress.total) : "";
    tooltip(with_key(runs ? "The whole film is being processed: " + count_text(progress.frames) + of +
                                " frames. Click to cancel"
                          : std::string("Measure the regions in every frame of the film, in the background"),
                     session.settings().keys, Action::whole_film));
}

bool TraceStrip::timed() const { return !about_.newest || about_.newest->timed; }

void TraceStrip::take_baseline(Session& session) {
    if (!timed()) {
        session.say(
            Message::Level::warning,
            "A baseline in seconds needs times, and the frame rate of this source is unknown. Set its rate.");
        return;
    }
    const double seconds = session.view().baseline_s;
    if (!session.baseline.take(session.traces(), seconds, session.intervals)) {
        session.say(Message::Level::warning,
                    has_regions() ? "No region has a value yet."
                                  : "There are no regions. Draw one on the image, or use --regions FILE.");
        return;
    }
    const TraceMeans& means = *session.baseline.taken();
    const double taken = static_cast<double>(means.to.time_ns - means.from.time_ns) * 1e-9;
    session.say(Message::Level::info, "Baseline F₀ taken over " + count_text(means.frames) + " frames, " +
                                          number_text(taken, 3) + " s.");
}

void TraceStrip::toggle_relative(Session& session) {
    if (!relative_ && !session.baseline.taken())
        take_baseline(session);
    relative_ = !relative_ && session.baseline.taken();
    fixed_.reset(); // belonged to other values
}

void TraceStrip::stretch_choice(Session& session, float width) {
    const std::string name = stretch_name(view_);
    ImGui::SetNextItemWidth(width);
    const bool open = ImGui::BeginCombo("##stretch", name.c_str());
    probe::item("traces.stretch");
    if (!open)
        return tooltip(
            with_key("Displayed time. Wheel zooms, drag moves, double click fits; or the whole run",
                     session.settings().keys, Action::whole_run));
    close_on_escape();
    for (const auto& [text, seconds] : kStretches)
        if (ImGui::Selectable(text, name == text))
            view_.follow(seconds);
    if (ImGui::Selectable("whole run", view_.mode() == TraceView::Mode::whole))
        show_whole();
    ImGui::EndCombo();
}

void TraceStrip::follow_button(Session& session) {
    const bool held = view_.mode() == TraceView::Mode::held;
    if (tool_button("Follow", !held)) {
        if (held)
            view_.follow();
        else
            view_.hold();
    }
    probe::item("traces.follow");
    tooltip(held ? with_key("Follow the newest frame", session.settings().keys, Action::follow)
                 : std::string("Stop following: keep this part of the time axis"));
}

void TraceStrip::auto_button() {
    if (tool_button("Auto", !fixed_))
        fixed_ = fixed_ ? std::nullopt : std::optional(span_);
    probe::item("traces.auto");
    tooltip(fixed_ ? "Range of values: fixed; click for automatic"
                   : "Range of values: automatic; click to fix it. Wheel and drag on the axis change it.");
}

void TraceStrip::baseline_button(Session& session) {
    if (tool_button("Baseline"))
        take_baseline(session);
    probe::item("traces.baseline");
    tooltip(with_key("Take the mean over the last seconds of each region as F₀", session.settings().keys,
                     Action::baseline));
}

void TraceStrip::pulse_button() {
    if (tool_button("Pulse", pulse_wanted_))
        pulse_wanted_ = !pulse_wanted_;
    probe::item("traces.pulse");
    tooltip("Heart rate and pulsatility index of the selected region, otherwise the first, over the visible "
            "part of its trace, at most a minute");
}

/// Returns the lower edge.
float TraceStrip::buttons(Session& session) {
    const KeyBindings& keys = session.settings().keys;
    const float field = dp(38) + ImGui::CalcTextSize("s").x + dp(8), stretch = dp(98);
    const float film = std::max(width_of("Whole film"), width_of("Cancel 100 %"));
    std::vector<Part> parts = {
        {width_of("Baseline"), [&] { baseline_button(session); }},
        {field,
         [&] {
             ImGui::PushItemWidth(field);
             const ParamDecl& decl = view_table().at("baseline_s");
             value_field("baseline_s", session.view().baseline_s, {decl.min, decl.max, false, false}, "s");
             ImGui::PopItemWidth();
             probe::item("traces.baseline_s");
             tooltip(decl.doc);
         }},
        {width_of("ΔF/F₀"),
         [&] {
             if (tool_button("ΔF/F₀", relative_))
                 toggle_relative(session);
             probe::item("traces.relative");
             tooltip(with_key("100·(F/F₀ − 1) in %, or absolute units", keys, Action::relative));
         }},
        {width_of("Event"),
         [&] {
             if (tool_button("Event"))
                 session.mark_event();
             probe::item("traces.event");
             tooltip(with_key("Mark the newest frame", keys, Action::event) +
                     "; click its label for another name.");
         }},
        {width_of("Interval"), [&] { intervals_.button(session); }}};
    const auto add = [&](bool wanted, float width, std::function<void()> draw) {
        if (wanted)
            parts.push_back({width, std::move(draw)});
    };
    add(responses_.offered(session), width_of("Response"), [&] { responses_.button(); });
    add(session.whole_film.running() || about_.film, film, [&] { whole_film_button(session, film); });
    const bool trials = trials_.wanted();
    add(!trials, stretch, [&] { stretch_choice(session, stretch); });
    add(!trials, width_of("Follow"), [&] { follow_button(session); });
    add(!trials, width_of("Auto"), [&] { auto_button(); });
    add(true, width_of("Pulse"), [&] { pulse_button(); });
    add(trials_.offered(session), width_of("Trials"), [&] { trials_.button(); });
    add(trials, dp(260), [&] { trials_.controls(session); });
    return draw_row(parts);
}

bool TraceStrip::assumed() const {
    return about_.with && rests_on_assumption(about_.quantity, about_.with->exposure);
}

/// Settings that curves must have for a change against the baseline; nullopt: all curves are drawn.
std::optional<MadeWith> TraceStrip::relative_with(const Session& session) const {
    return relative_ && session.baseline.taken() ? session.baseline.taken()->with : std::nullopt;
}

void TraceStrip::keep_comparable(std::vector<TraceColumn>& curve, const std::optional<MadeWith>& with) const {
    bool broken = false;
    std::size_t kept = 0;
    for (TraceColumn column : curve) {
        broken = broken || column.broken;
        if (!about_.comparable(column, with)) {
            broken = true;
            continue;
        }
        column.broken = std::exchange(broken, false);
        curve[kept++] = column;
    }
    curve.resize(kept);
}

void TraceStrip::measure(Session& session, const Rect& plot) {
    curves_ = session.traces().curves(view_.from_ns(), view_.to_ns(),
                                      std::max(1, static_cast<int>(std::lround(plot.width))));
    const std::optional<MadeWith> with = relative_with(session);
    if (relative_)
        for (std::vector<TraceColumn>& curve : curves_)
            keep_comparable(curve, with);
    std::vector<std::optional<TraceExtremes>> seen;
    if (!fixed_)
        seen = session.traces().extremes(view_.from_ns(), view_.to_ns(), with);
    std::optional<ValueSpan> extremes;
    for (std::size_t i = 0; i < std::min(seen.size(), about_.regions.size()); ++i) {
        const TraceRegion& region = about_.regions[i];
        const std::optional<double> f0 = session.baseline.of(region, nullptr);
        if (hidden_.contains(region.id) || (relative_ && !f0) || !seen[i])
            continue;
        const double a = relative_ ? relative_change(seen[i]->low, *f0) : seen[i]->low;
        const double b = relative_ ? relative_change(seen[i]->high, *f0) : seen[i]->high;
        const ValueSpan known = extremes.value_or(ValueSpan{a, a});
        extremes = ValueSpan{std::min({known.low, a, b}), std::max({known.high, a, b})};
    }
    span_ = fixed_ ? *fixed_ : automatic_span(extremes);
}

void TraceStrip::mouse(const PlotArea& plot, Session& session) {
    if (intervals_.mouse(plot, session.intervals))
        return;
    const Rect& in = plot.inner;
    const ImGuiIO& io = ImGui::GetIO();
    const bool on_axis = io.MousePos.x < in.x;
    if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
        const double factor = std::pow(kZoomStep, io.MouseWheel);
        if (on_axis || io.KeyCtrl)
            fixed_ = zoomed(span_, plot.part_y(io.MousePos.y), factor);
        else
            view_.zoom(std::clamp(plot.part_x(io.MousePos.x), 0.0, 1.0), factor);
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
        fixed_.reset();
        if (!on_axis)
            show_whole();
        return;
    }
    if (ImGui::IsItemActivated())
        drags_values_ = on_axis;
    if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(0, 2.0F))
        return;
    if (drags_values_ && io.MouseDelta.y != 0) {
        const double step = io.MouseDelta.y / in.height * (span_.high - span_.low);
        fixed_ = ValueSpan{span_.low + step, span_.high + step};
    } else if (!drags_values_ && io.MouseDelta.x != 0) {
        view_.pan(io.MouseDelta.x / in.width);
    }
}

void TraceStrip::draw_plot(const Rect& area, Session& session, const std::vector<ImU32>& colours) {
    const Rect inner = plot_inner(area);
    ImGui::SetCursorScreenPos(theme::point(area.x, area.y));
    ImGui::InvisibleButton("plot", {static_cast<float>(area.width), static_cast<float>(area.height)});
    focus_ring(true);
    probe::widget("traces.plot", inner.x, inner.y, inner.width, inner.height);
    if (trials_.wanted()) {
        cursor_.reset();
        return trials_.draw(inner, about_, session, colours, hidden_);
    }
    PlotArea plot{inner, view_.from_ns(), view_.to_ns(), span_, timed()};
    mouse(plot, session);
    const bool hovered =
        ImGui::IsItemHovered() && inner.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y);
    measure(session, inner);
    plot = {inner, view_.from_ns(), view_.to_ns(), span_, timed()};
    const Quantity& quantity = about_.quantity;
    draw_axes(plot, relative_ ? "Δ" + quantity.symbol + "/" + quantity.symbol + "₀" : quantity.symbol,
              relative_              ? "%"
              : quantity.unit == "1" ? ""
                                     : quantity.unit + (assumed() ? " *" : ""));
    intervals_.draw(plot, session.intervals);
    draw_restarts(plot, about_.restarts);
    for (std::size_t i = 0; i < std::min(curves_.size(), about_.regions.size()); ++i) {
        const std::optional<double> f0 = session.baseline.of(about_.regions[i], nullptr);
        if (!hidden_.contains(about_.regions[i].id) && !(relative_ && !f0))
            draw_curve(plot, curves_[i], colours[i], relative_ ? *f0 : kNotRelative);
    }
    const std::string changed = session.baseline.changed(about_);
    probe::value("traces.baseline.changed", changed);
    if (relative_ && !changed.empty())
        draw_warning(inner, changed);
    if (about_.film && about_.newest)
        draw_playhead(plot, about_.newest->time_ns);
    draw_events(plot, session);
    measure_pulse(session);
    draw_pulse(inner);
    cursor_.reset();
    if (hovered)
        cursor_ = session.traces().values_at(plot.time(ImGui::GetIO().MousePos.x));
    if (cursor_ && (cursor_->moment.time_ns < plot.from_ns || cursor_->moment.time_ns > plot.to_ns))
        cursor_.reset();
    if (cursor_)
        draw_cursor(plot, cursor_->moment);
}

void TraceStrip::draw(const Rect& area, Session& session, const RegionNumbers& numbers) {
    const auto begun = std::chrono::steady_clock::now();
    ImGui::SetNextWindowPos(theme::point(area.x, area.y));
    ImGui::SetNextWindowSize(theme::point(area.width, area.height));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {dp(10), dp(6)});
    const bool open = ImGui::Begin(parts::kTraces, nullptr,
                                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse |
                                       ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleVar();
    if (open) {
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                            {dp(7), dp(3)}); // low and narrow enough for small windows
        const double top = buttons(session) + dp(4);
        ImGui::PopStyleVar();
        const Rect rest{area.x + dp(4), top, area.width - dp(8),
                        std::max(1.0, area.y + area.height - top - dp(2))};
        if (!has_regions()) {
            const KeyBindings& keys = session.settings().keys;
            draw_empty(
                rest, session.traces_wanted()
                          ? "No frame with regions has come yet."
                          : "There are no regions. Draw one on the image" +
                                key_words(" (", key_of(keys, Action::rectangle_tool), " draws a rectangle)") +
                                ", or use --regions FILE.");
        } else {
            std::vector<ImU32> colours;
            colours.reserve(about_.regions.size());
            for (std::size_t i = 0; i < about_.regions.size(); ++i)
                colours.push_back(colour_of(session.regions.regions(), i, about_.regions[i].name));
            const bool responses = responses_.wanted();
            const double wide = responses ? std::min<double>(dp(430), rest.width * 0.6)
                                          : std::clamp(rest.width * 0.22, dp(104.0F) * 1.0, dp(200.0F) * 1.0);
            const Rect beside{rest.x + rest.width - wide, rest.y, wide, rest.height};
            draw_plot({rest.x, rest.y, rest.width - wide, rest.height}, session, colours);
            if (responses)
                responses_.draw(beside, about_, session, colours, relative_);
            else
                legend(beside, session, colours, numbers);
        }
        event_popup(session);
        intervals_.popup(session, view_.from_ns(), view_.to_ns());
    }
    ImGui::End();
    edge(area, session.view().traces_size);
    drawing_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

void TraceStrip::mark_remembered(Session& session, std::size_t n) {
    if (n < session.events().remembered().size())
        session.mark_event(std::string(session.events().remembered()[n]));
}

void TraceStrip::ask_label(const EventMark& event) {
    edited_event_ = event.number;
    edited_label_ = event.label;
    open_event_ = true;
}

void TraceStrip::draw_events(const PlotArea& plot, Session& session) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    std::array<double, 4> free = {-1e9, -1e9, -1e9, -1e9}; // end of the labels in each row
    for (const TimedEvent& event : session.events().events()) {
        if (event.axis != about_.axis) // of a film that was open before
            continue;
        const double x = plot.x(event.time_ns);
        int row = 0;
        while (row + 1 < static_cast<int>(free.size()) && free[static_cast<std::size_t>(row)] > x - dp(2))
            ++row;
        const Rect at = draw_event(plot, event, row);
        if (at.width == 0)
            continue;
        free[static_cast<std::size_t>(row)] = at.x + at.width;
        probe::widget("traces.event." + std::to_string(event.mark.number), at.x, at.y, at.width, at.height);
        if (!ImGui::IsItemHovered() || !at.contains(mouse.x, mouse.y))
            continue;
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        if (ImGui::IsMouseReleased(0) && ImGui::GetMouseDragDelta(0, 3.0F).x == 0)
            ask_label(event.mark);
    }
}

void TraceStrip::event_popup(Session& session) {
    if (std::exchange(open_event_, false)) {
        focus_event_ = true;
        ImGui::OpenPopup("event");
    }
    if (!ImGui::BeginPopup("event")) {
        if (std::exchange(names_event_, false)) // a click elsewhere leaves the field and applies its text
            session.rename_event(edited_event_, edited_label_);
        return;
    }
    names_event_ = !close_on_escape();
    if (std::exchange(focus_event_, false))
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(dp(190));
    const bool entered = ImGui::InputText(
        "##label", &edited_label_, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    probe::item("traces.event.label");
    tooltip("Label of this event. Enter: keep.");
    ImGui::SameLine();
    if (entered || ImGui::Button("Name")) {
        session.rename_event(edited_event_, edited_label_);
        names_event_ = false;
        ImGui::CloseCurrentPopup();
    }
    ImGui::SameLine();
    if (ImGui::Button("Remove")) {
        session.remove_event(edited_event_);
        names_event_ = false;
        ImGui::CloseCurrentPopup();
    }
    probe::item("traces.event.remove");
    tooltip("Remove this event from the plot and from recordings that run.");
    ImGui::EndPopup();
}

} // namespace specklescope
