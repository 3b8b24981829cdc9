#include "ui/regions/region_panel.hpp"

#include "base/error.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_drawing.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

/// Values that do not fit in the row.
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

/// Four buttons side by side, together as wide as the panel; two rows of two in a narrow panel.
class ButtonRow {
public:
    ButtonRow()
        : beside_(ImGui::GetContentRegionAvail().x < dp(264) ? 2 : 4),
          width_((ImGui::GetContentRegionAvail().x - dp(6) * static_cast<float>(beside_ - 1)) /
                 static_cast<float>(beside_)) {}
    bool operator()(const char* label, const char* name, bool possible, const std::string& what) {
        if (count_++ % beside_ != 0)
            ImGui::SameLine(0, dp(6));
        ImGui::BeginDisabled(!possible);
        const bool pressed = ImGui::Button(label, {width_, 0});
        ImGui::EndDisabled();
        probe::item(name);
        tooltip(what);
        return pressed;
    }

private:
    int beside_;
    float width_;
    int count_ = 0;
};

void buttons(Session& session, RegionTools& tools) {
    RegionEditor& editor = session.regions;
    const auto keyed = [&](const char* text, Action action) {
        return with_key(text, session.settings().keys, action);
    };
    if (!editor.regions().empty()) {
        const RegionEditor::Index at = editor.selected();
        const bool locked = at && editor.regions()[*at].locked;
        ButtonRow row;
        if (row("Rename", "region.rename.button", at.has_value(),
                keyed("Rename, also by a double click on its row", Action::rename_region)))
            begin_rename(editor, tools, *at);
        if (row(locked ? "Unlock" : "Lock", "region.lock", at.has_value(),
                keyed("A locked region is neither moved nor deleted", Action::lock_region)))
            editor.lock(*at, !locked);
        if (row("Copy", "region.duplicate", at.has_value(),
                keyed("Duplicate the region", Action::duplicate_region)))
            editor.duplicate(*at);
        if (row("Delete", "region.delete", at && !locked,
                keyed("Delete it", Action::delete_region) + "; undo" + keyed("", Action::undo) +
                    " restores it"))
            editor.remove(*at);
    }
    ButtonRow row;
    const UndoHistory& history = session.history();
    if (row("Undo", "regions.undo", history.can_undo(), keyed("Undo the last edit", Action::undo)))
        session.undo();
    if (row("Redo", "regions.redo", history.can_redo(), keyed("Redo the edit that was undone", Action::redo)))
        session.redo();
    if (row("Save …", "regions.save", !editor.regions().empty(), keyed("Save as JSON", Action::save_regions)))
        tools.file.ask = RegionFileField::Ask::save;
    if (row("Load …", "regions.load", true,
            keyed("Load JSON, or ImageJ's .roi and .zip", Action::load_regions)))
        tools.file.ask = RegionFileField::Ask::load;
}

/// Draws at the right end of the header.
void header_note(const std::string& text) {
    ImFont& small = *theme::fonts().small;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float width = small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, text.c_str()).x;
    if (width + dp(130) > high.x - low.x) // would cover the title
        return;
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

