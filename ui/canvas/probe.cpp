#include "ui/canvas/probe.hpp"

#include <imgui.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace specklescope::probe {

namespace {

struct State {
    std::string path;
    nlohmann::json widgets = nlohmann::json::object();
    nlohmann::json values = nlohmann::json::object();
    std::map<std::string, Rect> controls;
    std::vector<Rect> explained; ///< items with a tooltip
    std::uint64_t frame = 0;
};

State& state() {
    static State instance = [] {
        State made;
        if (const char* path = std::getenv("SPECKLESCOPE_UI_PROBE"))
            made.path = path;
        return made;
    }();
    return instance;
}

Rect last_item() {
    const ImVec2 low = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
    return {low.x, low.y, size.x, size.y};
}

bool lies_in(const Rect& inner, const Rect& outer) {
    constexpr double kRounding = 1;
    return inner.x >= outer.x - kRounding && inner.y >= outer.y - kRounding &&
           inner.x + inner.width <= outer.x + outer.width + kRounding &&
           inner.y + inner.height <= outer.y + outer.height + kRounding;
}

/// Names of the controls that have no tooltip.
nlohmann::json unexplained(const State& s) {
    nlohmann::json names = nlohmann::json::array();
    for (const auto& [name, place] : s.controls)
        if (std::none_of(s.explained.begin(), s.explained.end(),
                         [&place = place](const Rect& one) { return lies_in(place, one); }))
            names.push_back(name);
    return names;
}

} // namespace

bool enabled() { return !state().path.empty(); }

void widget(const std::string& name, double x, double y, double width, double height) {
    if (enabled())
        state().widgets[name] = {x, y, width, height};
}

void item(const std::string& name) {
    if (!enabled())
        return;
    const Rect place = last_item();
    widget(name, place.x, place.y, place.width, place.height);
    state().controls[name] = place;
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
        value("walk.on", name); // has the keyboard focus
}

void explained() {
    if (enabled())
        state().explained.push_back(last_item());
}

void value(const std::string& name, double number) {
    if (enabled())
        state().values[name] = std::isfinite(number) ? nlohmann::json(number) : nlohmann::json(nullptr);
}

void value(const std::string& name, const std::string& text) {
    if (enabled())
        state().values[name] = text;
}

void end_frame() {
    if (!enabled())
        return;
    State& s = state();
    ++s.frame;
    const ImGuiIO& io = ImGui::GetIO();
    value("mouse.x", io.MousePos.x);
    value("mouse.y", io.MousePos.y);
    value("mouse.down", io.MouseDown[ImGuiMouseButton_Left] ? 1 : 0);
    const std::string partial = s.path + ".part";
    std::ofstream(partial)
        << nlohmann::json{{"frame", s.frame},
                          {"widgets", s.widgets},
                          {"values", s.values},
                          {"unexplained", unexplained(s)}}
               .dump(1, ' ', false,
                     nlohmann::json::error_handler_t::replace); // file names may contain any bytes
    std::error_code ignored;
    std::filesystem::rename(partial, s.path, ignored); // readers never get a partial file
    s.widgets.clear();
    s.values.clear();
    s.controls.clear();
    s.explained.clear();
}

} // namespace specklescope::probe
