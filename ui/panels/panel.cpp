#include "ui/panels/panel.hpp"

#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/chain_panel.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"
#include "ui/regions/region_panel.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

void declared(Session& session, const char* name) {
    Params& view = session.settings().view;
    const ParamDecl& decl = view.table().at(name);
    if (const auto value = param_control("view", decl, view.get(name), Params(view.table()).get(name)))
        view.set(name, *value);
}

ImTextureID texture_id(GLuint id) {
    return reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(id)); // NOLINT(performance-no-int-to-ptr)
}

/// Draws a row of the list of colour maps; true when it is chosen.
bool colormap_row(const ParamDecl& decl, int index, bool present) {
    const float height = ImGui::GetFrameHeight();
    const std::string& key = decl.choices[static_cast<std::size_t>(index)];
    const bool even = grows_in_lightness(static_cast<ColorMap>(index));
    ImGui::PushID(index);
    const ImVec2 row = ImGui::GetCursorScreenPos();
    const bool chosen = ImGui::Selectable("##map", present, 0, {0, height});
    probe::item("colormap." + key);
    tooltip("colormap=" + key +
            (even
                 ? "\nLightness grows evenly from the first colour to the last: readable without hues and in "
                   "grey print."
                 : ""));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float y = row.y + (height - ImGui::GetTextLineHeight()) / 2;
    draw.AddText({row.x + dp(4), y}, theme::kText, decl.labels[static_cast<std::size_t>(index)].c_str());
    if (even)
        draw.AddText({row.x + dp(92), y}, theme::kGood, "colour-blind safe");
    ImGui::PopID();
    return chosen;
}

/// Draws the colour map: its name over a strip of its colours.
void colormap_control(ColorMap& map, Display& display) {
    const ParamDecl& decl = view_table().at("colormap");
    control_label("Colours");
    const float width = ImGui::CalcItemWidth(), height = ImGui::GetFrameHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const int index = static_cast<int>(map);
    const bool open = ImGui::BeginCombo("##colormap", "", ImGuiComboFlags_NoArrowButton);
    probe::item("view.colormap");
    if (open) {
        close_on_escape();
        for (int i = 0; i < static_cast<int>(decl.choices.size()); ++i)
            if (colormap_row(decl, i, i == index))
                map = static_cast<ColorMap>(i);
        ImGui::EndCombo();
    } else {
        tooltip("Colours from low to high. Contrast and flow have one colour map, images without contrast "
                "another.\nNow: colormap=" +
                decl.choices[static_cast<std::size_t>(index)]);
    }
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 end(at.x + width, at.y + height);
    draw.AddImageRounded(texture_id(display.shader().colors(map)), at, end, {0, 0}, {1, 1}, IM_COL32_WHITE,
                         ImGui::GetStyle().FrameRounding);
    const std::string name = decl.labels[static_cast<std::size_t>(index)];
    const ImVec2 text = ImGui::CalcTextSize(name.c_str());
    const ImVec2 label(end.x - text.x - dp(12), at.y + (height - text.y) / 2);
    draw.AddRectFilled({label.x - dp(6), at.y + dp(3)}, {end.x - dp(4), end.y - dp(3)},
                       IM_COL32(0, 0, 0, 165), dp(3));
    draw.AddText(label, theme::kLightText, name.c_str());
}