void RegionNumbers::take(const Result& result, double um, bool old) {
    const auto now = SteadyClock::now();
    um_per_px = um;
    stale = old;
    if (stale) {
        values.reset();
        return;
    }
    const bool same_set = values && result.regions && values->placed == result.regions->placed &&
                          version == result.info.version;
    if (same_set && now - when < std::chrono::milliseconds(200)) // limits the update rate for readability
        return;
    values = result.regions;
    unit = result.quantity.unit;
    assumed = rests_on_assumption(result.quantity, result.exposure) ? assumed_text(result.exposure) : "";
    sequence = result.info.sequence;
    version = result.info.version;
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
    const bool renames = std::exchange(tools.rename.asked, false) && editor.selected();
    if (renames) {
        begin_rename(editor, tools, *editor.selected());
        ImGui::SetNextItemOpen(true);
    }
    if (tools.rename.index &&
        (*tools.rename.index >= editor.regions().size() ||
         editor.regions()[*tools.rename.index].name != tools.rename.before)) // the regions have changed
        tools.rename.index.reset();
    const bool had_any = std::exchange(tools.any, !editor.regions().empty());
    const bool first = tools.any && !had_any;
    if (first)
        ImGui::SetNextItemOpen(true);
    const std::string key = keys_text(session.settings().keys, Action::rectangle_tool);
    const bool open = section("Regions", false);
    tools.reveal = tools.reveal || first || renames;
    if (tools.reveal && (renames || tools.numbers.values)) { // the parts above do not grow any more
        tools.reveal = false;
        const float middle = ImGui::GetWindowPos().y + ImGui::GetWindowHeight() / 2;
        if (!ImGui::IsItemVisible() ||
            ImGui::GetItemRectMin().y > middle) // the table would be below the panel
            ImGui::SetScrollHereY(0.5F);
    }
    if (!open && !tools.any)
        header_note(key.empty() ? "" : "press " + key + " to draw one");
    if (!open)
        return;
    ImGui::PushID("regions");
    if (editor.regions().empty())
        hint("None yet. Choose a shape to the left of the image" +
             (key.empty() ? "" : ", or press " + key + " for a rectangle,") +
             " and draw it where the flow is to be measured; or load outlines from a file.");
    else
        draw_region_table(session, tools);
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

const char* sentence_of_mean(RegionMean mean) {
    switch (mean) {
    case RegionMean::of_squares:
        return "Mean contrast, the root of the average K².";
    case RegionMean::of_inverses:
        return "Mean flow, computed from the average K² (not the average of the pixels' flow values).";
    case RegionMean::plain:
        break;
    }
    return "Mean of the values.";
}

const char* sentence_of_fit(RegionFit fit) {
    switch (fit) {
    case RegionFit::clipped:
        return "It is partly outside the image: only the pixels inside are measured.";
    case RegionFit::outside:
        return "It is outside the image, and has no numbers.";
    case RegionFit::whole:
        break;
    }
    return "";
}

std::string area_text(const RegionStatistics& s, double um) {
    return number_text(static_cast<double>(s.pixels) * um * um);
}

void begin_rename(const RegionEditor& editor, RegionTools& tools, std::size_t index) {
    tools.rename.index = index;
    tools.rename.name = tools.rename.before = editor.regions()[index].name;
    tools.rename.begins = true;
}

namespace {

using theme::dp;

constexpr int kRowsShown = 10; ///< the table scrolls beyond this number
constexpr std::size_t kRowsMeasured = 64;

std::string std_text(const RegionStatistics& s) {
    return std::isfinite(s.std) ? " ± " + number_text(s.std, 3) : "";
}

/// Widths of the columns. Numbers are never cut, so that no digit or power of ten is lost; names get the
/// remaining space.
struct Columns {
    bool std = true;    ///< after the mean
    bool pixels = true; ///< the column exists
    bool area = true;   ///< after the pixels
    float mean_width = 0, pixels_width = 0;
};

std::string mean_heading(bool std, const RegionNumbers& numbers) {
    return (std ? "mean ± std" : "mean") +
           (numbers.unit.empty() || numbers.unit == "1" ? std::string() : ", " + numbers.unit) +
           (numbers.assumed.empty() ? "" : " *");
}

Columns columns_of(const RegionTools& tools, std::size_t count, float width) {
    const auto heading = [&](bool std) {
        const ImFont& small = *theme::fonts().small;
        return small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, mean_heading(std, tools.numbers).c_str()).x;
    };
    Columns columns;
    columns.area = tools.numbers.um_per_px > 0;
    float mean = heading(false), with_std = heading(true), pixels = dp(46), with_area = dp(46);
    const RegionValues* values = tools.numbers.values.get();
    const auto measure = [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; values && i < std::min({end, count, values->statistics.size()}); ++i) {
            const RegionStatistics& s = values->statistics[i];
            const auto extent = [](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; };
            mean = std::max(mean, extent(number_text(s.mean)));
            with_std = std::max(with_std, extent(number_text(s.mean) + std_text(s)));
            const std::string px = "◐ " + count_text(s.pixels);
            pixels = std::max(pixels, extent(px));
            with_area = std::max(with_area, extent(px + " · " + area_text(s, tools.numbers.um_per_px)));
        }
    };
    measure(0, kRowsMeasured);
    measure(std::max<std::size_t>(kRowsMeasured, static_cast<std::size_t>(tools.first_row)),
            static_cast<std::size_t>(tools.end_row));                                  // and the visible rows
    const auto whole = [](float extent) { return std::ceil(extent / dp(8)) * dp(8); }; // for steady widths
    for (float* each : {&mean, &with_std, &pixels, &with_area})
        *each = whole(*each);
    // Preferred and minimum width of the names.
    const float others = ImGui::GetTextLineHeight() + dp(2) + 8 * ImGui::GetStyle().CellPadding.x;
    const float names = others + dp(72), least = others + dp(44);
    columns.area = columns.area && names + with_std + with_area <= width;
    columns.pixels_width = columns.area ? with_area : pixels;
    columns.std = names + with_std + columns.pixels_width <= width;
    columns.mean_width = columns.std ? with_std : mean;
    columns.pixels = least + columns.mean_width + columns.pixels_width <= width;
    return columns;
}

