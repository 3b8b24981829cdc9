#include "ui/panels/chain_panel.hpp"

#include "base/error.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace specklescope {

namespace {

using theme::dp;

/// Requested edit of the chain.
struct Wish {
    enum class What : std::uint8_t { nothing, remove, bypass, move } what = What::nothing;
    std::size_t index = 0, to = 0;
};

constexpr const char* kDragged = "stage"; ///< drag payload type: index of the stage (std::size_t)

/// Parameters of the stage with the exposure that the source reports.
Params with_exposure(Params params, double reported_ms) {
    try {
        params.set("exposure", reported_ms);
    } catch (const UsageError&) { // NOLINT(bugprone-empty-catch): its own control cannot show it
    }
    return params;
}

/// Note of the stage in the newest result, if this result belongs to the current chain.
std::string note_of(const Display& display, const Chain& chain, std::size_t index) {
    if (!display.has_result() || !display.result().notes || !display.result().chain)
        return "";
    const std::vector<ChainStage>& made = display.result().chain->stages();
    const StageNotes& notes = *display.result().notes;
    const bool same = made.size() == chain.stages().size() && notes.size() == made.size() &&
                      made[index].type == chain.stages()[index].type;
    return same ? notes[index] : "";
}

/// Draws a small symbol at the right end of a header; returns true if it was clicked.
bool header_sign(const char* id, const std::string& probe_name, const ImVec2& low, const char* sign,
                 const char* what, bool possible) {
    const float side = ImGui::GetFrameHeight();
    const ImVec2 after = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(low);
    const bool clicked = ImGui::InvisibleButton(id, {side, side}) && possible;
    probe::item(probe_name);
    focus_ring();
    const bool hovered = ImGui::IsItemHovered() && possible;
    tooltip(possible ? what : "The stage is at this end of the chain already.");
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

/// Draws the note next to the title; cut if there is no space, with the full text as a tooltip.
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

/// Draws a check box.
void draw_tick(const ImVec2& low, float side, bool on, ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 c(low.x + side / 2, low.y + side / 2);
    const float r = dp(5.5F);
    draw.AddRect({c.x - r, c.y - r}, {c.x + r, c.y + r}, theme::fade(colour, 0.6F), dp(2));
    if (!on)
        return;
    draw.PathLineTo({c.x - dp(3), c.y});
    draw.PathLineTo({c.x - dp(0.8F), c.y + dp(2.6F)});
    draw.PathLineTo({c.x + dp(3.4F), c.y - dp(3)});
    draw.PathStroke(colour, 0, dp(1.8F));
}

/// Drags the header onto another header: the stage takes its position.
void drag_header(std::size_t index, const std::string& title, Wish& wish) {
    if (ImGui::BeginDragDropSource(ImGuiDragDropFlags_SourceNoHoldToOpenOthers)) {
        ImGui::SetDragDropPayload(kDragged, &index, sizeof index);
        ImGui::TextUnformatted(title.c_str());
        ImGui::EndDragDropSource();
    }
    if (ImGui::BeginDragDropTarget()) {
        if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload(kDragged)) {
            std::size_t from = 0;
            std::memcpy(&from, payload->Data, sizeof from);
            if (from != index)
                wish = {Wish::What::move, from, index};
        }
        ImGui::EndDragDropTarget();
    }
}

/// Draws the header. True while the section is open.
bool stage_header(const std::string& owner, const ChainStage& stage, const std::string& note,
                  std::size_t index, std::size_t count, Wish& wish) {
    const std::string title(stage.type->title);
    const float side = ImGui::GetFrameHeight();
    const float before = ImGui::GetFontSize() + 3 * ImGui::GetStyle().FramePadding.x; // width of the arrow
    const bool narrow = is_narrow(); // the signs are below the title
    const float signs = narrow ? 0 : side * 4;
    const std::string shown =
        fitted(*theme::fonts().bold, title, ImGui::GetContentRegionAvail().x - before - signs);
    ImGui::PushStyleColor(ImGuiCol_Text, theme::vec(stage.bypassed ? theme::kDim : theme::kText));
    const bool open = section((shown + "###" + title).c_str(), true, true);
    ImGui::PopStyleColor();
    probe::item(owner + ".header");
    ImGui::SetItemAllowOverlap();
    const ImVec2 low = ImGui::GetItemRectMin();
    tooltip((shown == title ? "" : title + "\n") + std::string(stage.type->doc) +
            "\nDrag it onto another stage to put it there.");
    drag_header(index, title, wish);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const auto place = [&](int from_right) {
        return ImVec2(right - side * static_cast<float>(from_right + 1), low.y + (narrow ? side : 0));
    };
    if (narrow)
        ImGui::Dummy({0, side - ImGui::GetStyle().ItemSpacing.y});
    const auto sign = [&](int from_right, const char* id, const char* text, const char* what, bool possible,
                          const Wish& asked) {
        if (header_sign(id, owner + "." + id, place(from_right), text, what, possible))
            wish = asked;
    };
    using What = Wish::What;
    sign(0, "remove", "×", "Remove this stage", true, {What::remove, index, 0});
    sign(1, "down", "↓", "Later in the chain", index + 1 < count, {What::move, index, index + 1});
    sign(2, "up", "↑", "Earlier in the chain", index > 0, {What::move, index, index - 1});
    sign(3, "bypass", "", stage.bypassed ? "Compute this stage again" : "Bypass this stage: it stays here",
         true, {What::bypass, index, 0});
    draw_tick(place(3), side, !stage.bypassed, stage.bypassed ? theme::kDim : theme::kAccent);
    header_note(shown.c_str(), note, low, right - signs);
    return open;
}

void stage_controls(Session& session, const Display& display, const std::string& owner, std::size_t index,
                    const ChainStage& stage) {
    // If the source reports its exposure, the formula uses it and the control changes the source's exposure.
    const double reported = display.has_result() ? display.result().info.exposure_ms : NAN;
    const bool of_source = std::isfinite(reported) && stage.params.table().find("exposure");
    const bool turns =
        of_source && session.source_params().has_table() && session.source_params().table().find("exposure");
    if (stage.params.table().decls().empty())
        hint("Nothing to set.");
    if (waits_for_file(stage))
        hint("Takes effect when a file is chosen.", theme::kWarning);
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

void grant(Session& session, const Chain& chain, const Wish& wish) {
    switch (wish.what) {
    case Wish::What::remove:
        return remove_stage(session, wish.index);
    case Wish::What::bypass:
        return bypass_stage(session, wish.index, !chain.stages()[wish.index].bypassed);
    case Wish::What::move:
        return move_stage(session, wish.index, wish.to);
    case Wish::What::nothing:
        return;
    }
}

/// Draws the description of a stage in small letters next to its name.
void draw_doc(std::string_view doc) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImFont& small = *theme::fonts().small;
    const ImVec4 clip(low.x + dp(182), low.y, high.x, high.y);
    ImGui::GetWindowDrawList()->AddText(&small, small.FontSize,
                                        {clip.x, low.y + (high.y - low.y - small.FontSize) / 2}, theme::kDim,
                                        doc.data(), doc.data() + doc.size(), 0, &clip);
}

/// Menu of all stages with their descriptions, grouped by purpose.
void add_menu(Session& session) {
    const std::string why = why_no_stage(session);
    ImGui::Dummy({0, dp(1)});
    ImGui::BeginDisabled(!why.empty());
    if (ImGui::Button("+  Add a stage", {-1, 0}))
        ImGui::OpenPopup("add stage");
    ImGui::EndDisabled();
    probe::item("chain.add");
    tooltip(why.empty() ? "Append a stage to the chain." : why);
    if (!ImGui::BeginPopup("add stage"))
        return;
    close_on_escape();
    const float width = std::min(dp(600), ImGui::GetIO().DisplaySize.x * 0.86F);
    for (const StageGroup group : kStageGroups) {
        hint(std::string(title(group)));
        for (const StageType& type : stage_types()) {
            if (type.group != group)
                continue;
            if (ImGui::Selectable(("  " + std::string(type.title)).c_str(), false, 0, {width, 0}))
                add_stage(session, type);
            probe::item("chain.add." + std::string(type.name));
            tooltip(std::string(type.doc));
            draw_doc(type.doc);
        }
    }
    ImGui::EndPopup();
}

} // namespace

