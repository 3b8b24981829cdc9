#include "ui/histogram/histogram_panel.hpp"

#include "config/numbers.hpp"
#include "config/settings.hpp"
#include "pipeline/mapping.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/canvas/ticks.hpp"
#include "ui/panels/controls.hpp"
#include "ui/traces/trace_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using theme::dp;

constexpr auto kEvery = 100ms, kClosed = 500ms; ///< while closed: for the arrows at the colour bar
constexpr std::size_t kMostBins = 256;
constexpr double kSteps = 50; ///< steps per range, for the keys

void small_text(double x, double y, ImU32 color, const std::string& text) {
    ImFont& font = *theme::fonts().small;
    ImGui::GetWindowDrawList()->AddText(&font, font.FontSize, theme::point(x, y), color, text.c_str());
}

double small_width(const std::string& text) {
    ImFont& font = *theme::fonts().small;
    return static_cast<double>(font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, text.c_str()).x);
}

/// Moves one end to a value and keeps the other.
void move_end(ValueRange& range, bool high, double value) {
    const double least = std::max({std::abs(range.low), std::abs(range.high), 1e-9}) * 1e-6;
    if (high)
        range.high = std::max(value, range.low + least);
    else
        range.low = std::min(value, range.high - least);
}

ValueRange seen_range(const Mapping& mapping) {
    return exposed({mapping.low, mapping.high}, mapping.exposure_stops);
}

void widen_change(ViewSettings& view, double range) {
    const ParamDecl& decl = view_table().at("change_range");
    view.change_range = std::clamp(range, decl.min, decl.max);
}

void fix_range(Mapping& mapping, const ValueRange& seen) {
    const ValueRange range = exposed(seen, -mapping.exposure_stops);
    mapping.automatic = false;
    mapping.low = range.low;
    mapping.high = range.high;
}

} // namespace

/// Position of the bars, and the counted values.
struct HistogramPanel::Plot {
    Rect area;
    std::span<const std::uint32_t> bins;
    double pixels_each = 1, most = 0; ///< image pixels per pixel of the sample; count of the fullest bin
    bool logarithmic = false;
    double x(double value, const ValueRange& span) const {
        return area.x + (value - span.low) / (span.high - span.low) * area.width;
    }
    double height(double pixels) const {
        const double part = most <= 0     ? 0
                            : logarithmic ? std::log1p(pixels) / std::log1p(most)
                                          : pixels / most;
        return part * area.height;
    }
};

void HistogramPanel::update(const Display& display, bool wanted, bool change, bool alone) {
    alone_ = change && alone;
    if (std::exchange(change_, change) != change) { // select the picture that has just become visible
        shown_ = change ? HistogramOf::change : shown_ == HistogramOf::change ? HistogramOf::result : shown_;
        offered_ = {};
    }
    const auto now = SteadyClock::now();
    if (!wanted || !display.has_result() || now - offered_ < (open_ ? kEvery : kClosed))
        return;
    offered_ = now;
    const Result& result = display.result();
    if (shown_ == HistogramOf::raw && open_)
        sampler_.offer(HistogramOf::raw, result.raw);
    if (change_ && display.has_change()) {
        std::vector<float> values;
        const std::size_t looked = sample_values(display.change(), values);
        const auto pixels = static_cast<double>(result.shape().pixels());
        const double defined = pixels * static_cast<double>(values.size());
        if (looked > 0) // undefined pixels do not represent others
            sampler_.offer(HistogramOf::change, std::move(values),
                           static_cast<std::size_t>(defined / static_cast<double>(looked)));
    }
    if (result.image)
        sampler_.offer(HistogramOf::result, result.image);
    else if (!display.sample().empty())
        sampler_.offer(HistogramOf::result, display.sample(), result.shape().pixels());
}

std::optional<BeyondRange> HistogramPanel::beyond(HistogramOf of, const ValueRange& range) const {
    std::optional<BeyondRange> beyond;
    sampler_.look(of, [&](const ValueSample& sample) {
        if (sample.size() > 0)
            beyond = BeyondRange{sample.share_below(range.low), sample.share_above(range.high)};
    });
    return beyond;
}

void HistogramPanel::nudge(Session& session, bool high, int steps) const {
    if (alone_ || (change_ && open_ && shown_ == HistogramOf::change)) {
        const double range = session.view().change_range;
        return widen_change(session.view(), range + (high ? 1 : -1) * steps * 2 * range / kSteps);
    }
    Mapping& mapping = session.view().mapping;
    ValueRange range = seen_range(mapping);
    const double by = (range.high - range.low) / kSteps * steps;
    move_end(range, high, (high ? range.high : range.low) + by);
    fix_range(mapping, range);
}

