// The tool bar above the picture and the status line below it.
#include "config/keys/bindings.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/numbers.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/icon_button.hpp"
#include "ui/panels/panel.hpp"
#include "ui/panels/transport.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

using theme::dp;

constexpr float kAllLayoutsFrom = 760; ///< dp: a button for each layout

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
    {{"Processed", Shown::processed, Action::show_processed, "The processed picture"},
     {"Raw", Shown::raw, Action::show_raw, "The raw picture"},
     {"Both", Shown::side_by_side, Action::show_both, "Raw and processed side by side"},
     {"Split", Shown::split, Action::show_split,
      "Raw and processed with a divider between them, which is dragged"},
     {"Blend", Shown::blended, Action::show_blended, "The processed picture through the raw one"}}};

/// A button for each where there is room, otherwise a list of them.
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

std::string source_line(const Session& session, const Display& display) {
    if (!session.pipeline())
        return "No source";
    const SourceInfo info = session.pipeline()->status().source;
    std::string text = info.name;
    if (display.has_result()) {
        const Shape& shape = display.result().raw.shape();
        text += "   " + std::to_string(shape.width) + " × " + std::to_string(shape.height);
        text += shape.type == PixelType::f32 ? "  float" : "";
        text += shape.channels == 3 ? "  colour" : "";
    }
    return text;
}

std::string color_text(const Color& color, const Shape& shape) {
    return sample_text(color[0], shape.type) + " · " + sample_text(color[1], shape.type) + " · " +
           sample_text(color[2], shape.type);
}

/// What matters of the run, from the right: as much of it as has room. All of it is on the picture with F1.
void draw_summary(const Rect& area, const StatsSnapshot& stats, const Display& display, double zoom) {
    struct Part {
        std::string text;
        ImU32 color;
    };
    std::vector<Part> parts = {
        {stats.drops.total() ? count_text(stats.drops.total()) + " dropped" : "no drops",
         stats.drops.total() ? theme::kWarning : theme::kDim},
        {number_text(stats.processing_rate, 3) + " frames/s", theme::kDim}};
    if (display.has_result())
        parts.push_back({number_text(100 * zoom, 3) + " %", theme::kDim});
    if (stats.counts.last.raw_saturated > 0)
        parts.push_back({share_text(saturated_share(stats.counts.last)) + " saturated", theme::kWarning});
    parts.push_back({"latency " + number_text(stats.latency.median_ms, 2) + " ms", theme::kDim});
    std::string shown;
    float right = static_cast<float>(area.width) - dp(12);
    const float left = ImGui::GetCursorPosX();
    for (const Part& part : parts) {
        right -= ImGui::CalcTextSize(part.text.c_str()).x;
        if (right < left)
            break;
        ImGui::SameLine(right);
        ImGui::TextColored(theme::vec(part.color), "%s", part.text.c_str());
        shown = part.text + (shown.empty() ? "" : " · ") + shown;
        right -= dp(16);
    }
    probe::value("summary", shown);
}

/// Begins what was chosen for it, and ends whatever is recorded.
void record_button(Session& session, ViewState& state) {
    using Records = ViewState::ToolbarRecords;
    constexpr std::array kEach = {RecordWhat::processed, RecordWhat::raw, RecordWhat::screen};
    const bool recording = std::any_of(kEach.begin(), kEach.end(),
                                       [&](RecordWhat each) { return session.recording(each) != nullptr; });
    const KeyBindings& keys = session.settings().keys;
    const std::array<std::string, 4> what = {with_key("the processed picture", keys, Action::record),
                                             with_key("raw frames", keys, Action::record_raw), "both",
                                             with_key("a movie of the screen", keys, Action::record_screen)};
    const auto chosen = static_cast<std::size_t>(state.toolbar_records);
    if (icon_button("tool.record", Icon::record,
                    recording ? std::string("Stop recording")
                              : std::string("Record ") + what[chosen] + "; a right click chooses what",
                    recording))
        for (const RecordWhat each : kEach) {
            const Records chosen_by = each == RecordWhat::raw      ? Records::raw
                                      : each == RecordWhat::screen ? Records::screen
                                                                   : Records::processed;
            const bool wanted = state.toolbar_records == chosen_by ||
                                (state.toolbar_records == Records::both && each != RecordWhat::screen);
            if (recording ? session.recording(each) != nullptr : wanted)
                session.toggle_record(each);
        }
    if (ImGui::BeginPopupContextItem("##records")) {
        close_on_escape();
        for (std::size_t i = 0; i < what.size(); ++i) {
            if (ImGui::Selectable(what[i].c_str(), i == chosen))
                state.toolbar_records = static_cast<Records>(i);
            probe::item("tool.records." + std::to_string(i));
        }
        ImGui::EndPopup();
    }
    probe::value("tool.records", static_cast<double>(chosen));
}

} // namespace

