#include "ui/regions/region_panel.hpp"

#include "base/error.hpp"
#include "ui/canvas/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_drawing.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr int kRowsShown = 10; ///< more scroll

const char* sentence_of_mean(RegionMean mean) {
    switch (mean) {
    case RegionMean::of_squares:
        return "The mean is the root of the mean of K²: contrasts are averaged as squares.";
    case RegionMean::of_inverses:
        return "The mean is taken on K² and then converted: c over the mean of K².";
    case RegionMean::plain:
        break;
    }
    return "The mean is that of the values.";
}

const char* sentence_of_fit(RegionFit fit) {
    switch (fit) {
    case RegionFit::clipped:
        return "It lies partly outside the picture: only its pixels inside are measured.";
    case RegionFit::outside:
        return "It lies outside the picture: it is kept, and has no numbers.";
    case RegionFit::whole:
        break;
    }
    return "";
}

std::string mean_text(const RegionStatistics& s) {
    const std::string mean = number_text(s.mean);
    return std::isfinite(s.std) ? mean + " ± " + number_text(s.std, 3) : mean;
}

std::string area_text(const RegionStatistics& s, double um) {
    return number_text(static_cast<double>(s.pixels) * um * um);
}

/// What the row has no room for.
std::string details(const Region& region, const RegionStatistics& s, const RegionNumbers& numbers) {
    const std::string& unit = numbers.unit;
    std::string text = to_string(region.shape) + " of " + count_text(s.pixels) + " px" +
                       (numbers.um_per_px > 0 ? ", " + area_text(s, numbers.um_per_px) + " µm²" : "") +
                       " · min " + number_text(s.min) + " · max " + number_text(s.max);
    if (std::isfinite(s.median))
        text += " · median " + number_text(s.median);
    text += " · plain mean of the map " + quantity_text(s.mean_of_map, unit);
    const auto count = [&](std::uint64_t n, const char* what) {
        if (n > 0)
            text += " · " + count_text(n) + what;
    };
    count(s.infinite, " infinite");
    count(s.undefined, " undefined");
    if (s.saturated > 0)
        count(static_cast<std::uint64_t>(s.saturated), " saturated");
    return text;
}

/// A swatch that opens the palette.
void colour_cell(RegionEditor& editor, std::size_t index, const KeyBindings& keys) {
    const Region& region = editor.regions()[index];
    const ImU32 colour = region_colour_value(region, index);
    const float side = ImGui::GetTextLineHeight();
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
    if (ImGui::ColorButton("##colour", theme::vec(colour),
                           ImGuiColorEditFlags_NoTooltip | ImGuiColorEditFlags_NoDragDrop, {side, side}))
        ImGui::OpenPopup("colours");
    probe::item("region.colour." + std::to_string(index));
    tooltip("Its colour; the next" + with_key("", keys, Action::recolour_region));
    if (!ImGui::BeginPopup("colours"))
        return;
    close_on_escape();
    hint("These stay apart for the colour-blind too.");
    for (std::size_t i = 0; i < region_palette().size(); ++i) {
        if (i > 0)
            ImGui::SameLine(0, dp(4));
        const Region sample{"", region.shape, {}, region_palette()[i], false};
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::ColorButton("##pick", theme::vec(region_colour_value(sample, i)),
                               ImGuiColorEditFlags_NoTooltip | ImGuiColorEditFlags_NoDragDrop,
                               {side * 1.6F, side * 1.6F})) {
            editor.recolour(index, region_palette()[i]);
            ImGui::CloseCurrentPopup();
        }
        ImGui::PopID();
    }
    ImGui::EndPopup();
}

/// The name, or the field in which it is changed.
void name_cell(RegionEditor& editor, RegionTools& tools, std::size_t index) {
    const Region& region = editor.regions()[index];
    if (tools.renamed != index) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(
            fitted(*ImGui::GetFont(), region.name, ImGui::GetContentRegionAvail().x).c_str());
        return;
    }
    ImGui::SetNextItemWidth(-1);
    if (std::exchange(tools.rename_begins, false)) {
        ImGui::SetKeyboardFocusHere();
        ImGui::SetScrollHereY();
    }
    ImGui::InputText("##name", &tools.name, ImGuiInputTextFlags_AutoSelectAll);
    probe::item("region.rename");
    if (!ImGui::IsItemDeactivated())
        return;
    tools.renamed.reset();
    try {
        editor.rename(index, tools.name); // Escape has put the old one back
    } catch (const UsageError& error) {
        tools.say(error.what());
    }
}

void begin_rename(const RegionEditor& editor, RegionTools& tools, std::size_t index) {
    tools.renamed = index;
    tools.name = editor.regions()[index].name;
    tools.rename_begins = true;
}

void right_aligned(const std::string& text, ImU32 colour) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    ImGui::AlignTextToFramePadding();
    if (room > 0)
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
    ImGui::TextColored(theme::vec(colour), "%s", text.c_str());
}

