#include "ui/traces/intervals_view.hpp"

#include "session/session.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/actions/key_words.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kPopup = "intervals";

ImU32 colour_of(const Interval& interval) { return interval.baseline ? theme::kAccent : theme::kGood; }

/// The label at the lower end of the shaded area; without width if there is no room.
Rect label_rect(const PlotArea& plot, const Interval& interval) {
    const ImFont& small = *theme::fonts().small;
    const double left = std::max(plot.x(interval.from_ns), plot.inner.x);
    const double right = std::min(plot.x(interval.to_ns), plot.inner.x + plot.inner.width);
    const double most = right - left - dp(6);
    if (most < dp(14))
        return {};
    const double wide = small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, label_of(interval).c_str()).x;
    return {left + dp(3), plot.inner.y + plot.inner.height - small.FontSize - dp(5),
            std::min(wide + dp(6), most), small.FontSize + dp(3)};
}

/// The moment under the mouse, to a round number of at most half a pixel.
std::int64_t moment_at(const PlotArea& plot, double px) {
    const double per_px = static_cast<double>(plot.to_ns - plot.from_ns) / plot.inner.width;
    const double step = std::pow(10, std::floor(std::log10(std::max(per_px / 2, 1.0))));
    return static_cast<std::int64_t>(std::round(static_cast<double>(plot.time(px)) / step) * step);
}

} // namespace

void IntervalsView::button(Session& session) {
    if (tool_button("Interval", armed_))
        armed_ = !armed_;
    probe::item("traces.interval");
    tooltip(with_key(
        "Mark an interval: drag on the plot or on the time line, or drag with Shift. The first one is the "
        "baseline F₀. Its ends and its label can be dragged. Double click on the label: name and "
        "numbers",
        session.settings().keys, Action::intervals));
}

IntervalsView::Hit IntervalsView::hit(const PlotArea& plot, const std::vector<Interval>& intervals) const {
    const ImVec2 at = ImGui::GetIO().MousePos;
    const double near = dp(4);
    if (!plot.inner.contains(at.x, at.y))
        return {};
    for (std::size_t i = intervals.size(); i-- > 0;) { // the newest lies above
        const Rect label = label_rect(plot, intervals[i]);
        if (label.width > 0 && label.contains(at.x, at.y))
            return {Grip::whole, i};
        if (std::abs(plot.x(intervals[i].from_ns) - at.x) <= near)
            return {Grip::from, i};
        if (std::abs(plot.x(intervals[i].to_ns) - at.x) <= near)
            return {Grip::to, i};
    }
    return {};
}

void IntervalsView::update(const Session& session) {
    if (std::exchange(selected_region_, session.regions.selected()) != session.regions.selected() ||
        ImGui::IsMouseClicked(0))
        chosen_.reset();
}

std::optional<std::size_t> IntervalsView::chosen(const Session& session) const {
    return chosen_ && *chosen_ < session.intervals.size() ? chosen_ : std::nullopt;
}

void IntervalsView::delete_chosen(Session& session) {
    if (const auto at = chosen(session))
        session.intervals.erase(session.intervals.begin() + static_cast<std::ptrdiff_t>(*at));
    chosen_.reset();
}

bool IntervalsView::mouse(const PlotArea& plot, std::vector<Interval>& intervals, On on) {
    if (grip_ != Grip::none && on_ != on)
        return false;
    const ImGuiIO& io = ImGui::GetIO();
    const Hit under = on == On::plot && ImGui::IsItemHovered() ? hit(plot, intervals) : Hit{};
    const bool begins = armed_ || io.KeyShift;
    if (grip_ == Grip::none && under.grip != Grip::none && !begins)
        ImGui::SetMouseCursor(under.grip == Grip::whole ? ImGuiMouseCursor_Hand : ImGuiMouseCursor_ResizeEW);
    if (under.grip == Grip::whole && ImGui::IsMouseDoubleClicked(0)) {
        grip_ = Grip::none;
        focus_ = under.index;
        edit();
        return true;
    }
    if (ImGui::IsItemActivated() && plot.inner.contains(io.MousePos.x, io.MousePos.y) &&
        (begins || under.grip != Grip::none)) {
        grip_ = begins ? Grip::begin : under.grip;
        on_ = on;
        index_ = under.index;
        anchor_ns_ = moment_at(plot, io.MousePos.x);
        if (!begins) {
            before_ = intervals[index_];
            chosen_ = index_;
        }
    }
    if (grip_ == Grip::none)
        return false;
    if (ImGui::IsItemActive() || ImGui::IsItemDeactivated())
        drag(plot, intervals);
    if (!ImGui::IsItemActive())
        grip_ = Grip::none;
    return true;
}