void HistogramPanel::axes(const Plot& plot) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Rect& area = plot.area;
    const double bottom = area.y + area.height;
    draw.AddLine(theme::point(area.x, bottom), theme::point(area.x + area.width, bottom), theme::kDim);
    constexpr double kApart = 0.3; // space between two numbers
    const Ticks ticks =
        ticks_of(span_.low, span_.high, std::max(2, static_cast<int>(area.width / dp(64))), kApart);
    const double small = static_cast<double>(theme::fonts().small->FontSize);
    const std::string power = ticks.scale.exponent == 0 ? "" : "×" + power_text(ticks.scale.exponent);
    const double end = area.x + area.width - (power.empty() ? 0 : small_width(power) + dp(6));
    small_text(area.x + area.width - small_width(power), bottom + dp(4), theme::kText, power);
    probe::value("histogram.power", power);
    area_tooltip(theme::point(area.x, bottom), theme::point(area.x + area.width, bottom + dp(22)),
                 "Values of the pixels. The handles at the curve set the range of colours.");
    area_tooltip(theme::point(area.x - dp(40), area.y), theme::point(area.x, bottom),
                 "Number of pixels, of about 65 000, on a linear or logarithmic axis.");
    double free = area.x - dp(20);
    for (std::int64_t i = ticks.first; i <= ticks.last; ++i) {
        const double value = ticks.value(i), x = plot.x(value, span_);
        draw.AddLine(theme::point(x, bottom), theme::point(x, bottom + dp(3)), theme::kDim);
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "%.*f", ticks.scale.decimals,
                      value * ticks.scale.factor + 0.0);
        const double width = small_width(text.data());
        const double left =
            std::max<double>(area.x - dp(20), std::min(x - width / 2, area.x + area.width - width));
        if (left < free || left + width > end + 1e-6)
            continue;
        small_text(left, bottom + dp(4), theme::kDim, text.data());
        free = left + width + dp(6);
    }
    const auto level = [&](double pixels) {
        const double y = bottom - plot.height(pixels);
        draw.AddLine(theme::point(area.x, y), theme::point(area.x + area.width, y), theme::kLine);
        const std::string text = number_text(pixels, 2);
        small_text(area.x - small_width(text) - dp(5), y - small / 2, theme::kDim, text);
    };
    if (plot.most <= 0)
        return;
    if (plot.logarithmic) {
        const int decades = std::max(1, static_cast<int>(std::log10(plot.most)));
        for (int i = 0; i <= decades; i += std::max(1, decades / 3))
            level(std::pow(10, i));
    } else {
        const double step = nice_step(plot.most, 3);
        for (int i = 1; i * step <= plot.most; ++i)
            level(i * step);
    }
}

/// Each end is a separate button.
bool HistogramPanel::handles(const Plot& plot, ValueRange& range, const KeyBindings& keys) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Rect& area = plot.area;
    bool changed = false, any = false;
    for (const bool high : {false, true}) {
        const double x =
            std::clamp(plot.x(high ? range.high : range.low, span_), area.x, area.x + area.width);
        const double wide = static_cast<double>(dp(14));
        ImGui::SetCursorScreenPos(theme::point(x - wide / 2, area.y));
        ImGui::InvisibleButton(high ? "high" : "low", theme::point(wide, area.height));
        probe::item(high ? "histogram.high" : "histogram.low");
        focus_ring();
        tooltip(std::string(shown_ == HistogramOf::change ? "The range on either side of 0: drag it; up"
                            : high                        ? "The high end of the range: drag it; up"
                                                          : "The low end of the range: drag it; up") +
                with_key("", keys, high ? Action::raise_high : Action::raise_low) + ", down" +
                with_key("", keys, high ? Action::lower_high : Action::lower_low));
        const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
        if (active || hovered)
            ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
        if (active && ImGui::IsMouseDragging(0, 2.0F)) {
            const double at = static_cast<double>(ImGui::GetIO().MousePos.x);
            move_end(range, high, span_.low + (at - area.x) / area.width * (span_.high - span_.low));
            changed = true;
        }
        if (const int steps = stepped(); steps != 0) {
            move_end(range, high,
                     (high ? range.high : range.low) + (range.high - range.low) / kSteps * steps);
            changed = true;
        }
        any = any || active;
        const ImU32 color = active || hovered ? theme::kText : theme::kAccent;
        draw.AddLine(theme::point(x, area.y), theme::point(x, area.y + area.height), color, dp(1.5F));
        draw.AddTriangleFilled(theme::point(x - dp(5), area.y), theme::point(x + dp(5), area.y),
                               theme::point(x, area.y + dp(7)), color);
    }
    dragged_ = any;
    return changed;
}