void row(RegionEditor& editor, RegionTools& tools, const KeyBindings& keys, std::size_t index) {
    const RegionValues* values = tools.numbers.values.get();
    const double um = tools.numbers.um_per_px;
    ImGui::PushID(static_cast<int>(index));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (ImGui::Selectable("##row", editor.selected() == index,
                          ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap |
                              ImGuiSelectableFlags_AllowDoubleClick,
                          {0, ImGui::GetFrameHeight()})) {
        editor.select(index);
        if (ImGui::IsMouseDoubleClicked(0))
            begin_rename(editor, tools, index);
    }
    probe::item("region.row." + std::to_string(index));
    const Region region = editor.regions()[index];
    const RegionStatistics* found = statistics_of(values, region.name, index);
    const RegionFit fit = found ? values->placed->regions[index].fit : RegionFit::whole;
    if (fit != RegionFit::whole)
        tooltip(sentence_of_fit(fit));
    ImGui::SameLine(0, 0);
    colour_cell(editor, index, keys);
    ImGui::TableNextColumn();
    name_cell(editor, tools, index);
    ImGui::TableNextColumn();
    const bool marked = fit != RegionFit::whole;
    if (found)
        right_aligned(fit == RegionFit::outside ? "outside" : mean_text(*found),
                      fit == RegionFit::outside ? theme::kWarning : theme::kText);
    ImGui::TableNextColumn();
    if (found)
        right_aligned((fit == RegionFit::clipped ? "◐ " : "") + count_text(found->pixels) +
                          (um > 0 ? " · " + area_text(*found, um) : ""),
                      marked ? theme::kWarning : theme::kDim);
    ImGui::PopID();
}

void table(Session& session, RegionTools& tools) {
    RegionEditor& editor = session.regions;
    const auto count = static_cast<int>(editor.regions().size());
    const std::string& unit = tools.numbers.unit;
    const float line = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const bool scrolls = count > kRowsShown;
    if (!ImGui::BeginTable("regions", 4,
                           ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerH |
                               (scrolls ? ImGuiTableFlags_ScrollY : ImGuiTableFlags_None),
                           {0, scrolls ? line * (kRowsShown + 1) : 0}))
        return;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, ImGui::GetTextLineHeight() + dp(2));
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("mean", ImGuiTableColumnFlags_WidthFixed, dp(124));
    ImGui::TableSetupColumn("px", ImGuiTableColumnFlags_WidthFixed,
                            dp(tools.numbers.um_per_px > 0 ? 104 : 66));
    ImGui::TableNextRow();
    ImGui::PushFont(theme::fonts().small);
    ImGui::TableSetColumnIndex(1);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(theme::vec(theme::kDim), "%s", "name");
    ImGui::TableSetColumnIndex(2);
    right_aligned("mean ± std" + (unit.empty() || unit == "1" ? "" : ", " + unit), theme::kDim);
    if (tools.numbers.values)
        tooltip(std::string(sentence_of_mean(tools.numbers.values->mean)) +
                " The standard deviation is that of the values.");
    ImGui::TableSetColumnIndex(3);
    right_aligned(tools.numbers.um_per_px > 0 ? "pixels · µm²" : "pixels", theme::kDim);
    ImGui::PopFont();
    ImGuiListClipper clipper;
    clipper.Begin(count, scrolls ? line : -1);
    while (clipper.Step())
        for (int i = clipper.DisplayStart;
             i < std::min(clipper.DisplayEnd, static_cast<int>(editor.regions().size())); ++i)
            row(editor, tools, session.settings().keys, static_cast<std::size_t>(i));
    ImGui::EndTable();
}

/// Buttons side by side, all as wide as the panel together.
class ButtonRow {
public:
    explicit ButtonRow(int count)
        : width_((ImGui::GetContentRegionAvail().x - dp(6) * static_cast<float>(count - 1)) /
                 static_cast<float>(count)) {}
    bool operator()(const char* label, const char* name, bool possible, const std::string& what) {
        if (!std::exchange(first_, false))
            ImGui::SameLine(0, dp(6));
        ImGui::BeginDisabled(!possible);
        const bool pressed = ImGui::Button(label, {width_, 0});
        ImGui::EndDisabled();
        probe::item(name);
        tooltip(what);
        return pressed;
    }

private:
    float width_;
    bool first_ = true;
};

void buttons(Session& session, RegionTools& tools) {
    RegionEditor& editor = session.regions;
    const auto keyed = [&](const char* text, Action action) {
        return with_key(text, session.settings().keys, action);
    };
    if (!editor.regions().empty()) {
        const RegionEditor::Index at = editor.selected();
        const bool locked = at && editor.regions()[*at].locked;
        ButtonRow row(4);
        if (row("Rename", "region.rename.button", at.has_value(),
                keyed("Another name, as by a double click on its row", Action::rename_region)))
            begin_rename(editor, tools, *at);
        if (row(locked ? "Unlock" : "Lock", "region.lock", at.has_value(),
                keyed("A locked region is neither moved nor deleted", Action::lock_region)))
            editor.lock(*at, !locked);
        if (row("Copy", "region.duplicate", at.has_value(),
                keyed("Another one like it, beside it", Action::duplicate_region)))
            editor.duplicate(*at);
        if (row("Delete", "region.delete", at && !locked,
                keyed("Delete it", Action::delete_region) + "; undo" + keyed("", Action::undo) +
                    " brings it back"))
            editor.remove(*at);
    }
    ButtonRow row(4);
    if (row("Undo", "regions.undo", editor.can_undo(),
            keyed("Take back the last change of a region", Action::undo)))
        editor.undo();
    if (row("Redo", "regions.redo", editor.can_redo(), keyed("Make it again", Action::redo)))
        editor.redo();
    if (row("Save …", "regions.save", !editor.regions().empty(),
            keyed("Write them as JSON", Action::save_regions)))
        tools.ask = RegionTools::Ask::save;
    if (row("Load …", "regions.load", true,
            keyed("Read JSON, or ImageJ's .roi and .zip", Action::load_regions)))
        tools.ask = RegionTools::Ask::load;
}

