#include "ui/presets/preset_edits.hpp"
#include "config/presets/preset_file.hpp"

#include "base/error.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using theme::dp;

constexpr const char* kPopup = "presets";
constexpr auto kCompareEvery = 300ms;

bool same_values(const Params& a, const Params& b) {
    const auto& decls = a.table().decls();
    return std::all_of(decls.begin(), decls.end(),
                       [&](const ParamDecl& decl) { return a.get(decl.name) == b.get(decl.name); });
}

/// True if the settings covered by presets are equal; ignores the ends of an automatic range.
bool same_settings(const Settings& then, Session& session) {
    const auto same_shown = [](const Params& a, const Params& b) {
        const auto& decls = a.table().decls();
        return std::all_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
            return (!a.visible(decl) && !b.visible(decl)) || a.get(decl.name) == b.get(decl.name);
        });
    };
    const auto& before = then.chain.stages();
    const auto& now = session.chain().stages();
    return std::equal(before.begin(), before.end(), now.begin(), now.end(),
                      [&](const ChainStage& a, const ChainStage& b) {
                          return a.type == b.type && a.bypassed == b.bypassed &&
                                 same_shown(a.params, b.params);
                      }) &&
           same_shown(then.view, session.settings().view) &&
           same_shown(then.program, session.settings().program);
}

} // namespace

void take_preset(Session& session, const std::string& name) {
    try {
        const PresetTaken taken = with_preset(known_preset(name), session.settings_now());
        if (!same_values(taken.settings.program, session.settings().program)) {
            session.settings().program = taken.settings.program;
            session.say(Message::Level::info,
                        "Preset " + name +
                            " also sets how images are decoded, which takes effect when a source is opened.");
        }
        (void)session.take_preset(taken, true);
    } catch (const std::exception& error) {
        session.say(Message::Level::error, sentence_of(error));
    }
}

void PresetMenu::compare(Session& session, bool open) {
    const auto now = SteadyClock::now();
    const bool asked = compared_ == SteadyClock::time_point();
    if ((!open && loaded_.empty()) || now - compared_ < kCompareEvery)
        return;
    compared_ = now;
    if (!open && !asked && compared_with_ && same_settings(*compared_with_, session))
        return;
    const Settings& set = compared_with_.emplace(session.settings_now());
    const auto of = [&](const std::string& name) {
        try {
            return find_preset(name) ? preset_differences(name, set) : std::vector<std::string>();
        } catch (const std::exception& error) { // the file has become invalid
            return std::vector<std::string>{sentence_of(error)};
        }
    };
    changed_ = of(loaded_).size();
    if (open)
        differences_ = of(selected_);
}

void PresetMenu::list(Session& session) {
    ImGui::BeginChild("##list", {0, std::min(dp(240), ImGui::GetIO().DisplaySize.y * 0.35F)}, true);
    for (const Preset& preset : presets()) {
        if (ImGui::Selectable(preset.name.c_str(), preset.name == selected_,
                              ImGuiSelectableFlags_AllowDoubleClick | ImGuiSelectableFlags_DontClosePopups)) {
            selected_ = preset.name;
            compared_ = {};
            deletes_.clear();
            if (ImGui::IsMouseDoubleClicked(0)) {
                loaded_ = preset.name;
                take_preset(session, preset.name);
            }
        }
        probe::item("preset." + preset.name);
        tooltip(preset.doc + "\nClick to see what it changes; double-click to load it.");
        if (preset.yours()) {
            ImGui::SameLine();
            ImGui::TextColored(theme::vec(theme::kDim), "yours");
        }
    }
    ImGui::EndChild();
}