void draw_chain(Session& session, const Display& display) {
    const Chain chain = session.chain();
    const std::vector<ChainStage>& stages = chain.stages();
    if (stages.empty())
        hint("No stage: the source is shown as it is.");
    Wish wish;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const ChainStage& stage = stages[i];
        const std::string name(stage.type->name);
        const std::string owner = i == 0 ? name : name + std::to_string(i);
        const auto before = std::count_if(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(i),
                                          [&](const ChainStage& s) { return s.type == stage.type; });
        // Id by name, so that a section stays open when its stage moves.
        ImGui::PushID((name + std::to_string(before)).c_str());
        if (stage_header(owner, stage, note_of(display, chain, i), i, stages.size(), wish))
            stage_controls(session, display, owner, i, stage);
        ImGui::PopID();
    }
    grant(session, chain, wish);
    add_menu(session);
}

namespace {
void send(Session& session, Chain chain) {
    try {
        session.set_chain(std::move(chain));
    } catch (const UsageError& error) {
        session.say(Message::Level::error, error.what());
    }
}
} // namespace

std::string why_no_stage(Session& session) {
    if (!session.pipeline())
        return "No source is open.";
    return session.chain().stages().size() < static_cast<std::size_t>(kMaxStages)
               ? ""
               : "A chain holds at most " + std::to_string(kMaxStages) + " stages.";
}

void add_stage(Session& session, const StageType& type) {
    Chain chain = session.chain();
    chain.add({&type, Params(*type.table)});
    send(session, std::move(chain));
}

void remove_stage(Session& session, std::size_t index) {
    Chain chain = session.chain();
    chain.stages().erase(chain.stages().begin() + static_cast<std::ptrdiff_t>(index));
    send(session, std::move(chain));
}

void move_stage(Session& session, std::size_t from, std::size_t to) {
    Chain chain = session.chain();
    std::vector<ChainStage>& stages = chain.stages();
    const auto at = [&](std::size_t i) { return stages.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to)
        std::rotate(at(from), at(from + 1), at(to + 1));
    else
        std::rotate(at(to), at(from), at(from + 1));
    send(session, std::move(chain));
}

void bypass_stage(Session& session, std::size_t index, bool bypassed) {
    Chain chain = session.chain();
    chain.stages()[index].bypassed = bypassed;
    send(session, std::move(chain));
}

} // namespace specklescope
