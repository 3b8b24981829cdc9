#include "ui/panels/chain_panel.hpp"

#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

using theme::dp;

enum class Move : std::uint8_t { none, up, down, remove };

/// The stage's parameters as they take effect: with the exposure that the source reports.
Params with_exposure(Params params, double reported_ms) {
    try {
        params.set("exposure", reported_ms);
    } catch (const UsageError&) { // outside what the stage's own control can show
    }
    return params;
}

/// What the stage of the newest result says of itself, if that result comes from this chain.
std::string note_of(const Display& display, const Chain& chain, std::size_t index) {
    if (!display.has_result() || !display.result().notes || !display.result().chain)
        return "";
    const std::vector<ChainStage>& made = display.result().chain->stages();
    const StageNotes& notes = *display.result().notes;
    const bool same = made.size() == chain.stages().size() && notes.size() == made.size() &&
                      made[index].type == chain.stages()[index].type;
    return same ? notes[index] : "";
}

/// A small sign at the right end of a header; the mouse may be over it and over the header.
bool header_sign(const char* id, const std::string& probe_name, const ImVec2& low, const char* sign,
                 const char* what, bool possible) {
    const float side = ImGui::GetFrameHeight();
    const ImVec2 after = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(low);
    const bool clicked = ImGui::InvisibleButton(id, {side, side}) && possible;
    probe::item(probe_name);
    const bool hovered = ImGui::IsItemHovered() && possible;
    if (possible)
        tooltip(what);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (hovered)
        draw.AddRectFilled({low.x + dp(2), low.y + dp(3)}, {low.x + side - dp(2), low.y + side - dp(3)},
                           theme::kFieldHover, ImGui::GetStyle().FrameRounding);
    const ImVec2 extent = ImGui::CalcTextSize(sign);
    draw.AddText({low.x + (side - extent.x) / 2, low.y + (side - extent.y) / 2},
                 hovered    ? theme::kText
                 : possible ? theme::kDim
                            : theme::fade(theme::kDim, 0.3F),
                 sign);
    ImGui::SetCursorScreenPos(after);
    return clicked;
}

/// Beside the title where there is room, otherwise cut, with the whole of it as a tooltip.
void header_note(const char* title, const std::string& note, const ImVec2& low, float right) {
    if (note.empty())
        return;
    ImFont& bold = *theme::fonts().bold;
    ImFont& small = *theme::fonts().small;
    const ImGuiStyle& style = ImGui::GetStyle();
    const float x = ImGui::GetWindowPos().x + style.WindowPadding.x + ImGui::GetFontSize() +
                    style.FramePadding.x * 3 + bold.CalcTextSizeA(bold.FontSize, FLT_MAX, 0, title).x +
                    dp(10);
    const float y = low.y + (ImGui::GetFrameHeight() - small.FontSize) / 2 + dp(0.5F);
    const ImVec2 extent = small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, note.c_str());
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(&small, small.FontSize, {x, y}, theme::kAccent,
                 fitted(small, note, right - x - dp(4)).c_str());
    if (ImGui::IsMouseHoveringRect({x, low.y},
                                   {std::min(right, x + extent.x), low.y + ImGui::GetFrameHeight()}) &&
        x + extent.x > right) {
        ImGui::BeginTooltip();
        ImGui::TextUnformatted(note.c_str());
        ImGui::EndTooltip();
    }
}

struct Header {
    bool open = false;
    Move move = Move::none;
};

Header stage_header(const std::string& owner, const StageType& type, const std::string& note, bool first,
                    bool last) {
    Header header;
    const std::string title = title_case(std::string(type.name));
    header.open = section(title.c_str(), true, true);
    ImGui::SetItemAllowOverlap();
    const ImVec2 low = ImGui::GetItemRectMin();
    tooltip(std::string(type.doc));
    const float side = ImGui::GetFrameHeight();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const auto sign = [&](int from_right, const char* id, const char* text, const char* what, bool possible,
                          Move move) {
        if (header_sign(id, owner + "." + id, {right - side * static_cast<float>(from_right + 1), low.y},
                        text, what, possible))
            header.move = move;
    };
    sign(0, "remove", "×", "Take this stage out", true, Move::remove);
    sign(1, "down", "↓", "Later in the chain", !last, Move::down);
    sign(2, "up", "↑", "Earlier in the chain", !first, Move::up);
    header_note(title.c_str(), note, low, right - side * 3);
    return header;
}