void HistogramPanel::numbers(const ViewSettings& view, const Display& display, const ValueRange& range,
                             bool stale) const {
    if (stale) {
        hint("1 %: – · median: – · 99 %: –");
        hint("Saturated: –");
        probe::value("histogram.says", "–");
        return;
    }
    sampler_.look(shown_, [&](const ValueSample& sample) {
        const PixelCounts& seen = display.result().counts;
        if (sample.size() == 0)
            return hint(shown_ == HistogramOf::result && seen.undefined + seen.infinite > 0
                            ? "No pixel has a number."
                            : "No values yet.");
        const std::string unit = shown_ == HistogramOf::raw      ? display.result().chain->input().unit
                                 : shown_ == HistogramOf::change ? "%"
                                                                 : display.result().quantity.unit;
        const int digits = digits_telling(*sample.percentile(1), *sample.percentile(99), 3);
        const auto at = [&](double percent) { return number_text(*sample.percentile(percent), digits); };
        const std::string says =
            "1 %: " + at(1) + " · median: " + at(50) + " · 99 %: " + at(99) + (unit == "1" ? "" : " " + unit);
        hint(says);
        probe::value("histogram.says", says);
        const double below = sample.share_below(range.low), above = sample.share_above(range.high);
        hint(share_text(below) + " below the range, " + share_text(above) + " above it");
        probe::value("histogram.below", below);
        probe::value("histogram.above", above);
        probe::value("histogram.median", *sample.percentile(50));
        probe::value("histogram.values", static_cast<double>(sample.size()));
    });
    const PixelCounts& counts = display.result().counts;
    const double saturated = saturated_share(counts);
    const bool warns = 100 * saturated > view.saturation_warning;
    if (counts.raw_samples > 0)
        hint("Saturated: " + share_text(saturated) + " of the raw frame",
             warns ? theme::kError : theme::kDim);
}

void HistogramPanel::choices(ViewSettings& view) {
    struct Choice {
        const char* label;
        HistogramOf of;
        const char* text;
    };
    std::vector<Choice> choices = {{"Result", HistogramOf::result, "Values of the result"},
                                   {"Change", HistogramOf::change, "The change against the baseline, in %"},
                                   {"Raw", HistogramOf::raw, "Values of the raw frame"}};
    if (!change_)
        choices.erase(choices.begin() + 1);
    const float gap = dp(4);
    const auto count = static_cast<float>(choices.size() + 1);
    const float width = (ImGui::GetContentRegionAvail().x - (count - 1) * gap) / count;
    for (const Choice& choice : choices) {
        if (tool_button(choice.label, shown_ == choice.of, width) && shown_ != choice.of) {
            shown_ = choice.of;
            offered_ = {};
        }
        probe::item(std::string("histogram.") + choice.label);
        tooltip(choice.text);
        ImGui::SameLine(0, gap);
    }
    if (tool_button("log", view.histogram_log, width))
        view.histogram_log = !view.histogram_log;
    probe::item("histogram.log");
    tooltip("Counts on a logarithmic axis");
}

ValueRange HistogramPanel::range_of(const ViewSettings& view, const Display& display,
                                    bool stretch_raw) const {
    return shown_ == HistogramOf::raw      ? display.raw_range(stretch_raw)
           : shown_ == HistogramOf::change ? ValueRange{-view.change_range, view.change_range}
                                           : seen_range(view.mapping);
}

