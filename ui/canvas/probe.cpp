#include "ui/canvas/probe.hpp"

#include <imgui.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace specklescope::probe {

namespace {

struct State {
    std::string path;
    nlohmann::json widgets = nlohmann::json::object();
    nlohmann::json values = nlohmann::json::object();
    std::uint64_t frame = 0;
    std::chrono::steady_clock::time_point last{};
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

} // namespace

bool enabled() { return !state().path.empty(); }

void widget(const std::string& name, double x, double y, double width, double height) {
    if (enabled())
        state().widgets[name] = {x, y, width, height};
}

void item(const std::string& name) {
    if (!enabled())
        return;
    const ImVec2 low = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
    widget(name, low.x, low.y, size.x, size.y);
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
        value("walk.on", name); // has the keyboard focus
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
    const auto now = std::chrono::steady_clock::now();
    if (now - s.last > std::chrono::milliseconds(200)) {
        s.last = now;
        const std::string partial = s.path + ".part";
        std::ofstream(partial)
            << nlohmann::json{{"frame", s.frame}, {"widgets", s.widgets}, {"values", s.values}}.dump(
                   1, ' ', false,
                   nlohmann::json::error_handler_t::replace); // file names may contain any bytes
        std::error_code ignored;
        std::filesystem::rename(partial, s.path, ignored); // readers never get a partial file
    }
    s.widgets.clear();
    s.values.clear();
}

} // namespace specklescope::probe
