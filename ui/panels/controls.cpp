#include "ui/panels/controls.hpp"

#include "config/settings.hpp"

#include "config/numbers.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"

#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

constexpr double kWidestSlider = 20000; ///< a slider cannot resolve more integers

struct Typing {
    ImGuiID id = 0;
    bool first = false;
    int idle = 0; ///< frames in which the field was drawn without keyboard focus
};
Typing typing; ///< the slider in typing mode
std::optional<std::string> dropped_file;
std::string* open_sections = nullptr; ///< of the panel that is drawn

bool is_listed(const std::string& list, const std::string& title) {
    return ("," + list + ",").find("," + title + ",") != std::string::npos;
}

void set_listed(std::string& list, const std::string& title, bool on) {
    if (is_listed(list, title) == on)
        return;
    if (on) {
        list += (list.empty() ? "" : ",") + title;
        return;
    }
    std::string all = "," + list + ",";
    all.replace(all.find("," + title + ","), title.size() + 2, ",");
    list = all.size() > 2 ? all.substr(1, all.size() - 2) : "";
}

double to_position(double value, const SliderRange& range) {
    const double v = std::clamp(value, range.min, range.max);
    if (range.max <= range.min)
        return 0;
    if (range.logarithmic)
        return std::log(v / range.min) / std::log(range.max / range.min);
    return (v - range.min) / (range.max - range.min);
}

/// Finest useful step on a slider: three significant digits, or integers.
double step_at(double value, const SliderRange& range) {
    if (range.integer)
        return 1;
    const double size = range.logarithmic ? std::abs(value) : (range.max - range.min) / 4;
    return std::pow(10, std::floor(std::log10(std::max(size, 1e-300))) - 2);
}

double stepped_by(double value, int steps, const SliderRange& range) {
    // Just below a power of ten, use the smaller steps.
    const double step = step_at(steps < 0 ? value * (1 - 1e-9) : value * (1 + 1e-9), range);
    const double count = std::round(value / step) + steps;
    // Divide by the inverse of steps below 1: exact decimals such as 101/10.
    return std::clamp(step < 1 ? count / std::round(1 / step) : count * step, range.min, range.max);
}

double from_position(double position, const SliderRange& range) {
    const double t = std::clamp(position, 0.0, 1.0);
    const double value = range.logarithmic ? range.min * std::pow(range.max / range.min, t)
                                           : range.min + t * (range.max - range.min);
    return stepped_by(value, 0, range);
}

std::string shown(double value, const SliderRange& range, const std::string& unit) {
    std::string text = range.integer ? sample_text(value, PixelType::u16) : number_text(value, 4);
    if (!range.integer && text.find('.') != std::string::npos && text.find("·") == std::string::npos) {
        while (text.back() == '0')
            text.pop_back();
        if (text.back() == '.')
            text.pop_back();
    }
    return unit.empty() ? text : text + " " + unit;
}

bool escaped() { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)); }

/// Typed value of the last field, and whether the field was left without Escape. Clicking an item drawn
/// earlier takes the focus and discards the field's own text.
template <class T> bool typed_and_left(T& edited) {
    static T typed;
    if (ImGui::IsItemActive() || ImGui::IsItemEdited()) // also in the frame of Return
        typed = edited;
    if (!ImGui::IsItemDeactivatedAfterEdit() || escaped())
        return false;
    edited = typed;
    return true;
}

/// True if `value` changed.
bool number_field(const char* id, double& value, const SliderRange& range, int flags) {
    double edited = value;
    ImGui::InputDouble(id, &edited, 0, 0, range.integer ? "%.0f" : "%.6g", flags);
    if (!typed_and_left(edited) || !std::isfinite(edited))
        return false;
    const double before = value;
    value = std::clamp(range.integer ? std::round(edited) : edited, range.min, range.max);
    return value != before;
}