void range_controls(Session& session, const Quantity& quantity) {
    Mapping& mapping = session.view().mapping;
    Params& view = session.settings().view;
    const Params initial(view.table());
    const auto declared = [&](const char* name) {
        const ParamDecl& decl = view.table().at(name);
        if (const auto value = param_control("view", decl, view.get(name), initial.get(name)))
            view.set(name, *value);
    };
    control_label("Automatic");
    ImGui::Checkbox("##automatic", &mapping.automatic);
    probe::item("view.automatic");
    tooltip(view.table().at("automatic").doc);
    if (mapping.automatic) {
        const double high_before = mapping.high_percentile;
        declared("low_percentile");
        declared("high_percentile");
        // Each slider stops at the other.
        constexpr double kLeast = 0.01, kAll = 100; // %
        double &low = mapping.low_percentile, &high = mapping.high_percentile;
        if (high != high_before)
            high = std::min(kAll, std::max(high, low + kLeast));
        low = std::max(0.0, std::min(low, high - kLeast));
        high = std::max(high, low + kLeast);
    }
    const auto end = [&](const char* label, const char* name, double& value) {
        control_label(label);
        const std::string unit = quantity.unit == "1" ? "" : quantity.unit;
        if (value_field(name, value, {-1e300, 1e300, false, false}, unit))
            mapping.automatic = false;
        probe::item(std::string("view.") + name);
        tooltip(std::string(label) +
                " end of the range of colours. Click to type a number, which fixes the range.");
    };
    const double low = mapping.low, high = mapping.high;
    end("Low", "low", mapping.low);
    end("High", "high", mapping.high);
    declared("exposure_stops");
    declared("curve");
    if (!(mapping.high > mapping.low)) {
        session.say(Message::Level::warning, "The low end of the range must be below the high end.");
        mapping.low = low;
        mapping.high = high;
    }
}

/// The displayed one of the images that the chain gives.
void image_control(Session& session) {
    const Chain& chain = session.chain();
    const std::vector<ChainOutput> outputs = chain.also();
    if (outputs.empty())
        return;
    control_label("Image");
    if (ImGui::BeginCombo("##image", capitalised(chain.displayed_quantity().name).c_str())) {
        close_on_escape();
        const auto row = [&](const std::string& name, const Quantity& quantity) {
            if (ImGui::Selectable(capitalised(quantity.name).c_str(), name == chain.displayed()))
                session.show_output(name);
            probe::item("image." + (name.empty() ? "result" : name));
        };
        row("", chain.quantity());
        for (const ChainOutput& one : outputs)
            row(one.output.name, one.output.quantity);
        ImGui::EndCombo();
    } else {
        tooltip("Image that is displayed and traced: the last one of the stages, or a further one that a "
                "stage gives (Further images).");
    }
    probe::item("view.image");
    probe::value("view.image", chain.displayed());
}

void display_section(Session& session, ViewState& state, Display& display) {
    if (!section("Display"))
        return;
    ImGui::PushID("display");
    draw_layout_lines(session);
    image_control(session);
    const Quantity quantity =
        display.has_result() ? display.result().quantity : session.chain().displayed_quantity();
    if (display.has_result() && display.processed_shape().channels == 3)
        hint("A colour image keeps its colours.");
    else
        colormap_control(session.view().colormap_of(quantity), display);
    range_controls(session, quantity);
    draw_change_lines(session, state, display);
    draw_scale_line(session, display.has_result() ? *display.result().chain : session.chain(), state.scale);
    control_label("Raw picture");
    const bool light = display.has_result() && display.result().info.light != Light::counts;
    ImGui::BeginDisabled(light);
    ImGui::Checkbox("Stretch", &state.stretch_raw);
    probe::item("raw.stretch");
    probe::value("raw.stretch", state.stretch_raw ? 1.0 : 0.0);
    ImGui::EndDisabled();
    tooltip(light ? "The raw image has the range of its result, for comparison."
                  : "Grey levels from the 0.5 to the 99.5 percentile instead of 0 to full scale.");
    ImGui::SameLine(0, dp(14));
    if (bool marked = state.marks_saturated; ImGui::Checkbox("Saturated", &marked))
        state.mark_saturated = marked;
    probe::item("raw.saturated");
    probe::value("raw.saturated", state.marks_saturated ? 1.0 : 0.0);
    tooltip(with_key("Draw raw pixels at full scale in red. Until you choose, only next to contrast and flow",
                     session.settings().keys, Action::mark_saturated));
    declared(session, "theme");
    ImGui::PopID();
}

