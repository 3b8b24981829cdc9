#include "ui/actions/palette.hpp"
#include "config/presets/preset_file.hpp"

#include "session/session.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/chain_panel.hpp"
#include "ui/panels/controls.hpp"
#include "ui/presets/preset_edits.hpp"
#include "ui/sources/open_dialog.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kPaletteTitle = "##palette";
constexpr const char* kRecent = "Open recent";

/// Arrow keys move through the list while the field has the keyboard.
int moves(ImGuiInputTextCallbackData* data) {
    *static_cast<int*>(data->UserData) += data->EventKey == ImGuiKey_UpArrow ? -1 : 1;
    return 0;
}

} // namespace

std::vector<const PaletteEntry*> fitting(const std::vector<PaletteEntry>& entries, const std::string& typed) {
    struct Found {
        int score;
        bool possible;
        const PaletteEntry* entry;
    };
    std::vector<Found> found;
    for (const PaletteEntry& entry : entries) {
        const std::optional<int> words = fuzzy_score(typed, entry.kind + " " + entry.text);
        const std::optional<int> name = fuzzy_score(typed, entry.name);
        if (words || name)
            found.push_back({std::max(words.value_or(name.value_or(0)), name.value_or(words.value_or(0))),
                             entry.why_not.empty(), &entry});
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return std::tuple(b.score, b.possible) < std::tuple(a.score, a.possible);
    });
    std::vector<const PaletteEntry*> ordered;
    ordered.reserve(found.size());
    for (const Found& one : found)
        ordered.push_back(one.entry);
    return ordered;
}

void Palette::list(const std::vector<const PaletteEntry*>& found, const PaletteEntry*& chosen) {
    const float most = std::min(dp(420), ImGui::GetIO().DisplaySize.y * 0.6F);
    const float rows = static_cast<float>(found.size() + 1) * ImGui::GetTextLineHeightWithSpacing();
    ImGui::BeginChild("##found", {0, kind_.empty() ? most : std::min(most, rows)});
    const float width = ImGui::GetContentRegionAvail().x;
    for (int i = 0; i < static_cast<int>(found.size()); ++i) {
        const PaletteEntry& entry = *found[static_cast<std::size_t>(i)];
        const bool possible = entry.why_not.empty();
        ImGui::PushID(i);
        if (ImGui::Selectable("##entry", i == selected_, 0, {0, 0}))
            chosen = &entry;
        probe::widget("palette.row." + std::to_string(i), ImGui::GetItemRectMin().x,
                      ImGui::GetItemRectMin().y, width, ImGui::GetItemRectSize().y);
        if (i == selected_ && moved_)
            ImGui::SetScrollHereY();
        const ImVec2 low = ImGui::GetItemRectMin();
        const std::string side_note = possible ? entry.keys : entry.why_not;
        const float right = ImGui::CalcTextSize(side_note.c_str()).x;
        const float left = dp(108), room = width - left - dp(14);
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        const ImU32 dim = possible ? theme::kDim : theme::fade(theme::kDim, 0.7F);
        draw.AddText({low.x + dp(4), low.y}, dim,
                     fitted(*ImGui::GetFont(), entry.kind, left - dp(10)).c_str());
        const float words = std::max(dp(60), room * (possible ? 0.8F : 0.5F));
        const std::string text = entry.kind == kRecent ? fitted_name(*ImGui::GetFont(), entry.text, words)
                                                       : fitted(*ImGui::GetFont(), entry.text, words);
        draw.AddText({low.x + left, low.y}, possible ? theme::kText : dim, text.c_str());
        const float used = ImGui::CalcTextSize(text.c_str()).x + dp(12);
        const std::string fits =
            right < room - used ? side_note : fitted(*ImGui::GetFont(), side_note, room - used);
        draw.AddText({low.x + width - ImGui::CalcTextSize(fits.c_str()).x - dp(8), low.y}, dim, fits.c_str());
        if (!possible)
            tooltip(entry.why_not);
        ImGui::PopID();
    }
    if (found.empty())
        hint("No matches.");
    ImGui::EndChild();
}

