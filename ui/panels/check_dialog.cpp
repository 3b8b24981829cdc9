#include "ui/panels/check_dialog.hpp"

#include "base/error.hpp"
#include "config/atomic_file.hpp"
#include "config/look/check_source.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kCheckTitle = "Check this recording";

ImU32 color_of(Sure sure) {
    return sure == Sure::certain ? theme::kError : sure == Sure::likely ? theme::kWarning : theme::kText;
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

/// A column of a wrapped row.
void cell(const std::string& text, ImU32 color = theme::kText) {
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    ImGui::TextUnformatted(wrapped(*ImGui::GetFont(), text, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopStyleColor();
}

void facts_lines(const CheckFacts& facts) {
    for (const auto& [name, value] : fact_rows(facts)) {
        ImGui::TextColored(theme::vec(theme::kDim), "%s", capital(name).c_str());
        ImGui::SameLine(dp(96));
        ImGui::TextUnformatted(wrapped(*ImGui::GetFont(), value, ImGui::GetContentRegionAvail().x).c_str());
    }
}

/// Returns the height of the table, which scrolls where it is higher than `most`.
float findings_table(const std::vector<Finding>& findings, float height, float most) {
    static constexpr std::array<std::pair<const char*, float>, 4> kColumns = {
        {{"Finding", 0.3F}, {"How sure", 0.1F}, {"Effect on K", 0.28F}, {"What to do", 0.32F}}};
    ImGui::BeginChild("##findings", {0, std::min(height, most)}, false, ImGuiWindowFlags_NavFlattened);
    if (ImGui::BeginTable("findings", static_cast<int>(kColumns.size()),
                          ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg |
                              ImGuiTableFlags_BordersInnerH)) {
        for (const auto& [name, share] : kColumns)
            ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthStretch, share);
        ImGui::TableNextRow();
        for (const auto& [name, share] : kColumns)
            cell(name, theme::kDim);
        for (const Finding& finding : findings) {
            ImGui::TableNextRow();
            cell(capital(finding.text));
            cell(to_string(finding.sure), color_of(finding.sure));
            cell(capital(finding.effect));
            cell(capital(finding.advice));
        }
        ImGui::EndTable();
    }
    if (height > most)
        scroll_by_keys();
    height = ImGui::GetCursorPosY();
    ImGui::EndChild();
    return height;
}

} // namespace

void CheckDialog::begin(const Session& session) {
    source_ = session.pipeline()->stream().source_text;
    notes_.reset();
    height_ = 1; // not known yet
    check_.clear();
    check_.ask([work = session.check()]() -> Checked {
        try {
            return {work(), ""};
        } catch (const std::exception& error) {
            return {{}, sentence_of(error)};
        }
    });
}

void CheckDialog::buttons(Session& session) {
    const CheckReport& report = check_.result()->report;
    if (std::exchange(arrived_, false))
        ImGui::SetKeyboardFocusHere();
    if (ImGui::Button("Copy", {dp(96), 0}))
        ImGui::SetClipboardText((source_ + "\n" + check_text(report)).c_str());
    probe::item("check.copy");
    tooltip("Copy the facts and findings as text.");
    ImGui::SameLine();
    if (ImGui::Button("Save", {dp(96), 0})) {
        notes_ = session.notices().count();
        session.recordings.save("check", ".json",
                                [text = check_json(report, source_)](const std::string& path) {
                                    return "Check saved as " + write_new(path, text) + ".";
                                });
    }
    probe::item("check.save");
    tooltip("Save the facts and findings as JSON in the folder of recordings.");
    ImGui::SameLine();
}

void CheckDialog::draw(Session& session, bool confirm, bool dismiss) {
    arrived_ = check_.poll() || arrived_;
    if (std::exchange(ask, false)) {
        begin(session);
        ImGui::OpenPopup(kCheckTitle);
        confirm = dismiss = false; // the key that opened the dialog
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(860), screen.x * 0.94F), 0});
    bool open = true;
    if (!ImGui::BeginPopupModal(kCheckTitle, &open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
        check_.clear();
        return;
    }
    ImGui::PushFont(theme::fonts().bold);
    ImGui::TextUnformatted(
        label_text(fitted_name(*ImGui::GetFont(), one_line(source_), ImGui::GetContentRegionAvail().x))
            .c_str());
    ImGui::PopFont();
    probe::value("check.part", check_.part());
    const auto& checked = check_.result();
    if (!checked) {
        hint("Reading frames …");
        ImGui::ProgressBar(static_cast<float>(check_.part()), {-1, 0});
    } else if (!checked->error.empty()) {
        hint(checked->error, theme::kWarning);
    } else {
        const std::vector<Finding>& findings = checked->report.findings;
        facts_lines(checked->report.facts);
        ImGui::Dummy({0, dp(4)});
        if (findings.empty())
            hint("No fault found.", theme::kGood);
        else
            height_ = findings_table(findings, height_, screen.y * 0.45F);
        probe::value("check.frames", checked->report.facts.frames);
        std::string keys;
        for (const Finding& finding : findings)
            keys += (keys.empty() ? "" : " ") + finding.what;
        probe::value("check.findings", keys);
        probe::value("check.text", check_text(checked->report));
        if (const auto& notes = session.notices(); notes_ && notes.count() > *notes_)
            hint(notes.list().back().text);
        ImGui::Dummy({0, dp(4)});
        buttons(session);
    }
    probe::value("check.error", checked ? checked->error : "");
    const bool close = ImGui::Button(checked ? "Close" : "Cancel", {dp(96), 0});
    probe::item("check.close");
    tooltip("Close this dialog. Escape does the same.");
    if (close || !open || (confirm && checked) || dismiss)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace specklescope