/// Draws a colour swatch that opens the palette.
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
    hint("These colours are colour-blind safe.");
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

/// Draws the name, or the field to edit it.
void name_cell(RegionEditor& editor, RegionTools& tools, std::size_t index) {
    const Region& region = editor.regions()[index];
    if (tools.rename.index != index) {
        ImGui::AlignTextToFramePadding();
        const std::string shown = fitted(*ImGui::GetFont(), region.name, ImGui::GetContentRegionAvail().x);
        ImGui::TextUnformatted(shown.c_str());
        if (shown != region.name)
            tooltip(region.name);
        return;
    }
    ImGui::SetNextItemWidth(-1);
    if (std::exchange(tools.rename.begins, false)) {
        ImGui::SetKeyboardFocusHere();
        ImGui::SetScrollHereY();
    }
    ImGui::InputText("##name", &tools.rename.name, ImGuiInputTextFlags_AutoSelectAll);
    probe::item("region.rename");
    tooltip("Name of the region. Enter: keep. Escape: restore the old name.");
    if (!ImGui::IsItemDeactivated())
        return;
    tools.rename.index.reset();
    try {
        editor.rename(index, tools.rename.name); // Escape has restored the old name
    } catch (const UsageError& error) {
        tools.say(error.what());
    }
}

void right_aligned(const std::string& text, ImU32 colour) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    ImGui::AlignTextToFramePadding();
    if (room > 0)
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
    ImGui::TextColored(theme::vec(colour), "%s", text.c_str());
}

/// Returns the text of the mean.
std::string number_cells(const RegionStatistics& s, RegionFit fit, double um, const Columns& columns) {
    const std::string mean =
        fit == RegionFit::outside ? "outside" : number_text(s.mean) + (columns.std ? std_text(s) : "");
    right_aligned(mean, fit == RegionFit::outside ? theme::kWarning : theme::kText);
    const std::string pixels = (fit == RegionFit::clipped ? "◐ " : "") + count_text(s.pixels);
    if (!columns.std && fit != RegionFit::outside)
        tooltip(number_text(s.mean) + std_text(s) + (columns.pixels ? "" : ", " + pixels + " px"));
    if (!columns.pixels)
        return mean;
    ImGui::TableNextColumn();
    right_aligned(pixels + (columns.area ? " · " + area_text(s, um) : ""),
                  fit == RegionFit::whole ? theme::kDim : theme::kWarning);
    if (!columns.area && um > 0)
        tooltip(pixels + " px, " + area_text(s, um) + " µm²");
    return mean;
}

