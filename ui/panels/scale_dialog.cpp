#include "ui/panels/scale_dialog.hpp"

#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kScaleTitle = "Scale";

std::string plain(double value) { return value > 0 ? to_string(ParamValue(value)) : ""; }

/// Positive number with a decimal comma or point; nullopt for other texts.
std::optional<double> positive(std::string text) {
    std::replace(text.begin(), text.end(), ',', '.');
    const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    if (begin == std::string::npos)
        return {};
    double value = 0;
    const auto [last, error] = std::from_chars(text.data() + begin, text.data() + end + 1, value);
    if (error != std::errc() || last != text.data() + end + 1 || !(value > 0))
        return {};
    return value;
}

bool blank(const std::string& text) { return text.find_first_not_of(' ') == std::string::npos; }

} // namespace

bool ScaleDialog::apply(Session& session) {
    if (blank(um_)) {
        session.set_um_per_px(0);
        return true;
    }
    const ParamDecl& decl = program_table().at("um_per_px");
    const std::optional<double> um = positive(um_);
    if (!um || *um > decl.max) {
        error_ = "'" + um_ + "' is not a pixel size; allowed: a number of µm above 0, up to " +
                 number_text(decl.max) + ", or nothing.";
        return false;
    }
    session.set_um_per_px(*um);
    return true;
}

void ScaleDialog::draw(Session& session, bool confirm, bool dismiss) {
    if (std::exchange(ask, false)) {
        line_.clear();
        length_.clear();
        error_.clear();
        const double um = session.um_per_px(session.chain());
        um_ = plain(um);
        if (const RegionEditor::Index at = session.regions.selected())
            if (const Region& region = session.regions.regions()[*at];
                region.shape == RegionShape::line && region.points.size() == 2) {
                line_ = region.name;
                line_px_ = std::hypot(region.points[1].x - region.points[0].x,
                                      region.points[1].y - region.points[0].y);
                length_ = plain(um * line_px_);
            }
        ImGui::OpenPopup(kScaleTitle);
        confirm = dismiss = false; // the key that opened the dialog
    }
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(480), ImGui::GetIO().DisplaySize.x * 0.92F), 0});
    bool open = true;
    if (!ImGui::BeginPopupModal(kScaleTitle, &open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize))
        return;
    const bool has_line = !line_.empty() && line_px_ > 0;
    const auto field = [&](const char* id, std::string& text, const char* what, bool first) {
        if (first && (ImGui::IsWindowAppearing() || std::exchange(refused_, false)))
            ImGui::SetKeyboardFocusHere();
        ImGui::SetNextItemWidth(dp(120));
        const bool changed = ImGui::InputText(id, &text, ImGuiInputTextFlags_AutoSelectAll);
        probe::item(std::string("scale.") + (id + 2));
        tooltip(std::string("Type a number: ") + what);
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(what);
        if (changed)
            error_.clear();
        return changed;
    };
    if (has_line) {
        const std::string what = "µm: the length of " + line_ + ", " + number_text(line_px_) + " px";
        if (field("##length", length_, what.c_str(), true)) {
            const std::optional<double> length = positive(length_);
            um_ = length ? plain(*length / line_px_) : length_;
        }
    }
    if (field("##um", um_, "µm per pixel of the result", !has_line) && has_line) {
        const std::optional<double> um = positive(um_);
        length_ = um ? plain(*um * line_px_) : um_;
    }
    const bool pressed = ImGui::Button("Set", {dp(120), 0});
    probe::item("scale.set");
    tooltip("Use this pixel size for the scale bar, areas, widths and files. Enter does the same.");
    const bool done = (pressed || confirm) && apply(session);
    refused_ = (pressed || confirm) && !done;
    const KeyBindings& keys = session.settings().keys;
    const std::string said = "Empty: the file's value, or unknown.";
    hint(!error_.empty() ? error_
         : has_line      ? said
                         : with_key("Or draw a line", keys, Action::line_tool) +
                          " over an object of known length, select it, and open this dialog again" +
                          with_key("", keys, Action::pixel_size) + ". " + said,
         error_.empty() ? theme::kDim : theme::kWarning);
    probe::value("scale.error", error_);
    if (done || !open || dismiss)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

void draw_scale_line(Session& session, const Chain& chain, ScaleDialog& dialog) {
    const double um = session.um_per_px(chain);
    control_label("Pixel size");
    const std::string text = um > 0 ? number_text(um) + " µm" : "not known";
    if (ImGui::Button((text + " …##scale").c_str(), {ImGui::CalcItemWidth(), 0}))
        dialog.ask = true;
    probe::item("view.scale");
    tooltip(with_key("Side of a pixel of the result, for the scale bar, areas, widths and calibrated files",
                     session.settings().keys, Action::pixel_size));
}

} // namespace specklescope