void draw_tool_bar(const Rect& area, Session& session, ViewState& state, const Display& display) {
    if (begin_bar(parts::kTools, area, theme::kBar)) {
        ImGui::SetCursorPosY((static_cast<float>(area.height) - ImGui::GetFrameHeight()) / 2);
        const bool ended = session.pipeline() && has_ended(session);
        const bool paused = session.pipeline() && (session.pipeline()->paused() || ended);
        const bool file = session.pipeline() && !session.pipeline()->status().source.live;
        const auto keyed = [&](const char* text, Action action) {
            return with_key(text, session.settings().keys, action);
        };
        if (icon_button("tool.pause", paused ? Icon::play : Icon::pause,
                        keyed(ended    ? "Play it again"
                              : paused ? "Go on"
                                       : "Pause",
                              Action::pause),
                        paused))
            toggle_pause(session, state.film);
        ImGui::SameLine(0, dp(4));
        if (file && !is_film(session)) { // a film's bar has both ways
            if (icon_button("tool.step", Icon::step, keyed("One frame", Action::step)))
                step_once(session, state.film);
            ImGui::SameLine(0, dp(4));
        }
        record_button(session, state);
        ImGui::SameLine(0, dp(4));
        if (icon_button("tool.snapshot", Icon::camera, keyed("Snapshot", Action::snapshot)))
            state.snapshot = true;
        ImGui::SameLine(0, dp(16));
        layout_buttons(session.view(), session.settings().keys, area.width > dp(kAllLayoutsFrom));
        ImGui::SameLine(0, dp(16));
        if (ImGui::Button("Open …"))
            state.open_dialog = true;
        probe::item("tool.open");
        tooltip(keyed("Open another source", Action::open));
        ImGui::SameLine(0, dp(12));
        const float right = dp(78) + 2.15F * ImGui::GetFrameHeight();
        const float room = static_cast<float>(area.width) - ImGui::GetCursorPosX() - right - dp(24);
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(fitted(*ImGui::GetFont(), source_line(session, display), room).c_str());
        ImGui::SameLine(static_cast<float>(area.width) - right - dp(12));
        if (icon_button("tool.traces", Icon::traces,
                        keyed("Show or hide the traces of regions", Action::traces)))
            state.toggle_traces = true;
        ImGui::SameLine(0, dp(4));
        if (ImGui::Button("Panel", {dp(62), 0}))
            session.view().panel = !session.view().panel;
        tooltip(keyed("Show or hide the controls", Action::panel));
        ImGui::SameLine(0, dp(6));
        if (ImGui::Button("?", {ImGui::GetFrameHeight(), 0}))
            state.keys_open = true;
        tooltip(keyed("Keys", Action::keys) +
                with_key("\nFind anything by its name", session.settings().keys, Action::palette));
    }
    ImGui::End();
}

void draw_status_bar(const Rect& area, Session& session, const Hover& hover, const Display& display,
                     double zoom, const std::string& said) {
    if (begin_bar(parts::kStatus, area, theme::kBar)) {
        ImGui::SetCursorPosY((static_cast<float>(area.height) - ImGui::GetTextLineHeight()) / 2);
        const auto pair = [](const char* label, const std::string& value, float width) {
            const float x = ImGui::GetCursorPosX();
            ImGui::TextColored(theme::vec(theme::kDim), "%s", label);
            ImGui::SameLine(0, dp(6));
            ImGui::TextUnformatted(value.c_str());
            ImGui::SameLine(x + width);
        };
        probe::value("status", said);
        if (!said.empty()) {
            const float room = static_cast<float>(area.width) - dp(36);
            ImGui::TextUnformatted(fitted(*ImGui::GetFont(), said, room).c_str());
            ImGui::SameLine(0, dp(20));
        } else if (hover.inside && display.has_result()) {
            const Quantity& quantity = display.result().quantity;
            pair("x", std::to_string(hover.x), dp(70));
            pair("y", std::to_string(hover.y), dp(78));
            if (hover.raw_color)
                pair("raw RGB", color_text(*hover.raw_color, display.raw_shape()), dp(260));
            else if (hover.raw)
                pair("raw", sample_text(*hover.raw, display.raw_shape().type) + " DN", dp(132));
            if (hover.color)
                pair("RGB", color_text(*hover.color, display.processed_shape()), dp(240));
            else if (hover.value)
                pair(quantity.symbol.c_str(),
                     quantity_text(*hover.value, quantity.unit) +
                         (rests_on_assumption(quantity, display.result().exposure) ? " *" : ""),
                     dp(150));
            if (hover.change)
                pair(("Δ" + quantity.symbol).c_str(), quantity_text(*hover.change, "%"), dp(110));
        } else {
            const float summary = ImGui::CalcTextSize("1000 frames/s").x + ImGui::CalcTextSize("no drops").x;
            const float room = static_cast<float>(area.width) - summary - dp(56); // it goes before advice
            const std::string advice =
                "Point at the picture for its values.  Wheel zooms, drag moves, double click fits.";
            ImGui::TextColored(theme::vec(theme::kDim), "%s",
                               fitted(*ImGui::GetFont(), advice, room).c_str());
            ImGui::SameLine();
        }
        if (session.pipeline())
            draw_summary(area, session.pipeline()->stats(), display, zoom);
    }
    ImGui::End();
}

} // namespace specklescope