void region_row(RegionEditor& editor, RegionTools& tools, const KeyBindings& keys, const Columns& columns,
                std::size_t index, bool brought) {
    const RegionValues* values = tools.numbers.values.get();
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
    if (brought && !ImGui::IsItemVisible())
        ImGui::SetScrollHereY();
    probe::item("region.row." + std::to_string(index));
    const Region region = editor.regions()[index];
    const RegionStatistics* found = statistics_of(values, region.name, index);
    const RegionFit fit = found ? values->placed->regions[index].fit : RegionFit::whole;
    tooltip((fit != RegionFit::whole ? sentence_of_fit(fit) + std::string("\n") : "") +
            "Click to select this region, double-click to rename it.");
    ImGui::SameLine(0, 0);
    colour_cell(editor, index, keys);
    ImGui::TableNextColumn();
    name_cell(editor, tools, index);
    ImGui::TableNextColumn();
    if (found)
        probe::value("region.cell." + region.name,
                     number_cells(*found, fit, tools.numbers.um_per_px, columns));
    else if (tools.numbers.stale)
        right_aligned("–", theme::kDim);
    ImGui::PopID();
}

void head(const RegionNumbers& numbers, const Columns& columns) {
    ImGui::TableNextRow();
    ImGui::PushFont(theme::fonts().small);
    ImGui::TableSetColumnIndex(1);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(theme::vec(theme::kDim), "%s", "name");
    ImGui::TableSetColumnIndex(2);
    right_aligned(mean_heading(columns.std, numbers),
                  numbers.assumed.empty() ? theme::kDim : theme::kWarning);
    if (numbers.values)
        tooltip(std::string(sentence_of_mean(numbers.values->mean)) +
                " The standard deviation is taken on the values." +
                (numbers.assumed.empty() ? "" : "\n" + numbers.assumed));
    if (columns.pixels) {
        ImGui::TableSetColumnIndex(3);
        right_aligned(columns.area ? "pixels · µm²" : "pixels", theme::kDim);
    }
    ImGui::PopFont();
}

} // namespace

void draw_region_table(Session& session, RegionTools& tools) {
    RegionEditor& editor = session.regions;
    const auto count = static_cast<int>(editor.regions().size());
    const float line = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const bool scrolls = count > kRowsShown;
    const Columns columns =
        columns_of(tools, editor.regions().size(),
                   ImGui::GetContentRegionAvail().x - (scrolls ? ImGui::GetStyle().ScrollbarSize : 0));
    const RegionEditor::Index selected = editor.selected();
    if (!ImGui::BeginTable("regions", columns.pixels ? 4 : 3,
                           ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerH |
                               (scrolls ? ImGuiTableFlags_ScrollY : ImGuiTableFlags_None),
                           {0, scrolls ? line * (kRowsShown + 1) : 0}))
        return;
    const bool another = std::exchange(tools.row_selected, selected) != selected;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, ImGui::GetTextLineHeight() + dp(2));
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("mean", ImGuiTableColumnFlags_WidthFixed, columns.mean_width);
    if (columns.pixels)
        ImGui::TableSetupColumn("px", ImGuiTableColumnFlags_WidthFixed, columns.pixels_width);
    head(tools.numbers, columns);
    // Draw an invisible row too if the table must scroll to it.
    int brought = another && scrolls && selected ? static_cast<int>(*selected) : -1;
    if (tools.rename.begins && tools.rename.index)
        brought = static_cast<int>(*tools.rename.index);
    ImGuiListClipper clipper;
    clipper.Begin(count, scrolls ? line : -1); // -1: measures the rows, which all are drawn
    if (brought >= 0)
        clipper.ForceDisplayRangeByIndices(brought, brought + 1);
    tools.first_row = tools.end_row = 0;
    while (clipper.Step()) {
        if (clipper.DisplayEnd - clipper.DisplayStart > tools.end_row - tools.first_row) {
            tools.first_row = clipper.DisplayStart;
            tools.end_row = clipper.DisplayEnd;
        }
        for (int i = clipper.DisplayStart;
             i < std::min(clipper.DisplayEnd, static_cast<int>(editor.regions().size())); ++i)
            region_row(editor, tools, session.settings().keys, columns, static_cast<std::size_t>(i),
                       brought == i);
    }
    ImGui::EndTable();
}

} // namespace specklescope