void IntervalsView::drag(const PlotArea& plot, std::vector<Interval>& intervals) {
    const double x =
        std::clamp<double>(ImGui::GetIO().MousePos.x, plot.inner.x, plot.inner.x + plot.inner.width);
    const std::int64_t at = moment_at(plot, x);
    if (grip_ == Grip::begin) {
        if (std::abs(plot.x(anchor_ns_) - x) < dp(3))
            return;
        armed_ = false;
        index_ = add_interval(intervals, anchor_ns_, at);
        chosen_ = index_;
        before_ = intervals[index_];
        grip_ = at < anchor_ns_ ? Grip::from : Grip::to;
    }
    if (index_ >= intervals.size())
        return;
    Interval& interval = intervals[index_];
    if (grip_ == Grip::whole) {
        interval.from_ns = before_.from_ns + at - anchor_ns_;
        interval.to_ns = before_.to_ns + at - anchor_ns_;
    } else {
        const std::int64_t stays = grip_ == Grip::from ? before_.to_ns : before_.from_ns;
        interval.from_ns = std::min(stays, at);
        interval.to_ns = std::max(stays, at);
    }
}

void IntervalsView::draw(const PlotArea& plot, const std::vector<Interval>& intervals) const {
    const Rect& in = plot.inner;
    const ImFont& small = *theme::fonts().small;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const Interval& interval = intervals[i];
        const double left = std::max(plot.x(interval.from_ns), in.x);
        const double right = std::min(plot.x(interval.to_ns), in.x + in.width);
        if (left > right)
            continue;
        const ImU32 colour = colour_of(interval);
        draw.AddRectFilled(theme::point(left, in.y),
                           theme::point(std::max(right, left + 1), in.y + in.height),
                           theme::fade(colour, chosen_ == i ? 0.26F : 0.13F));
        for (const std::int64_t end : {interval.from_ns, interval.to_ns})
            if (const double x = plot.x(end); x >= in.x && x <= in.x + in.width)
                draw.AddLine(theme::point(x, in.y), theme::point(x, in.y + in.height),
                             theme::fade(colour, 0.6F));
        const Rect label = label_rect(plot, interval);
        const std::string name = "traces.interval." + std::to_string(i);
        probe::widget(name, left, in.y, right - left, in.height);
        if (label.width <= 0)
            continue;
        draw.AddRectFilled(theme::point(label.x, label.y),
                           theme::point(label.x + label.width, label.y + label.height),
                           theme::fade(theme::kCanvas, 0.75F), dp(2));
        draw.AddText(&small, small.FontSize, theme::point(label.x + dp(3), label.y + dp(1)), colour,
                     fitted(small, label_of(interval), static_cast<float>(label.width) - dp(5)).c_str());
        probe::widget(name + ".label", label.x, label.y, label.width, label.height);
    }
}

void IntervalsView::draw_on_line(const PlotArea& plot, double y,
                                 const std::vector<Interval>& intervals) const {
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const double left = std::max(plot.x(intervals[i].from_ns), plot.inner.x);
        const double right = std::min(plot.x(intervals[i].to_ns), plot.inner.x + plot.inner.width);
        if (left > right)
            continue;
        ImGui::GetWindowDrawList()->AddRectFilled(
            theme::point(left, y - dp(9)), theme::point(std::max(right, left + dp(2)), y - dp(5)),
            theme::fade(colour_of(intervals[i]), chosen_ == i ? 1.0F : 0.6F), dp(1.5F));
    }
}

