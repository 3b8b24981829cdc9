// Tool bar above the picture and status line below it.
#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/icon_button.hpp"
#include "ui/panels/overlay.hpp"
#include "ui/panels/panel.hpp"
#include "ui/panels/transport.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

using theme::dp;

constexpr float kMenusFrom = 1100;     ///< dp: space for one button per menu
constexpr float kAllLayoutsFrom = 800; ///< dp: space for one button per layout
constexpr float kOpenFrom = 400,
                kRightFrom = 470; ///< dp: minimum for all buttons; the keys remain

bool begin_bar(const char* name, const Rect& area, ImU32 color) {
    ImGui::SetNextWindowPos({static_cast<float>(area.x), static_cast<float>(area.y)});
    ImGui::SetNextWindowSize({static_cast<float>(area.width), static_cast<float>(area.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {dp(12), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::vec(color));
    const bool open =
        ImGui::Begin(name, nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    return open;
}

struct LayoutChoice {
    const char* label;
    ViewSettings::Layout layout;
    Action action;
    const char* text;
};
using Shown = ViewSettings::Layout;
constexpr std::array<LayoutChoice, 5> kLayouts = {
    {{"Processed", Shown::processed, Action::show_processed, "Result"},
     {"Raw", Shown::raw, Action::show_raw, "Raw image"},
     {"Both", Shown::side_by_side, Action::show_both, "Raw image and result side by side"},
     {"Split", Shown::split, Action::show_split, "Raw image and result with a divider, which can be dragged"},
     {"Blend", Shown::blended, Action::show_blended, "Result over the raw image"}}};

/// Draws one button per layout if there is space, otherwise a list.
void layout_buttons(ViewSettings& view, const KeyBindings& keys, bool all) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {dp(2), 0});
    for (const LayoutChoice& choice : kLayouts) {
        if (!all)
            break;
        if (tool_button(choice.label, view.layout == choice.layout))
            view.layout = choice.layout;
        probe::item(std::string("layout.") + choice.label);
        tooltip(with_key(choice.text, keys, choice.action));
        ImGui::SameLine();
    }
    ImGui::PopStyleVar();
    if (all)
        return;
    const auto* now = std::find_if(kLayouts.begin(), kLayouts.end(),
                                   [&](const LayoutChoice& choice) { return choice.layout == view.layout; });
    ImGui::SetNextItemWidth(dp(112));
    const bool open = ImGui::BeginCombo("##layout", now->label);
    probe::item("layout.list");
    if (open) {
        close_on_escape();
        for (const LayoutChoice& choice : kLayouts) {
            if (ImGui::Selectable(choice.label, &choice == now))
                view.layout = choice.layout;
            probe::item(std::string("layout.") + choice.label);
            tooltip(with_key(choice.text, keys, choice.action));
        }
        ImGui::EndCombo();
    } else {
        tooltip(with_key("What is shown", keys, Action::next_layout));
    }
    ImGui::SameLine();
}

/// Draws the name of the source and, if there is space, the image size; the tooltip contains the full name.
void source_line(const Session& session, const Display& display, float room) {
    const std::string name = session.pipeline() ? session.pipeline()->status().source.name : "No source";
    std::string size;
    if (session.pipeline() && display.has_result()) {
        const Shape& shape = display.result().raw.shape();
        size = "   " + std::to_string(shape.width) + " × " + std::to_string(shape.height);
        size += shape.type == PixelType::f32 ? "  float" : "";
        size += shape.channels == 3 ? "  colour" : "";
    }
    const float wide = ImGui::CalcTextSize(size.c_str()).x;
    const std::string fits = wide < room / 2 ? fitted_name(*ImGui::GetFont(), name, room - wide) + size
                                             : fitted_name(*ImGui::GetFont(), name, room);
    ImGui::TextUnformatted(fits.c_str());
    if (fits != name + size)
        tooltip(name + size);
    probe::value("tool.source", fits);
}

std::string color_text(const Color& color, const Shape& shape) {
    return sample_text(color[0], shape.type) + " · " + sample_text(color[1], shape.type) + " · " +
           sample_text(color[2], shape.type);
}

/// Value in the source's unit: a recording of results does not contain counts.
std::string raw_text(double value, const Display& display) {
    const std::string unit = display.result().chain->input().unit;
    return sample_text(value, display.raw_shape().type) + (unit == "1" ? "" : " " + unit);
}

/// Value under the mouse. `width`: fixed width of its column, so that the next value does not move.
struct HoverValue {
    std::string label, text;
    float width = 0;
};

/// Value of the compared film.
std::string other(const std::optional<double>& value, PixelType type = PixelType::f32) {
    return value ? " | " + sample_text(*value, type) : std::string();
}

std::vector<HoverValue> values_of(const Hover& hover, const Display& display, const Mapping& mapping) {
    const Quantity& quantity = display.result().quantity;
    std::vector<HoverValue> values = {{"x", std::to_string(hover.x), dp(70)},
                                      {"y", std::to_string(hover.y), dp(78)}};
    if (hover.stale)
        values.push_back({quantity.symbol, "–", dp(150)});
    else if (hover.raw_color)
        values.push_back({"raw RGB", color_text(*hover.raw_color, display.raw_shape()), dp(260)});
    else if (hover.raw)
        values.push_back(
            {"raw", raw_text(*hover.raw, display) + other(hover.second_raw, hover.second_type), dp(132)});
    if (hover.color)
        values.push_back({"RGB", color_text(*hover.color, display.processed_shape()), dp(240)});
    else if (hover.value)
        values.push_back(
            {quantity.symbol,
             quantity_text(*hover.value, quantity.unit, digits_telling(mapping.low, mapping.high, 4)) +
                 other(hover.second) + (rests_on_assumption(quantity, display.result().exposure) ? " *" : ""),
             dp(150)});
    if (hover.change)
        values.push_back({"Δ" + quantity.symbol, quantity_text(*hover.change, "%"), dp(110)});
    return values;
}

/// Draws in columns if there is space, otherwise in sequence, without overlaps.
void draw_values(std::vector<HoverValue> values, float room) {
    const float between = dp(6), gap = dp(12);
    float columns = 0;
    for (HoverValue& value : values) {
        const float own = ImGui::CalcTextSize(value.label.c_str()).x + between +
                          ImGui::CalcTextSize(value.text.c_str()).x + gap;
        value.width = std::max(value.width, own);
        columns += &value == &values.back() ? own - gap : value.width;
    }
    for (const HoverValue& value : values) {
        const float x = ImGui::GetCursorPosX();
        ImGui::TextColored(theme::vec(theme::kDim), "%s", value.label.c_str());
        ImGui::SameLine(0, between);
        ImGui::TextUnformatted(value.text.c_str());
        if (columns <= room)
            ImGui::SameLine(x + value.width);
        else
            ImGui::SameLine(0, gap);
    }
}

/// Draws the main numbers of the run from the right, as many as fit; F1 shows all. A part is amber only if an
/// alarm reports it too.
void draw_summary(const Rect& area, const Session& session, const StatsSnapshot& stats,
                  const Display& display, double zoom) {
    struct Part {
        std::string text;
        ImU32 color;
        const char* about;
    };
    const auto color = [&](AlarmKind kind) {
        const auto& alarms = session.alarms();
        const bool on =
            std::any_of(alarms.begin(), alarms.end(), [&](const Alarm& alarm) { return alarm.kind == kind; });
        return on ? theme::kWarning : theme::kDim;
    };
    const bool stale = session.freshness().stale;
    std::vector<Part> parts;
    if (session.whole_film.running())
        parts.push_back(
            {"whole film " + number_text(std::floor(100 * session.whole_film.progress().part())) + " %",
             theme::kAccent,
             "The whole film is being processed in the background. The menu Film cancels it."});
    const std::uint64_t missed = stats.away.missed; // an estimate
    if (missed > 0)
        parts.push_back({"about " + brief_count_text(missed, "frame") + " missed", theme::kDim,
                         "Frames that came while the source was lost, estimated from its rate."});
    if (stats.drops.total() > 0 || (!stale && missed == 0))
        parts.push_back(
            {stats.drops.total() ? brief_count_text(stats.drops.total(), "frame") + " dropped" : "no drops",
             color(AlarmKind::frames_dropped),
             "Frames lost since the source was opened. The statistics (F1) show where."});
    if (stale || session.pipeline()->status().state == RunState::running)
        parts.push_back({(stale ? std::string("–") : number_text(stats.rate.processing, 3)) + " frames/s",
                         theme::kDim, "Frames processed per second, over the last seconds."});
    if (display.has_result())
        parts.push_back(
            {"Zoom " + number_text(100 * zoom, 3) + " %", theme::kDim,
             "Pixels of the screen for one of the image. The wheel zooms, a double click fits the image "
             "into the window."});
    if (stats.counts.last.raw_saturated > 0 && !stale)
        parts.push_back(
            {share_text(saturated_share(stats.counts.last)) + " saturated", color(AlarmKind::saturated),
             "Share of the raw frame at full scale, where contrast is too low. Reduce exposure, gain or "
             "light."});
    parts.push_back(
        {"Latency " + (stale ? std::string("–") : number_text(stats.latency.median_ms, 2) + " ms"),
         theme::kDim, "Median time from the arrival of a frame to its result."});
    std::string shown;
    float right = static_cast<float>(area.width) - dp(12);
    const float left = ImGui::GetCursorPosX();
    for (const Part& part : parts) {
        right -= ImGui::CalcTextSize(part.text.c_str()).x;
        if (right < left)
            break;
        ImGui::SameLine(right);
        ImGui::TextColored(theme::vec(part.color), "%s", part.text.c_str());
        probe::item("status." + std::to_string(&part - parts.data()));
        tooltip(part.about);
        shown = part.text + (shown.empty() ? "" : " · ") + shown;
        right -= dp(16);
    }
    probe::value("summary", shown);
}

/// Draws the button that begins the chosen recording, or ends all active recordings.
void record_button(Session& session, ViewState& state, float bar_width) {
    using Records = ViewState::ToolbarRecords;
    constexpr std::array kEach = {RecordWhat::processed, RecordWhat::raw, RecordWhat::screen};
    const Recording* now = nullptr;
    for (const RecordWhat each : kEach)
        now = now ? now : session.recordings.running(each);
    const bool recording = now != nullptr;
    const KeyBindings& keys = session.settings().keys;
    const std::array<std::string, 4> what = {with_key("the result", keys, Action::record),
                                             with_key("raw frames", keys, Action::record_raw), "both",
                                             with_key("a movie of the screen", keys, Action::record_screen)};
    const auto chosen = static_cast<std::size_t>(state.toolbar_records);
    if (icon_button("tool.record", Icon::record,
                    recording ? "Stop recording\n" + progress_text(*now, true)
                              : std::string("Record ") + what[chosen] + "; right-click to choose what",
                    recording))
        for (const RecordWhat each : kEach) {
            const Records chosen_by = each == RecordWhat::raw      ? Records::raw
                                      : each == RecordWhat::screen ? Records::screen
                                                                   : Records::processed;
            const bool wanted = state.toolbar_records == chosen_by ||
                                (state.toolbar_records == Records::both && each != RecordWhat::screen);
            if (recording ? session.recordings.running(each) != nullptr : wanted)
                session.recordings.toggle(output_kind(each));
        }
    if (ImGui::BeginPopupContextItem("##records")) {
        close_on_escape();
        for (std::size_t i = 0; i < what.size(); ++i) {
            if (ImGui::Selectable(what[i].c_str(), i == chosen))
                state.toolbar_records = static_cast<Records>(i);
            probe::item("tool.records." + std::to_string(i));
            tooltip("The record button then records " + what[i] + ".");
        }
        ImGui::EndPopup();
    }
    probe::value("tool.records", static_cast<double>(chosen));
    if (!recording)
        return;
    ImGui::SameLine(0, dp(6));
    ImGui::AlignTextToFramePadding();
    constexpr float kRoomy = 1100; // dp
    const std::string progress = progress_text(*now, bar_width > dp(kRoomy));
    ImGui::TextUnformatted(progress.c_str());
    probe::value("tool.recording", progress);
}

} // namespace

void draw_tool_bar(const Rect& area, Session& session, ViewState& state, const Display& display,
                   const std::function<void(bool one)>& menus) {
    if (begin_bar(parts::kTools, area, theme::kBar)) {
        ImGui::SetCursorPosY((static_cast<float>(area.height) - ImGui::GetFrameHeight()) / 2);
        menus(area.width < dp(kMenusFrom));
        ImGui::SameLine(0, dp(12));
        const bool ended = session.pipeline() && has_ended(session);
        const bool paused = session.pipeline() && (session.pipeline()->paused() || ended);
        const bool file = session.pipeline() && !session.pipeline()->status().source.live;
        const auto keyed = [&](const char* text, Action action) {
            return with_key(text, session.settings().keys, action);
        };
        if (icon_button("tool.pause", paused ? Icon::play : Icon::pause,
                        keyed(ended    ? "Play it again"
                              : paused ? "Resume"
                                       : "Pause",
                              Action::pause),
                        paused))
            toggle_pause(session, state.film);
        ImGui::SameLine(0, dp(4));
        if (file && !is_film(session)) { // the transport bar has both
            if (icon_button("tool.step", Icon::step, keyed("One frame", Action::step)))
                step_once(session, state.film);
            ImGui::SameLine(0, dp(4));
        }
        record_button(session, state, static_cast<float>(area.width));
        ImGui::SameLine(0, dp(4));
        if (icon_button("tool.snapshot", Icon::camera, keyed("Snapshot", Action::snapshot)))
            state.snapshot = true;
        ImGui::SameLine(0, dp(16));
        layout_buttons(session.view(), session.settings().keys, area.width > dp(kAllLayoutsFrom));
        ImGui::SameLine(0, dp(16));
        if (area.width >= dp(kOpenFrom)) {
            if (ImGui::Button("Open …"))
                state.open_dialog = true;
            probe::item("tool.open");
            tooltip(keyed("Open another source", Action::open));
            ImGui::SameLine(0, dp(12));
        }
        const bool all = area.width >= dp(kRightFrom);
        const float right = all ? dp(66) + icon_button_width() : 0;
        const float room = static_cast<float>(area.width) - ImGui::GetCursorPosX() - right - dp(24);
        ImGui::AlignTextToFramePadding();
        source_line(session, display, room);
        ImGui::SameLine(static_cast<float>(area.width) - right - dp(12));
        if (all) {
            if (icon_button("tool.traces", Icon::traces,
                            keyed("Show or hide the traces of regions", Action::traces)))
                state.toggle_traces = true;
            ImGui::SameLine(0, dp(4));
            if (ImGui::Button("Panel", {dp(62), 0}))
                session.view().panel = !session.view().panel;
            probe::item("tool.panel");
            tooltip(keyed("Show or hide the controls", Action::panel));
        }
    }
    ImGui::End();
}

namespace {

/// Draws buttons at the right end of the status bar; returns the remaining area.
Rect status_buttons(const Rect& area, Session& session, bool& messages) {
    const float y = ImGui::GetCursorPosY(), height = static_cast<float>(area.height) - dp(6);
    const KeyBindings& keys = session.settings().keys;
    const float list = ImGui::CalcTextSize("Messages").x + dp(20),
                monitor = ImGui::CalcTextSize("Monitor").x + dp(20), all = list + monitor + dp(12);
    if (area.width < dp(640))
        return area;
    ImGui::SetCursorPos({static_cast<float>(area.width) - all, dp(3)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {dp(6), 0});
    if (ImGui::Button("Messages", {list, height}))
        messages = true;
    probe::item("status.messages");
    tooltip_above();
    tooltip(with_key("All messages with their times", keys, Action::messages));
    ImGui::SameLine(0, dp(4));
    if (ImGui::Button("Monitor", {monitor, height}))
        session.view().monitor = true;
    probe::item("status.monitor");
    tooltip_above();
    tooltip(with_key("Large values, a fixed range and locked controls", keys, Action::monitor));
    ImGui::PopStyleVar();
    ImGui::SetCursorPos({dp(12), y});
    return {area.x, area.y, area.width - all, area.height};
}

} // namespace

void draw_status_bar(const Rect& whole, Session& session, ViewState& state, const Hover& hover,
                     const Display& display, double zoom) {
    if (begin_bar(parts::kStatus, whole, theme::kBar)) {
        const std::string said = state.regions.status(session);
        const Rect area = status_buttons(whole, session, state.messages_open);
        ImGui::SetCursorPosY((static_cast<float>(area.height) - ImGui::GetTextLineHeight()) / 2);
        probe::value("status", said);
        if (!said.empty()) {
            const float room = static_cast<float>(area.width) - dp(36);
            ImGui::TextUnformatted(fitted(*ImGui::GetFont(), said, room).c_str());
            ImGui::SameLine(0, dp(20));
        } else if (hover.inside && display.has_result()) {
            draw_values(values_of(hover, display, session.view().mapping),
                        static_cast<float>(area.width) - dp(24));
        } else {
            const float summary = ImGui::CalcTextSize("1000 frames/s").x + ImGui::CalcTextSize("no drops").x;
            const float room = static_cast<float>(area.width) - summary - dp(56); // the summary has priority
            const std::string advice =
                "Point at the image for its values.  Wheel zooms, drag moves, double click fits.";
            ImGui::TextColored(theme::vec(theme::kDim), "%s",
                               fitted(*ImGui::GetFont(), advice, room).c_str());
            ImGui::SameLine();
        }
        if (session.pipeline())
            draw_summary(area, session, session.pipeline()->stats(), display, zoom);
    }
    ImGui::End();
}

} // namespace specklescope