void HistogramPanel::draw(Session& session, Display& display, bool stretch_raw) {
    const bool stale = session.freshness().stale;
    const bool asked = std::exchange(toggle, false);
    if (asked)
        ImGui::GetStateStorage()->SetInt(ImGui::GetID("Histogram"), open_ ? 0 : 1);
    open_ = section("Histogram", false);
    if (asked && open_)
        ImGui::SetScrollHereY(0.1F);
    probe::value("histogram.open", open_ ? 1.0 : 0.0);
    if (!open_)
        return;
    if (!display.has_result())
        return hint("No image yet.");
    ImGui::PushID("histogram");
    ViewSettings& view = session.view();
    choices(view);
    ValueRange range = range_of(view, display, stretch_raw);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const double left = static_cast<double>(dp(40)), high = static_cast<double>(dp(110));
    const Rect area{static_cast<double>(at.x) + left, static_cast<double>(at.y) + dp(6),
                    std::max(1.0, static_cast<double>(ImGui::GetContentRegionAvail().x) - left - dp(8)),
                    high};
    ImGui::Dummy(theme::point(left, high + dp(28)));
    const ImVec2 after = ImGui::GetCursorScreenPos();
    std::array<std::uint32_t, kMostBins> counts{};
    const std::size_t bins =
        std::clamp<std::size_t>(static_cast<std::size_t>(area.width / dp(2)), 16, kMostBins);
    Plot plot{area, std::span(counts).first(bins), 1, 0, view.histogram_log};
    sampler_.look(shown_, [&](const ValueSample& sample) {
        if (!dragged_) { // keeps the axis fixed during a drag
            const double low = sample.percentile(0.5).value_or(range.low);
            const double most = sample.percentile(99.5).value_or(range.high);
            const ValueSpan around =
                automatic_span(ValueSpan{std::min(range.low, low), std::max(range.high, most)});
            span_ = {around.low, around.high};
        }
        if (!stale)
            sample.count(span_.low, span_.high, std::span(counts).first(bins));
        plot.pixels_each = sample.pixels_each();
    });
    for (const std::uint32_t count : plot.bins)
        plot.most = std::max(plot.most, count * plot.pixels_each);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(theme::point(area.x, area.y), theme::point(area.x + area.width, area.y + area.height),
                       theme::kField);
    axes(plot);
    const double bar = area.width / static_cast<double>(bins);
    for (std::size_t i = 0; i < bins; ++i) {
        const double x = area.x + bar * static_cast<double>(i);
        const double middle =
            span_.low + (static_cast<double>(i) + 0.5) / static_cast<double>(bins) * (span_.high - span_.low);
        const bool inside = middle >= range.low && middle <= range.high;
        const double tall = plot.height(counts[i] * plot.pixels_each);
        if (counts[i] > 0)
            draw.AddRectFilled(theme::point(x, area.y + area.height - std::max(tall, 1.0)),
                               theme::point(x + bar, area.y + area.height),
                               inside ? theme::kAccent : theme::fade(theme::kWarning, 0.6F));
    }
    probe::value("histogram.of", shown_ == HistogramOf::raw      ? "raw"
                                 : shown_ == HistogramOf::change ? "change"
                                                                 : "result");
    probe::widget("histogram.plot", area.x, area.y, area.width, area.height);
    probe::value("histogram.span.low", span_.low);
    probe::value("histogram.span.high", span_.high);
    probe::value("histogram.made", static_cast<double>(sampler_.made()));
    if (shown_ != HistogramOf::raw) {
        const ValueRange before = range;
        const bool dragged = handles(plot, range, session.settings().keys);
        if (dragged && shown_ == HistogramOf::change) // moves both ends, symmetric to 0
            widen_change(view, range.high != before.high ? range.high : -range.low);
        else if (dragged)
            fix_range(view.mapping, range);
    } else {
        for (const double end : {range.low, range.high})
            if (end >= span_.low && end <= span_.high)
                draw.AddLine(theme::point(plot.x(end, span_), area.y),
                             theme::point(plot.x(end, span_), area.y + area.height), theme::kAccent);
    }
    ImGui::SetCursorScreenPos(after);
    numbers(view, display, range, stale);
    const ParamDecl& decl = view_table().at("saturation_warning");
    control_label("Warn above");
    (void)value_slider("view.saturation_warning", view.saturation_warning, {decl.min, decl.max, false, false},
                       decl.unit);
    tooltip(decl.doc);
    ImGui::PopID();
}

using theme::dp;

float color_legend_height() { return theme::fonts().small->FontSize * 1.25F * 3 + dp(10); }

void draw_color_legend(const Rect& area, const PixelCounts& counts) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float small = theme::fonts().small->FontSize, line = small * 1.25F;
    const auto value = [](const Rgb& color) { return IM_COL32(color[0], color[1], color[2], 255); };
    float y = static_cast<float>(area.y + area.height) - color_legend_height();
    const auto x = static_cast<float>(area.x) + dp(8);
    for (const auto& [name, color, count] :
         {std::tuple{"undefined", value(kUndefinedColor), counts.undefined},
          {"infinite", value(kInfiniteColor), counts.infinite},
          {"saturated", value(kSaturatedColor), counts.raw_saturated}}) {
        draw.AddRectFilled({x, y + small * 0.15F}, {x + small * 0.75F, y + small * 0.9F}, color, dp(2));
        draw.AddText(theme::fonts().small, small, {x + small, y},
                     count > 0 ? theme::kText : theme::fade(theme::kDim, 0.8F), name);
        y += line;
    }
    probe::widget("color_legend", area.x, area.y + area.height - color_legend_height(), area.width,
                  color_legend_height());
}

} // namespace specklescope