void Palette::draw(const std::function<std::vector<PaletteEntry>()>& entries, bool confirm, bool dismiss) {
    if (std::exchange(asked_, false)) {
        typed_.clear();
        said_.clear();
        selected_ = 0;
        ImGui::OpenPopup(kPaletteTitle);
        confirm = dismiss = false; // the key that opened the palette
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.12F}, ImGuiCond_Always, {0.5F, 0});
    ImGui::SetNextWindowSize({std::min(dp(640), screen.x * 0.94F), 0});
    const bool shown = ImGui::BeginPopup(kPaletteTitle, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize);
    probe::value("palette", shown ? 1.0 : 0.0);
    if (!shown)
        return;
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    const int before = selected_;
    if (ImGui::InputTextWithHint(
            "##typed", kind_.empty() ? "action: a few letters of its name" : "a few letters of the edit",
            &typed_, ImGuiInputTextFlags_CallbackHistory, moves, &selected_)) {
        selected_ = 0;
        said_.clear();
    }
    probe::item("palette.text");
    tooltip("Type a few letters of an action, stage, preset or source. Arrow keys choose, Enter runs it.");
    moved_ = selected_ != before;
    std::vector<PaletteEntry> all = entries();
    if (!kind_.empty())
        std::erase_if(all, [&](const PaletteEntry& entry) { return entry.kind != kind_; });
    const std::vector<const PaletteEntry*> found = fitting(all, typed_);
    selected_ = std::clamp(selected_, 0, std::max(0, static_cast<int>(found.size()) - 1));
    const PaletteEntry* chosen = nullptr;
    list(found, chosen);
    if (confirm && !found.empty())
        chosen = found[static_cast<std::size_t>(selected_)];
    hint(said_.empty() ? "Enter: run. ↑ ↓: choose. Esc: close." : said_,
         said_.empty() ? theme::kDim : theme::kWarning);
    probe::value("palette.found", static_cast<double>(found.size()));
    probe::value("palette.first", found.empty() ? "" : found[static_cast<std::size_t>(selected_)]->text);
    probe::value("palette.said", said_);
    if (chosen && !chosen->why_not.empty())
        said_ = chosen->why_not;
    const bool does = chosen && chosen->why_not.empty();
    if (does || dismiss)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    if (does)
        chosen->run();
}

namespace {

constexpr int kLetter = 1, kBegin = 4, kFollows = 3, kLeftOut = 1;
constexpr int kNone = -1000000;

char fold(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
/// Non-ASCII bytes belong to words.
bool in_word(char c) {
    return static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

int word_score(std::string_view word, std::string_view text) {
    std::vector<int> best(text.size(), kNone), next; // best score if the last letter is at j
    for (std::size_t i = 0; i < word.size(); ++i) {
        next.assign(text.size(), kNone);
        int before = kNone; // best score with the previous letter further back, less the letters between
        for (std::size_t j = 0; j < text.size(); ++j) {
            if (fold(text[j]) == fold(word[i])) {
                const bool begins = j == 0 || !in_word(text[j - 1]);
                const int own = kLetter + (begins ? kBegin : 0);
                if (i == 0)
                    next[j] = own;
                else
                    next[j] =
                        own + std::max(j > 0 && best[j - 1] > kNone ? best[j - 1] + kFollows : kNone, before);
                next[j] = std::max(next[j], kNone);
            }
            before = std::max(before, j > 0 ? best[j - 1] : kNone);
            if (before > kNone)
                before -= kLeftOut;
        }
        best = next;
    }
    const int found = best.empty() ? kNone : *std::max_element(best.begin(), best.end());
    return found > kNone / 2 ? found : kNone;
}

} // namespace

std::optional<int> fuzzy_score(std::string_view typed, std::string_view text) {
    int sum = 0;
    while (true) {
        const std::size_t begin = std::min(typed.find_first_not_of(' '), typed.size());
        typed.remove_prefix(begin);
        if (typed.empty())
            return sum;
        const std::size_t end = std::min(typed.find(' '), typed.size());
        const int score = word_score(typed.substr(0, end), text);
        if (score == kNone)
            return std::nullopt;
        sum += score;
        typed.remove_prefix(end);
    }
}

void add_chain_entries(Session& session, std::vector<PaletteEntry>& entries) {
    const std::string full = why_no_stage(session);
    for (const StageType& type : stage_types())
        entries.push_back({"Add a stage", std::string(type.title), std::string(type.name), "", full,
                           [&session, &type] { add_stage(session, type); }});
    const std::vector<ChainStage>& stages = session.chain().stages();
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::string title = std::to_string(i + 1) + ". " + std::string(stages[i].type->title);
        const bool bypassed = stages[i].bypassed;
        entries.push_back({"Chain", (bypassed ? "Compute " : "Bypass ") + title, "bypass", "", "",
                           [&session, i, bypassed] { bypass_stage(session, i, !bypassed); }});
        entries.push_back(
            {"Chain", "Take out " + title, "remove", "", "", [&session, i] { remove_stage(session, i); }});
        entries.push_back({"Chain", "Move " + title + " earlier", "up", "",
                           i > 0 ? "" : "It is the first region.",
                           [&session, i] { move_stage(session, i, i - 1); }});
        entries.push_back({"Chain", "Move " + title + " later", "down", "",
                           i + 1 < stages.size() ? "" : "It is the last region.",
                           [&session, i] { move_stage(session, i, i + 1); }});
    }
}

void add_preset_entries(Session& session, std::vector<PaletteEntry>& entries) {
    for (const Preset& preset : presets())
        entries.push_back({"Preset", preset.name + ": " + preset.doc, preset.name, "",
                           session.pipeline() ? "" : "No source is open.",
                           [&session, name = preset.name] { take_preset(session, name); }});
}

void add_source_entries(Session& session, std::vector<PaletteEntry>& entries) {
    for (const RecentSource& recent : recent_sources(session))
        entries.push_back({kRecent, recent.source.shown(), "", recent.note,
                           session.opening() ? "Another source is being opened." : "",
                           [&session, source = recent.source] { session.open(source); },
                           std::string("File/") + kRecent});
}

} // namespace specklescope
