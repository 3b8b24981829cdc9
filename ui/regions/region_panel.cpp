#include "ui/regions/region_panel.hpp"

#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_drawing.hpp"
#include "ui/regions/region_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

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

/// Four buttons side by side, all as wide as the panel together; of a narrow panel two and two.
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
    ButtonRow row;
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
    if (width + dp(130) > high.x - low.x) // where the title is
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

void RegionNumbers::take(const Result& result, double um, bool source_lost) {
    const auto now = SteadyClock::now();
    um_per_px = um;
    lost = source_lost;
    if (lost) {
        values.reset();
        return;
    }
    const bool same_set = values && result.regions && values->placed == result.regions->placed;
    if (same_set && now - when < std::chrono::milliseconds(200)) // to be read, not to flicker
        return;
    values = result.regions;
    unit = result.quantity.unit;
    assumed = rests_on_assumption(result.quantity, result.exposure) ? assumed_text(result.exposure) : "";
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
    const bool renames = std::exchange(tools.rename, false) && editor.selected();
    if (renames) {
        begin_rename(editor, tools, *editor.selected());
        ImGui::SetNextItemOpen(true);
    }
    if (tools.renamed && (*tools.renamed >= editor.regions().size() ||
                          editor.regions()[*tools.renamed].name != tools.renames)) // others are there now
        tools.renamed.reset();
    const bool had_any = std::exchange(tools.any, !editor.regions().empty());
    if (tools.any && !had_any)
        ImGui::SetNextItemOpen(true); // the first one
    const std::string key = keys_text(session.settings().keys, Action::rectangle_tool);
    const bool open = section("Regions", false);
    if (renames && !ImGui::IsItemVisible()) // the panel is scrolled away from it
        ImGui::SetScrollHereY(0);
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

} // namespace specklescope