void source_section(Session& session, const Display& display) {
    if (!section("Source", false))
        return;
    if (display.has_result() && display.raw_shape().channels == 3) { // only colour images have channels
        const Params& program = session.settings().program;
        const ParamDecl& decl = program.table().at("channel");
        if (const auto value =
                param_control("source", decl, program.get(decl.name), Params(program.table()).get(decl.name)))
            session.set_channel(*value);
    }
    ImGui::PushID("source");
    const Params& params = session.source_params();
    if (session.pipeline() && params.has_table())
        param_controls("source", params, [&](const std::string& name, const ParamValue& value) {
            session.edit_source(name, value);
        });
    ImGui::PopID();
}

void stages_section(Session& session, ViewState& state, const Display& display) {
    const bool presets = std::exchange(state.presets_asked, false);
    if (presets)
        ImGui::SetNextItemOpen(true);
    if (!section("Stages"))
        return;
    state.presets.button(session, presets);
    draw_chain(session, display);
}

void log_section(const Session& session) {
    if (!section("Messages", false))
        return;
    const auto now = SteadyClock::now();
    if (session.notices().list().empty())
        hint("None so far.");
    for (std::size_t i = session.notices().list().size(); i-- > 0;) { // newest first
        const Note& note = session.notices().list()[i];
        const double age = std::chrono::duration<double>(now - note.when).count();
        hint(clock_text(age) + " ago  " + note.text,
             note.level == Message::Level::info ? theme::kDim : level_color(note.level));
    }
}

} // namespace

void draw_panel(const Rect& area, Session& session, ViewState& state, Display& display) {
    ImGui::SetNextWindowPos({static_cast<float>(area.x), static_cast<float>(area.y)});
    ImGui::SetNextWindowSize({static_cast<float>(area.width), static_cast<float>(area.height)});
    if (ImGui::Begin(parts::kPanel, nullptr,
                     ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse |
                         ImGuiWindowFlags_AlwaysVerticalScrollbar | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus)) {
        std::string open = session.view().panel_sections; // a preset may replace the view while it is drawn
        sections_of(&open);
        source_section(session, display);
        draw_record(session, state);
        stages_section(session, state, display);
        draw_region_section(session, state.regions);
        display_section(session, state, display);
        state.histogram.draw(session, display, state.stretch_raw);
        log_section(session);
        sections_of(nullptr);
        session.view().panel_sections = std::move(open);
    }
    ImGui::End();
}

void draw_change_lines(Session& session, ViewState& state, const Display& display) {
    control_label("Baseline");
    const std::optional<double> progress = session.picture_baseline.progress();
    const bool taken = session.picture_baseline.image() != nullptr;
    const float gap = dp(4), width = (ImGui::CalcItemWidth() - gap) / 2;
    const std::string label = progress ? number_text(100 * *progress, 3) + " %, end" : "Take";
    if (tool_button((label + "##baseline").c_str(), progress.has_value(), width)) {
        session.take_baseline_image();
        state.change = true;
    }
    probe::item("change.take");
    const KeyBindings& keys = session.settings().keys;
    tooltip(with_key("F₀ of every pixel: the mean of the results of the next " +
                         number_text(session.view().baseline_s, 3) + " s; taken of K² as for regions",
                     keys, Action::baseline_picture));
    ImGui::SameLine(0, gap);
    ImGui::BeginDisabled(!taken);
    if (tool_button("ΔF/F₀", state.change && taken, width))
        state.change = !state.change;
    ImGui::EndDisabled();
    probe::item("change.show");
    tooltip(with_key("Show the image as 100·(F/F₀ − 1) %, or in absolute units", keys, Action::change));
    declared(session, "baseline_s");
    if (!state.change || !taken)
        return;
    declared(session, "change_range");
    if (!display.has_result())
        return;
    if (const std::string misfit = session.picture_baseline.image()->misfit(display.result());
        !misfit.empty())
        hint("No change is shown: " + misfit + ".", theme::kWarning);
}

void draw_layout_lines(Session& session) {
    using Layout = ViewSettings::Layout;
    declared(session, "layout");
    const Layout layout = session.view().layout;
    if (layout == Layout::split)
        declared(session, "split");
    if (layout == Layout::blended) {
        declared(session, "blend_opacity");
        declared(session, "blend_threshold");
    }
}

} // namespace specklescope
