#include "ui/presets/preset_edits.hpp"

#include "base/sentence.hpp"
#include "config/presets/preset_file.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using theme::dp;

constexpr const char* kPopup = "presets";
constexpr auto kCompareEvery = 300ms;

const Preset* preset_of(const std::string& name) {
    const auto& all = presets();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Preset& p) { return p.name == name; });
    return found == all.end() ? nullptr : &*found;
}

bool same_values(const Params& a, const Params& b) {
    const auto& decls = a.table().decls();
    return std::all_of(decls.begin(), decls.end(),
                       [&](const ParamDecl& decl) { return a.get(decl.name) == b.get(decl.name); });
}

} // namespace

Settings settings_now(Session& session) {
    Settings now = session.settings();
    now.chain = session.chain();
    return now;
}

void take_preset(Session& session, const std::string& name) {
    try {
        Settings changed = settings_now(session);
        load_preset(name, changed);
        changed.chain.set_channel(session.chain().channel());
        if (!same_values(changed.program, session.settings().program)) {
            session.settings().program = changed.program;
            session.say(Message::Level::info,
                        "Preset " + name +
                            " also says how pictures are read: that takes effect when a "
                            "source is opened.");
        }
        session.settings().view = changed.view;
        session.set_chain(changed.chain);
    } catch (const std::exception& error) {
        session.say(Message::Level::error, sentence_of(error));
    }
}

void PresetMenu::compare(Session& session) {
    if (SteadyClock::now() - compared_ < kCompareEvery)
        return;
    compared_ = SteadyClock::now();
    const Settings now = settings_now(session);
    const auto of = [&](const std::string& name) {
        try {
            return preset_of(name) ? preset_differences(name, now) : std::vector<std::string>();
        } catch (const std::exception& error) { // its file has changed for the worse
            return std::vector<std::string>{sentence_of(error)};
        }
    };
    changed_ = of(loaded_).size();
    differences_ = selected_ == loaded_ && !selected_.empty() ? of(loaded_) : of(selected_);
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
        if (preset.yours) {
            ImGui::SameLine();
            ImGui::TextColored(theme::vec(theme::kDim), "yours");
        }
    }
    ImGui::EndChild();
}

void PresetMenu::chosen(Session& session) {
    const Preset* preset = preset_of(selected_);
    if (!preset)
        return hint("Choose one for what it does, and how what is set differs from it.");
    const Preset copy = *preset; // deleting ends what it refers to
    hint(copy.doc);
    const bool same = differences_.empty();
    hint(same ? "What is set is this preset." : "Loading it would change:",
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
    if (!copy.yours)
        return;
    ImGui::SameLine();
    const bool sure = deletes_ == selected_;
    if (ImGui::Button(sure ? "Delete it for good" : "Delete", {dp(150), 0})) {
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
    ImGui::SameLine();
    const bool replace = !name_.empty() && replaces_ == name_;
    ImGui::BeginDisabled(name_.empty());
    const bool pressed = ImGui::Button(replace ? "Replace it" : "Save as", {-1, 0});
    ImGui::EndDisabled();
    probe::item("preset.save");
    tooltip("Chain, range and colours as they are set now.");
    if (!(pressed || entered) || name_.empty())
        return;
    try {
        const Preset* there = preset_of(name_);
        if (there && there->yours && !replace) {
            replaces_ = name_;
            said_ = "There is a preset of yours with this name; once more replaces it.";
            return;
        }
        save_preset(name_, "", settings_now(session), replace);
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
    compare(session);
    const std::string label =
        loaded_.empty()
            ? std::string("Presets …")
            : "Preset " + loaded_ + (changed_ == 0 ? "" : " · " + std::to_string(changed_) + " changed");
    if (ImGui::Button(
            (fitted(*ImGui::GetFont(), label, ImGui::GetContentRegionAvail().x - dp(16)) + "###presets")
                .c_str(),
            {-1, 0}) ||
        asked) {
        ImGui::OpenPopup(kPopup);
        selected_ = loaded_;
        said_.clear();
        deletes_.clear();
        replaces_.clear();
        compared_ = {};
    }
    probe::item("chain.presets");
    probe::value("preset.label", label);
    // Below the button, or above it where it stands low: as much of it as there is has room.
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const bool above = high.y > 0.45F * ImGui::GetIO().DisplaySize.y;
    ImGui::SetNextWindowPos({low.x, above ? low.y - dp(2) : high.y + dp(2)}, ImGuiCond_Always,
                            {0, above ? 1.0F : 0.0F});
    ImGui::SetNextWindowSize({std::max(dp(320), ImGui::GetItemRectSize().x), 0});
    if (!ImGui::BeginPopup(kPopup))
        return;
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