void PresetMenu::chosen(Session& session) {
    const Preset* preset = find_preset(selected_);
    if (!preset)
        return hint("Choose a preset to see its effect and what loading it would change.");
    const Preset copy = *preset; // copy: deleting invalidates the reference
    hint(copy.doc);
    const bool same = differences_.empty();
    hint(same ? "The present settings are this preset." : "Loading it would change:",
         same ? theme::kGood : theme::kText);
    constexpr std::size_t kMost = 12;
    for (std::size_t i = 0; i < std::min(differences_.size(), kMost); ++i)
        hint("  " + differences_[i], theme::kWarning);
    if (differences_.size() > kMost)
        hint("  and " + std::to_string(differences_.size() - kMost) + " more");
    probe::value("preset.differences", static_cast<double>(differences_.size()));
    probe::value("preset.first", differences_.empty() ? "" : differences_.front());
    if (ImGui::Button("Load", {dp(96), 0})) {
        loaded_ = selected_;
        compared_ = {};
        take_preset(session, selected_);
    }
    probe::item("preset.load");
    tooltip("Load the chain, range and colours of this preset.");
    if (!copy.yours())
        return;
    ImGui::SameLine();
    const bool sure = deletes_ == selected_;
    if (ImGui::Button(sure ? "Press again to delete" : "Delete", {dp(150), 0})) {
        if (!sure) {
            deletes_ = selected_;
        } else {
            try {
                delete_preset(selected_);
                said_ = "Preset " + selected_ + " is deleted.";
                loaded_ = loaded_ == selected_ ? "" : loaded_;
                selected_.clear();
            } catch (const std::exception& error) {
                said_ = sentence_of(error);
            }
            deletes_.clear();
        }
    }
    probe::item("preset.delete");
    tooltip("Delete the file of this preset, after a second press.");
}

void PresetMenu::save_row(Session& session) {
    ImGui::Separator();
    ImGui::SetNextItemWidth(-dp(120));
    if (ImGui::InputTextWithHint("##name", "name of a new preset", &name_)) {
        said_.clear();
        replaces_.clear();
    }
    const bool entered =
        ImGui::IsItemDeactivated() && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter));
    probe::item("preset.name");
    tooltip("Name for a preset of the present chain, range and colours: letters, digits, - and _.");
    ImGui::SameLine();
    const bool replace = !name_.empty() && replaces_ == name_;
    ImGui::BeginDisabled(name_.empty());
    const bool pressed = ImGui::Button(replace ? "Replace it" : "Save as", {-1, 0});
    ImGui::EndDisabled();
    probe::item("preset.save");
    tooltip("Save the present chain, range and colours.");
    if (!(pressed || entered) || name_.empty())
        return;
    try {
        const Preset* there = find_preset(name_);
        if (there && there->yours() && !replace) {
            replaces_ = name_;
            said_ = "You have a preset of this name. Press again to replace it.";
            return;
        }
        save_preset(name_, there && there->yours() ? there->doc : "", session.settings_now(), replace);
        said_ = "Saved as " + preset_path(name_) + ".";
        loaded_ = selected_ = name_;
        compared_ = {};
        name_.clear();
        replaces_.clear();
    } catch (const std::exception& error) {
        said_ = sentence_of(error);
    }
}

void PresetMenu::button(Session& session, bool asked) {
    compare(session, ImGui::IsPopupOpen(kPopup));
    const std::string label =
        loaded_.empty()
            ? std::string("Presets …")
            : "Preset " + loaded_ + (changed_ == 0 ? "" : " · " + std::to_string(changed_) + " changed");
    if (ImGui::Button(
            (fitted(*ImGui::GetFont(), label, ImGui::GetContentRegionAvail().x - dp(16)) + "###presets")
                .c_str(),
            {-1, 0}) ||
        asked) {
        if (!ImGui::IsItemVisible()) // the popup opens next to the button
            ImGui::SetScrollHereY();
        ImGui::OpenPopup(kPopup);
        selected_ = loaded_;
        said_.clear();
        deletes_.clear();
        replaces_.clear();
        compared_ = {};
    }
    probe::item("chain.presets");
    tooltip("Ready-made chains with range and colours, and your own.");
    probe::value("preset.label", label);
    // Open below the button, above it, or over it: completely inside the window.
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax(),
                 screen = ImGui::GetIO().DisplaySize;
    const float edge = dp(4), width = std::min(std::max(dp(320), high.x - low.x), screen.x - 2 * edge);
    float top = high.y + dp(2);
    if (top + height_ > screen.y - edge)
        top = low.y - dp(2) - height_;
    if (top < edge)
        top = std::max(edge, screen.y - edge - height_);
    ImGui::SetNextWindowPos({std::max(edge, std::min(low.x, screen.x - edge - width)), top});
    ImGui::SetNextWindowSizeConstraints({width, 0}, {width, screen.y - 2 * edge});
    ImGui::SetNextWindowSize({width, 0});
    if (!ImGui::BeginPopup(kPopup))
        return;
    height_ = ImGui::GetWindowHeight();
    close_on_escape();
    list(session);
    chosen(session);
    save_row(session);
    if (!said_.empty())
        hint(said_, theme::kWarning);
    probe::value("preset.said", said_);
    ImGui::EndPopup();
}

} // namespace specklescope