bool type_number(ImGuiID id, double& value, const SliderRange& range) {
    if (typing.first)
        ImGui::SetKeyboardFocusHere();
    const bool changed = number_field("##typed", value, range, ImGuiInputTextFlags_AutoSelectAll);
    typing.idle = ImGui::IsItemActive() ? 0 : typing.idle + 1;
    constexpr int kPatience = 8; // the field was left while its section was closed
    if (!std::exchange(typing.first, false) && typing.id == id &&
        (ImGui::IsItemDeactivated() || typing.idle > kPatience))
        typing.id = 0;
    return changed;
}

/// Fills the range of a declaration; true if a slider can represent it.
bool slider_range(const ParamDecl& decl, SliderRange& range) {
    range = {decl.min, decl.max, decl.logarithmic && decl.min > 0, decl.kind == ParamKind::integer};
    const double span = decl.max - decl.min;
    if (!(span < std::numeric_limits<double>::max()) || std::abs(decl.min) > 1e12 ||
        std::abs(decl.max) > 1e12)
        return false;
    return range.logarithmic || span <= kWidestSlider;
}

double as_number(const ParamValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value))
        return *real;
    return 0;
}

std::optional<ParamValue> number_control(const ParamDecl& decl, const ParamValue& current) {
    SliderRange range;
    double value = as_number(current);
    const bool fits = slider_range(decl, range);
    const bool changed = fits ? value_slider("##value", value, range, decl.unit)
                              : value_field("##value", value, range, decl.unit);
    if (!changed)
        return {};
    if (decl.kind == ParamKind::integer)
        return ParamValue{static_cast<std::int64_t>(std::llround(value))};
    return ParamValue{value};
}

std::optional<ParamValue> choice_control(const ParamDecl& decl, const ParamValue& current) {
    std::optional<ParamValue> chosen;
    if (!ImGui::BeginCombo("##value", choice_label(decl, std::get<std::string>(current)).c_str()))
        return chosen;
    close_on_escape();
    for (std::size_t i = 0; i < decl.choices.size(); ++i) {
        const std::string& key = decl.choices[i];
        if (ImGui::Selectable(decl.labels[i].c_str(), key == std::get<std::string>(current)))
            chosen = ParamValue{key};
        probe::item("choice." + key);
        tooltip(decl.name + "=" + key);
    }
    ImGui::EndCombo();
    return chosen;
}

/// A list with a check mark for each choice.
std::optional<ParamValue> several_control(const ParamDecl& decl, const ParamValue& current) {
    unsigned several = several_of(decl, "", std::get<std::string>(current));
    std::string names;
    for (std::size_t i = 0; i < decl.choices.size(); ++i)
        if (several & (1U << i))
            names += (names.empty() ? "" : ", ") + decl.labels[i];
    std::optional<ParamValue> chosen;
    if (!ImGui::BeginCombo("##value", names.empty() ? "None" : names.c_str()))
        return chosen;
    close_on_escape();
    for (std::size_t i = 0; i < decl.choices.size(); ++i) {
        bool on = several & (1U << i);
        if (ImGui::Checkbox(decl.labels[i].c_str(), &on))
            chosen = ParamValue{several_text(decl, several ^= 1U << i)};
        probe::item("choice." + decl.choices[i]);
        tooltip(decl.name + "=" + decl.choices[i]);
    }
    ImGui::EndCombo();
    return chosen;
}

/// Text field that applies on Enter or focus loss and restores on Escape; also accepts a dropped file.
std::optional<ParamValue> text_control(const ParamDecl& decl, const ParamValue& current) {
    std::string text = std::get<std::string>(current);
    if (decl.kind == ParamKind::path)
        ImGui::InputTextWithHint("##value", "path, or drop the file here", &text);
    else
        ImGui::InputText("##value", &text);
    const bool done = typed_and_left(text);
    if (decl.kind == ParamKind::path && dropped_file &&
        ImGui::IsMouseHoveringRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax()))
        return ParamValue{*take_drop()};
    if (done && text != std::get<std::string>(current))
        return ParamValue{text};
    return {};
}

