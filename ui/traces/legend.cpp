// Names of the regions next to their curves, with the values under the cursor; and the probe's report.
#include "config/numbers.hpp"
#include "session/session.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_drawing.hpp"
#include "ui/traces/strip.hpp"

#include <cmath>

namespace specklescope {

namespace {

using theme::dp;

/// NaN if the numbers have no such region; `index`: its likely place.
double shown_mean(const RegionNumbers& numbers, const std::string& name, std::size_t index) {
    const RegionValues* values = numbers.values.get();
    const RegionStatistics* found = statistics_of(values, name, index);
    for (std::size_t i = 0; values && !found && i < values->statistics.size(); ++i)
        found = statistics_of(values, name, i);
    return found ? found->mean : NAN;
}

std::string percent_text(double value) {
    return std::isfinite(value) ? number_text(value, 3) + " %" : number_text(value, 3);
}

} // namespace

void TraceStrip::legend(const Rect& area, Session& session, const std::vector<ImU32>& colours,
                        const RegionNumbers& numbers) {
    ImGui::SetCursorScreenPos({static_cast<float>(area.x), static_cast<float>(area.y)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, dp(2)});
    ImGui::BeginChild("legend", {static_cast<float>(area.width), static_cast<float>(area.height)}, false,
                      ImGuiWindowFlags_NavFlattened); // arrow keys can enter its rows from outside
    const ImFont& small = *theme::fonts().small;
    const float line = small.FontSize * 1.15F, left = dp(18);
    const bool f0_lines = relative_;
    const Quantity& quantity = cursor_ ? about_.quantity : about_.newest_quantity;
    const std::string unit = quantity.unit == "1" ? "" : quantity.unit;
    const std::string changed = session.baseline.changed(about_);
    const std::string not_used = changed.empty() ? "" : "\nNo F₀: " + changed + ".";
    for (std::size_t i = 0; i < about_.regions.size(); ++i) {
        const TraceRegion& region = about_.regions[i];
        const float height = line * (f0_lines ? 3 : 2) + dp(3);
        ImGui::PushID(static_cast<int>(region.id));
        if (ImGui::InvisibleButton("region", {ImGui::GetContentRegionAvail().x, height}) &&
            hidden_.erase(region.id) == 0)
            hidden_.insert(region.id);
        probe::item("traces.legend." + region.name);
        const bool hidden = hidden_.contains(region.id);
        const bool known = cursor_ && i < cursor_->values.size();
        const TraceSettings* then = known ? about_.find(cursor_->settings[i]) : nullptr;
        std::optional<double> f0;
        if (!known || then) // of another outline, or of several settings, there is no F₀
            f0 = then ? session.baseline.of(region, &then->with) : session.baseline.of(region, about_);
        const double value = known ? cursor_->values[i] : shown_mean(numbers, region.name, i);
        if (ImGui::IsItemVisible()) {
            const ImVec2 at = ImGui::GetItemRectMin(), end = ImGui::GetItemRectMax();
            ImDrawList& draw = *ImGui::GetWindowDrawList();
            if (ImGui::IsItemHovered())
                draw.AddRectFilled(at, end, theme::kField, dp(3));
            focus_ring(true);
            const ImVec2 low(at.x + dp(5), at.y + dp(4)), high(at.x + dp(13), at.y + dp(12));
            if (hidden)
                draw.AddRect(low, high, theme::fade(colours[i], 0.6F));
            else
                draw.AddRectFilled(low, high, colours[i], dp(2));
            const float room = end.x - at.x - left - dp(4);
            const auto text = [&](int row, ImU32 color, const std::string& words) {
                draw.AddText(&small, small.FontSize,
                             {at.x + left, at.y + dp(1) + static_cast<float>(row) * line}, color,
                             fitted(small, words, room).c_str());
            };
            text(0, hidden ? theme::kDim : theme::kText, region.name);
            const std::string shown = !known && !numbers.values ? "–"
                                      : relative_ ? (f0 ? percent_text(relative_change(value, *f0)) : "no F₀")
                                                  : quantity_text(value, unit, 4);
            text(1, hidden ? theme::fade(theme::kDim, 0.6F) : theme::kDim,
                 (known && !cursor_->exact ? "≈ " : "") + shown);
            probe::value("traces.legend.value." + region.name, shown);
            if (f0_lines && f0)
                text(2, theme::fade(theme::kAccent, 0.9F), "F₀ " + quantity_text(*f0, unit, 4));
        }
        std::string about = region.name + ", " + count_text(region.pixels) + " pixels\n" +
                            (hidden ? "Click to show its curve." : "Click to hide its curve.");
        if (f0)
            about += "\nF₀ = " + quantity_text(*f0, unit, 5);
        if (!f0)
            about += not_used;
        if (assumed())
            about += "\n" + assumed_text(about_.with->exposure);
        tooltip(about);
        ImGui::PopID();
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    if (!probe::enabled())
        return;
    if (const auto& means = session.baseline.taken()) {
        probe::value("traces.baseline.first", static_cast<double>(means->from.sequence));
        probe::value("traces.baseline.last", static_cast<double>(means->to.sequence));
    }
    for (const TraceRegion& region : about_.regions) {
        probe::value("traces.f0." + region.name, session.baseline.of(region, about_).value_or(NAN));
        probe::value("traces.hidden." + region.name, hidden_.contains(region.id) ? 1.0 : 0.0);
    }
    for (const TimedEvent& event : session.events().events())
        probe::value("traces.event." + std::to_string(event.mark.number),
                     event.mark.label + " @ " + std::to_string(event.mark.sequence));
}

void TraceStrip::report() const {
    if (!probe::enabled())
        return;
    probe::value("traces.mark", about_.restarts.empty() ? "" : about_.restarts.back().what);
    probe::value("traces.frames", static_cast<double>(about_.frames));
    probe::value("traces.regions", static_cast<double>(about_.regions.size()));
    probe::value("traces.mode", view_.mode() == TraceView::Mode::held   ? "held"
                                : view_.mode() == TraceView::Mode::last ? "last"
                                                                        : "whole");
    probe::value("traces.from_s", static_cast<double>(view_.from_ns()) * 1e-9);
    probe::value("traces.to_s", static_cast<double>(view_.to_ns()) * 1e-9);
    probe::value("traces.low", span_.low);
    probe::value("traces.high", span_.high);
    probe::value("traces.fixed", fixed_ ? 1.0 : 0.0);
    probe::value("traces.relative", relative_ ? 1.0 : 0.0);
    probe::value("traces.ms", drawing_ms_);
    probe::value("traces.last_s", static_cast<double>(about_.last_ns) * 1e-9);
    probe::value("traces.marks", static_cast<double>(about_.restarts.size()));
    probe::value("traces.cursor.frame", cursor_ ? static_cast<double>(cursor_->moment.frame()) : NAN);
    probe::value("traces.cursor.time_s", cursor_ ? static_cast<double>(cursor_->moment.time_ns) * 1e-9 : NAN);
    probe::value("traces.cursor.sequence", cursor_ ? static_cast<double>(cursor_->moment.sequence) : NAN);
    for (std::size_t i = 0; i < about_.regions.size(); ++i)
        probe::value("traces.cursor." + about_.regions[i].name,
                     cursor_ && i < cursor_->values.size() ? cursor_->values[i] : NAN);
    if (!about_.newest)
        return;
    probe::value("traces.newest.sequence", static_cast<double>(about_.newest->sequence));
    for (const TraceRegion& region : about_.regions)
        probe::value("traces.newest." + region.name, region.newest);
}

} // namespace specklescope