void stage_controls(Session& session, const Display& display, const std::string& owner, std::size_t index,
                    const ChainStage& stage) {
    // Where the source reports its exposure the formula uses that, so the control turns the source's.
    const double reported = display.has_result() ? display.result().info.exposure_ms : NAN;
    const bool of_source = std::isfinite(reported) && stage.params.table().find("exposure");
    const bool turns =
        of_source && session.source_params().has_table() && session.source_params().table().find("exposure");
    if (stage.params.table().decls().empty())
        hint("Nothing to set.");
    if (waits_for_file(stage))
        hint("Takes effect when the file is given.", theme::kWarning);
    param_controls(
        owner, of_source ? with_exposure(stage.params, reported) : stage.params,
        [&](const std::string& name, const ParamValue& value) {
            if (name == "exposure" && turns)
                session.edit_source(name, value);
            else
                session.edit(index, name, value);
        },
        [&](const ParamDecl& decl) {
            if (decl.name == "exposure" && of_source)
                hint(turns ? "Sets the exposure of the source."
                           : "The source reports it; that value is used.",
                     theme::kAccent);
        });
}

void apply(Session& session, Chain chain, std::size_t index, Move move) {
    std::vector<ChainStage>& stages = chain.stages();
    const auto at = stages.begin() + static_cast<std::ptrdiff_t>(index);
    if (move == Move::remove)
        stages.erase(at);
    else if (move == Move::up && index > 0)
        std::iter_swap(at, at - 1);
    else if (move == Move::down && index + 1 < stages.size())
        std::iter_swap(at, at + 1);
    session.set_chain(std::move(chain));
}

/// Every stage there is, with its line, in the order of the registry.
void add_menu(Session& session, const Chain& chain) {
    const bool full = chain.stages().size() >= static_cast<std::size_t>(kMaxStages);
    ImGui::Dummy({0, dp(1)});
    ImGui::BeginDisabled(full || !session.pipeline());
    if (ImGui::Button("+  Add a stage", {-1, 0}))
        ImGui::OpenPopup("add stage");
    ImGui::EndDisabled();
    probe::item("chain.add");
    if (full)
        tooltip("A chain holds at most " + std::to_string(kMaxStages) + " stages.");
    if (!ImGui::BeginPopup("add stage"))
        return;
    close_on_escape();
    for (const StageType& type : stage_types()) {
        const std::string name(type.name);
        if (ImGui::Selectable(title_case(name).c_str(), false, 0, {dp(540), 0})) {
            Chain longer = chain;
            longer.add({&type, Params(*type.table)});
            session.set_chain(std::move(longer));
        }
        probe::item("chain.add." + name);
        tooltip(std::string(type.doc));
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        ImFont& small = *theme::fonts().small;
        const ImVec4 clip(low.x + dp(118), low.y, high.x, high.y);
        ImGui::GetWindowDrawList()->AddText(
            &small, small.FontSize, {clip.x, low.y + (high.y - low.y - small.FontSize) / 2}, theme::kDim,
            type.doc.data(), type.doc.data() + type.doc.size(), 0, &clip);
    }
    ImGui::EndPopup();
}

} // namespace

void draw_chain(Session& session, const Display& display) {
    const Chain chain = session.chain();
    const std::vector<ChainStage>& stages = chain.stages();
    if (stages.empty())
        hint("No stage: the source is shown as it is.");
    std::size_t moved = 0;
    Move move = Move::none;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const ChainStage& stage = stages[i];
        const std::string name(stage.type->name);
        const std::string owner = i == 0 ? name : name + std::to_string(i);
        const auto before = std::count_if(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(i),
                                          [&](const ChainStage& s) { return s.type == stage.type; });
        // By name, so that a section stays open where its stage moves.
        ImGui::PushID((name + std::to_string(before)).c_str());
        const Header header =
            stage_header(owner, *stage.type, note_of(display, chain, i), i == 0, i + 1 == stages.size());
        if (header.open)
            stage_controls(session, display, owner, i, stage);
        ImGui::PopID();
        if (header.move != Move::none) {
            moved = i;
            move = header.move;
        }
    }
    if (move != Move::none)
        apply(session, chain, moved, move);
    add_menu(session, chain);
}

} // namespace specklescope