bool IntervalsView::row(Interval& interval, std::size_t index, std::vector<Interval>& intervals) {
    const std::string number = std::to_string(index);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (ImGui::RadioButton("##baseline", interval.baseline))
        choose_baseline(intervals, interval.baseline ? std::nullopt : std::optional(index));
    probe::item("interval.baseline." + number);
    tooltip("Its mean is the baseline F₀. Press again for none.");
    ImGui::TableNextColumn();
    if (focus_ == index) {
        ImGui::SetKeyboardFocusHere();
        focus_.reset();
    }
    ImGui::SetNextItemWidth(-1);
    ImGui::InputText("##name", &interval.name, ImGuiInputTextFlags_AutoSelectAll);
    if (ImGui::IsItemActivated())
        chosen_ = index;
    probe::item("interval.name." + number);
    for (const auto& [id, end] : {std::pair{"from", &interval.from_ns}, {"to", &interval.to_ns}}) {
        ImGui::TableNextColumn();
        double seconds = static_cast<double>(*end) * 1e-9;
        ImGui::PushItemWidth(-1);
        if (value_field(id, seconds, {-1e6, 1e7, false, false}, "s"))
            *end = std::llround(seconds * 1e9);
        if (interval.from_ns > interval.to_ns) // the other end gives way
            (end == &interval.from_ns ? interval.to_ns : interval.from_ns) = *end;
        ImGui::PopItemWidth();
        probe::item(std::string("interval.") + id + "." + number);
    }
    ImGui::TableNextColumn();
    const bool removes = ImGui::Button("Delete");
    probe::item("interval.delete." + number);
    return removes;
}

void IntervalsView::popup(Session& session, std::int64_t from_ns, std::int64_t to_ns) {
    constexpr int kAppears = 3; // frames until the list has the keyboard
    if (std::exchange(asked_, false)) {
        ImGui::OpenPopup(kPopup);
        appears_ = kAppears;
    }
    ImGui::SetNextWindowSize({std::min(dp(520), ImGui::GetIO().DisplaySize.x * 0.94F), 0});
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
    if (!ImGui::BeginPopup(kPopup))
        return;
    if (appears_ > 0) {
        show_focus(); // Space adds an interval
        --appears_;
    }
    close_on_escape();
    std::vector<Interval>& intervals = session.intervals;
    if (intervals.empty())
        hint("No intervals yet. Add one, or drag on the plot with Shift.");
    std::optional<std::size_t> removed;
    if (!intervals.empty() && ImGui::BeginTable("intervals", 5, ImGuiTableFlags_NoSavedSettings)) {
        ImGui::TableSetupColumn("F₀", ImGuiTableColumnFlags_WidthFixed);
        ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
        for (const char* title : {"from", "to"})
            ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthFixed, dp(96));
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed);
        ImGui::TableHeadersRow();
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            ImGui::PushID(static_cast<int>(i));
            if (row(intervals[i], i, intervals))
                removed = i;
            ImGui::PopID();
        }
        ImGui::EndTable();
    }
    if (removed) {
        chosen_ = removed;
        delete_chosen(session);
    }
    if (ImGui::Button("Add"))
        focus_ = add_interval(intervals, from_ns, to_ns);
    ImGui::SetItemDefaultFocus();
    probe::item("interval.add");
    tooltip("Add an interval over what the plot shows. Type its ends.");
    ImGui::EndPopup();
}

void IntervalsView::report(const std::vector<Interval>& intervals) const {
    probe::value("intervals", static_cast<double>(intervals.size()));
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const std::string at = "interval." + std::to_string(i);
        probe::value(at + ".text", label_of(intervals[i]));
        probe::value(at + ".from_s", static_cast<double>(intervals[i].from_ns) * 1e-9);
        probe::value(at + ".to_s", static_cast<double>(intervals[i].to_ns) * 1e-9);
    }
}

} // namespace specklescope