std::optional<ParamValue> any_control(const ParamDecl& decl, const ParamValue& current) {
    switch (decl.kind) {
    case ParamKind::boolean: {
        bool on = std::get<bool>(current);
        if (ImGui::Checkbox("##value", &on))
            return std::optional<ParamValue>(std::in_place, on);
        return {};
    }
    case ParamKind::integer:
    case ParamKind::real:
        return number_control(decl, current);
    case ParamKind::choice:
        return choice_control(decl, current);
    case ParamKind::action:
        if (ImGui::Button(decl.label.c_str(), ImVec2(-1, 0)))
            return ParamValue{std::get<std::int64_t>(current) + 1};
        return {};
    case ParamKind::text:
        if (!decl.choices.empty())
            return several_control(decl, current);
        break;
    case ParamKind::path:
        break;
    }
    return text_control(decl, current);
}

} // namespace

void offer_drop(std::string path) { dropped_file = std::move(path); }
std::optional<std::string> take_drop() { return std::exchange(dropped_file, std::nullopt); }

void tooltip_above() {
    const ImVec2 item = ImGui::GetItemRectMin(), end = ImGui::GetItemRectMax();
    if (item.y < 0.8F * ImGui::GetIO().DisplaySize.y)
        return;
    const float mouse = ImGui::GetIO().MousePos.x, room = ImGui::GetIO().DisplaySize.x;
    const bool pointed = mouse >= item.x && mouse < end.x; // or the item has the keyboard focus
    const float x = std::max(0.0F, std::min(pointed ? mouse : (item.x + end.x) / 2, room));
    // The pivot keeps the tooltip within the window.
    ImGui::SetNextWindowPos({x, item.y - theme::dp(4)}, ImGuiCond_Always, {x / room, 1});
}

namespace {

void show(const std::string& text) {
    probe::value("tooltip", text);
    ImGui::BeginTooltip();
    const float wide = theme::dp(320);
    ImGui::PushTextWrapPos(wide);
    ImGui::TextUnformatted(
        wrapped(*ImGui::GetFont(), text, wide - ImGui::GetStyle().WindowPadding.x).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

template <class Place> void show_tooltip(const std::string& text, const Place& place) {
    probe::explained();
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsItemActive())
        return;
    place();
    show(text);
}

} // namespace

void tooltip(const std::string& text) { show_tooltip(text, tooltip_above); }

void area_tooltip(const ImVec2& low, const ImVec2& high, const std::string& text) {
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high))
        show(text);
}

void tooltip_beside(const std::string& text, bool left) {
    const auto place = [left] {
        constexpr float kWidest = 344; // dp
        const ImVec2 item = ImGui::GetItemRectMin(), end = ImGui::GetItemRectMax();
        const float x = left ? std::max(item.x - theme::dp(6), theme::dp(kWidest)) : end.x + theme::dp(6);
        ImGui::SetNextWindowPos({x, item.y}, ImGuiCond_Always, {left ? 1.0F : 0.0F, 0});
    };
    show_tooltip(text, place);
}

bool close_on_escape() {
    if (!escaped())
        return false;
    ImGui::CloseCurrentPopup();
    return true;
}