/// At the right end of the header.
void header_note(const std::string& text) {
    ImFont& small = *theme::fonts().small;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float width = small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, text.c_str()).x;
    ImGui::GetWindowDrawList()->AddText(&small, small.FontSize,
                                        {high.x - width - dp(12), (low.y + high.y - small.FontSize) / 2},
                                        theme::kDim, text.c_str());
}

std::string plain_text(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.9g", value);
    return text.data();
}

} // namespace

void RegionNumbers::take(const Result& result, double um) {
    const auto now = SteadyClock::now();
    um_per_px = um;
    const bool same_set = values && result.regions && values->placed == result.regions->placed;
    if (same_set && now - when < std::chrono::milliseconds(200)) // to be read, not to flicker
        return;
    values = result.regions;
    unit = result.quantity.unit;
    sequence = result.info.sequence;
    when = now;
}

void report_regions(const Session& session, const RegionTools& tools) {
    if (!probe::enabled())
        return;
    const RegionEditor& editor = session.regions;
    probe::value("region.tool", region_tools()[static_cast<std::size_t>(tools.tool())].name);
    probe::value("regions.count", static_cast<double>(editor.regions().size()));
    probe::value("regions.selected", editor.selected() ? static_cast<double>(*editor.selected()) : -1);
    tools.line.report();
    probe::value("regions.sequence", static_cast<double>(tools.numbers.sequence));
    for (std::size_t i = 0; i < editor.regions().size(); ++i) {
        const std::string at = "." + std::to_string(i);
        const Region& region = editor.regions()[i];
        probe::value("region.name" + at, region.name);
        std::string points = to_string(region.shape);
        for (const RegionPoint& p : region.points)
            points += " " + plain_text(p.x) + "," + plain_text(p.y);
        probe::value("region.points" + at, points);
        probe::value("region.locked" + at, region.locked ? 1.0 : 0.0);
        const RegionStatistics* found = statistics_of(tools.numbers.values.get(), region.name, i);
        probe::value("region.mean" + at, found ? found->mean : NAN);
        probe::value("region.std" + at, found ? found->std : NAN);
        probe::value("region.pixels" + at, found ? static_cast<double>(found->pixels) : NAN);
        const double um = tools.numbers.um_per_px;
        probe::value("region.um2" + at, found && um > 0 ? static_cast<double>(found->pixels) * um * um : NAN);
        probe::value("region.fit" + at, found ? to_string(tools.numbers.values->placed->regions[i].fit) : "");
    }
}

void draw_region_section(Session& session, RegionTools& tools) {
    RegionEditor& editor = session.regions;
    if (std::exchange(tools.rename, false) && editor.selected()) {
        begin_rename(editor, tools, *editor.selected());
        ImGui::SetNextItemOpen(true);
    }
    if (tools.renamed && *tools.renamed >= editor.regions().size())
        tools.renamed.reset();
    if (std::exchange(tools.any, !editor.regions().empty()) != tools.any && tools.any)
        ImGui::SetNextItemOpen(true); // the first one
    const std::string key = keys_text(session.settings().keys, Action::rectangle_tool);
    const bool open = section("Regions", false);
    if (!open && !tools.any)
        header_note(key.empty() ? "" : "press " + key + " to draw one");
    if (!open)
        return;
    ImGui::PushID("regions");
    if (editor.regions().empty())
        hint("None yet. Choose a shape beside the picture" +
             (key.empty() ? "" : ", or press " + key + " for a rectangle,") +
             " and draw it where the flow is to be measured; or load outlines from a file.");
    else
        table(session, tools);
    if (const RegionEditor::Index at = editor.selected()) {
        const Region& region = editor.regions()[*at];
        if (const RegionStatistics* found = statistics_of(tools.numbers.values.get(), region.name, *at)) {
            const RegionFit fit = tools.numbers.values->placed->regions[*at].fit;
            if (fit != RegionFit::outside)
                hint(details(region, *found, tools.numbers));
            if (fit != RegionFit::whole)
                hint(sentence_of_fit(fit), theme::kWarning);
        }
        tools.line.draw(region.name);
    }
    if (!editor.regions().empty() && tools.numbers.values && tools.numbers.values->mean != RegionMean::plain)
        hint(sentence_of_mean(tools.numbers.values->mean));
    buttons(session, tools);
    ImGui::PopID();
}

} // namespace specklescope