void hint(const std::string& text, ImU32 color) {
    ImGui::PushFont(theme::fonts().small);
    ImGui::PushStyleColor(ImGuiCol_Text, theme::vec(color));
    ImGui::TextWrapped("%s", wrapped(*ImGui::GetFont(), text, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
}

bool is_narrow() { return ImGui::GetWindowWidth() < theme::dp(260); }

void control_label(const char* label) {
    const bool narrow = is_narrow();
    if (!narrow)
        ImGui::AlignTextToFramePadding();
    if (!narrow || *label)
        ImGui::TextColored(theme::vec(theme::kDim), "%s", label);
    ImGui::SetNextItemWidth(-1);
    if (narrow)
        return;
    ImGui::SameLine();
    ImGui::SetCursorPosX(ImGui::GetStyle().WindowPadding.x +
                         theme::dp(112)); // the same column inside and outside groups
}

bool value_slider(const std::string& id, double& value, const SliderRange& range, const std::string& unit) {
    ImGui::PushID(id.c_str());
    const ImGuiID self = ImGui::GetID("slider");
    bool changed = false;
    if (typing.id == self) {
        ImGui::SetNextItemWidth(ImGui::CalcItemWidth());
        changed = type_number(self, value, range);
        ImGui::PopID();
        return changed;
    }
    const ImVec2 size(ImGui::CalcItemWidth(), ImGui::GetFrameHeight());
    ImGui::InvisibleButton("slider", size);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
    if ((hovered && ImGui::IsMouseDoubleClicked(0)) || entered()) {
        typing = {self, true, 0};
    } else if (active && (ImGui::IsMouseDragging(0, 1.0F) || ImGui::IsItemActivated())) {
        const double moved =
            from_position((ImGui::GetIO().MousePos.x - low.x) / std::max(size.x, 1.0F), range);
        changed = moved != value;
        value = moved;
    }
    if (const int steps = stepped(); steps != 0) {
        const double next = stepped_by(value, steps, range);
        changed = changed || next != value;
        value = next;
    }
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float round = ImGui::GetStyle().FrameRounding;
    draw.AddRectFilled(low, high, hovered || active ? theme::kFieldHover : theme::kField, round);
    const float x = low.x + static_cast<float>(to_position(value, range)) * size.x;
    if (x > low.x + 1) {
        draw.PushClipRect(low, {x, high.y}, true);
        draw.AddRectFilled(low, high, active ? theme::kAccentHot : theme::kAccentDim, round);
        draw.PopClipRect();
    }
    const float grip = std::max(low.x + theme::dp(2), std::min(x, high.x - theme::dp(2)));
    draw.AddRectFilled({grip - theme::dp(1.5F), low.y + theme::dp(3)},
                       {grip + theme::dp(1.5F), high.y - theme::dp(3)},
                       hovered || active ? theme::kText : theme::kAccent, theme::dp(1.5F));
    focus_ring();
    const std::string text = shown(value, range, unit);
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    draw.AddText({high.x - extent.x - theme::dp(9), low.y + (size.y - extent.y) / 2}, theme::kText,
                 text.c_str());
    ImGui::PopID();
    return changed;
}

bool value_field(const std::string& id, double& value, const SliderRange& range, const std::string& unit) {
    ImGui::PushID(id.c_str());
    const float unit_width = unit.empty() ? 0 : ImGui::CalcTextSize(unit.c_str()).x + theme::dp(8);
    ImGui::SetNextItemWidth(ImGui::CalcItemWidth() - unit_width);
    const bool changed = number_field("##field", value, range, 0);
    if (!unit.empty()) {
        ImGui::SameLine(0, theme::dp(8));
        ImGui::TextColored(theme::vec(theme::kDim), "%s", unit.c_str());
    }
    ImGui::PopID();
    return changed;
}

std::optional<ParamValue> param_control(const std::string& owner, const ParamDecl& decl,
                                        const ParamValue& current, const ParamValue& initial) {
    ImGui::PushID(decl.name.c_str());
    ImGui::BeginGroup();
    control_label(decl.kind == ParamKind::action ? "" : decl.label.c_str());
    std::optional<ParamValue> edited = any_control(decl, current);
    probe::item(owner + "." + decl.name);
    ImGui::EndGroup();
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(1) && current != initial &&
        decl.kind != ParamKind::action)
        edited = initial;
    SliderRange range;
    const bool number = decl.kind == ParamKind::integer || decl.kind == ParamKind::real;
    if (decl.kind == ParamKind::action) {
        tooltip(decl.doc + ".\nKey: " + decl.name);
        ImGui::PopID();
        return edited;
    }
    std::string text = decl.doc + ".";
    if (decl.kind == ParamKind::choice)
        text += "\nNow: " + decl.name + "=" + std::get<std::string>(current) +
                "\nDefault: " + choice_label(decl, std::get<std::string>(initial));
    else if (!is_text(decl.kind)) // a text has no default to restore
        text += "\n" + allowed_text(decl) + "\nDefault: " + to_string(initial) +
                (decl.unit.empty() ? "" : " " + decl.unit);
    if (decl.kind != ParamKind::choice)
        text += "\nKey: " + decl.name;
    if (current != initial && !is_text(decl.kind))
        text += " (right-click to reset)";
    if (number)
        text += slider_range(decl, range) ? "\nDouble-click to type a number." : "\nClick to type a number.";
    tooltip(text);
    ImGui::PopID();
    return edited;
}

void param_controls(const std::string& owner, const Params& params, const EditFunction& edit,
                    const std::function<void(const ParamDecl&)>& after) {
    ImGui::PushID(owner.c_str());
    const Params initial(params.table());
    for (const ParamDecl& decl : params.table().decls()) {
        if (!params.visible(decl))
            continue;
        if (const auto value = param_control(owner, decl, params.get(decl.name), initial.get(decl.name)))
            edit(decl.name, *value);
        if (after)
            after(decl);
    }
    ImGui::PopID();
}

bool tool_button(const char* label, bool pressed, float width) {
    ImGui::PushStyleColor(ImGuiCol_Button, theme::vec(pressed ? theme::kAccentDim : theme::kField));
    const bool clicked = ImGui::Button(label, ImVec2(width, 0));
    ImGui::PopStyleColor();
    return clicked;
}

void sections_of(std::string* open) { open_sections = open; }

bool section(const char* title, bool open_at_first, bool with_buttons) {
    const ImGuiNextItemData next = ImGui::GetCurrentContext()->NextItemData; // the next two items clear it
    if (ImGui::GetCursorPosY() > ImGui::GetStyle().WindowPadding.y + 1) {
        ImGui::Dummy({0, theme::dp(1)});
        ImGui::Separator();
    }
    const bool remembered = open_sections && !with_buttons;
    if ((next.Flags & ImGuiNextItemDataFlags_HasOpen) != 0)
        ImGui::SetNextItemOpen(next.OpenVal, next.OpenCond);
    else if (remembered)
        ImGui::SetNextItemOpen(is_listed(*open_sections, title), ImGuiCond_Once);
    ImGui::PushStyleColor(ImGuiCol_Header, ImVec4(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_HeaderHovered, theme::vec(theme::kField));
    ImGui::PushFont(theme::fonts().bold);
    const bool open =
        ImGui::CollapsingHeader(title, (open_at_first ? ImGuiTreeNodeFlags_DefaultOpen : 0) |
                                           (with_buttons ? ImGuiTreeNodeFlags_AllowItemOverlap : 0));
    ImGui::PopFont();
    ImGui::PopStyleColor(2);
    if (remembered) {
        set_listed(*open_sections, title, open);
        probe::item(std::string("section.") + title);
        tooltip(open ? "Click to close this part of the panel." : "Click to open this part of the panel.");
    }
    return open;
}

void scroll_by_keys() {
    const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
    const float line = ImGui::GetTextLineHeightWithSpacing(), page = ImGui::GetWindowHeight() * 0.8F;
    const float by = (pressed(ImGuiKey_DownArrow) ? line : 0) - (pressed(ImGuiKey_UpArrow) ? line : 0) +
                     (pressed(ImGuiKey_PageDown) ? page : 0) - (pressed(ImGuiKey_PageUp) ? page : 0);
    if (by != 0)
        ImGui::SetScrollY(std::clamp(ImGui::GetScrollY() + by, 0.0F, ImGui::GetScrollMaxY()));
}

} // namespace specklescope
