// Pulse in the trace of one region, shown on the plot.
#include "config/numbers.hpp"
#include "session/session.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/traces/strip.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

namespace specklescope {

namespace {

using theme::dp;

constexpr std::int64_t kLongest_ns = 60'000'000'000, kPulseEvery_ns = 1'000'000'000;
constexpr int kMostPulseSamples = 32768, kRounds = 8;
constexpr std::chrono::milliseconds kPause{500};

/// Samples of a stretch; empty if they are not all stored or too many. Contains only samples made with the
/// settings of the last one.
struct Samples {
    std::vector<double> times, values;
};
Samples whole_samples(const std::vector<TraceColumn>& columns) {
    Samples samples;
    const auto other = std::find_if(columns.rbegin(), columns.rend(), [&](const TraceColumn& column) {
        return column.settings != columns.back().settings;
    });
    for (const TraceColumn& column : std::span(other.base(), columns.end())) {
        if (column.low != column.high)
            return {};
        samples.times.push_back(static_cast<double>(column.time_ns) * 1e-9);
        samples.values.push_back(column.low);
    }
    return samples;
}

std::string short_text(const Pulse& pulse) {
    if (!pulse.why.empty())
        return to_string(pulse);
    std::string text = number_text(60 * pulse.pulse_hz, 3) + " beats/min";
    if (!pulse.beats.empty())
        text += ", pulsatility index " + number_text(pulse.pulsatility, 3);
    return text;
}

} // namespace

void TraceStrip::measure_pulse(Session& session) {
    if (!pulse_wanted_ || about_.regions.empty() || session.freshness().stale) {
        pulse_.reset();
        return;
    }
    const auto& drawn = session.regions.regions();
    const RegionEditor::Index selected = session.regions.selected();
    std::size_t of = about_.regions.size();
    for (std::size_t i = about_.regions.size(); i-- > 0;) {
        const bool chosen =
            selected && *selected < drawn.size() && drawn[*selected].name == about_.regions[i].name;
        if (chosen) {
            of = i;
            break;
        }
        if (!hidden_.contains(about_.regions[i].id))
            of = i;
    }
    if (of == about_.regions.size()) { // all are hidden
        pulse_.reset();
        return;
    }
    const TraceRegion& region = about_.regions[of];
    if (!timed()) {
        Pulse none;
        none.why = "the frame rate is unknown: set the source's rate";
        pulse_ = {region.id, region.name, view_.from_ns(), view_.to_ns(), none, about_.changes};
        return;
    }
    if (about_.only_newest(region)) {
        Pulse none;
        none.why = "settings changed, and no new frame has come yet";
        pulse_ = {region.id, region.name, view_.from_ns(), view_.to_ns(), none, about_.changes};
        return;
    }
    const std::int64_t seen_from = view_.from_ns(), to = view_.to_ns();
    const bool fresh = pulse_ && pulse_->id == region.id && pulse_->changes == about_.changes &&
                       std::abs(to - pulse_->to_ns) < kPulseEvery_ns &&
                       std::abs(seen_from - pulse_->seen_from_ns) < kPulseEvery_ns;
    const auto now = std::chrono::steady_clock::now();
    if (fresh || (pulse_ && pulse_->id == region.id && now - pulse_at_ < kPause))
        return;
    pulse_at_ = now;
    Samples samples;
    std::int64_t span = std::min(to - seen_from, kLongest_ns);
    for (int round = 0; round < kRounds && span > 0 && samples.times.empty(); ++round, span /= 2) {
        // shorter if the frame rate is high or frames are old
        const auto curves = session.traces().curves(to - span, to, kMostPulseSamples);
        if (of >= curves.size() || curves[of].empty())
            break;
        samples = whole_samples(curves[of]);
    }
    pulse_ = {region.id,     region.name, seen_from, to, find_pulse(samples.times, samples.values),
              about_.changes};
}

void TraceStrip::draw_pulse(const Rect& plot) const {
    if (!pulse_)
        return;
    const ImFont& small = *theme::fonts().small;
    const std::string text = fitted(small, pulse_->name + ": " + short_text(pulse_->pulse),
                                    static_cast<float>(plot.width) - dp(16));
    const ImVec2 size = small.CalcTextSizeA(small.FontSize, 1e9F, 0, text.c_str());
    const ImVec2 at(static_cast<float>(plot.x + plot.width) - size.x - dp(6),
                    static_cast<float>(plot.y + plot.height) - size.y - dp(4));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled({at.x - dp(4), at.y - dp(2)}, {at.x + size.x + dp(4), at.y + size.y + dp(2)},
                       theme::fade(theme::kField, 0.9F), dp(3));
    draw.AddText(&small, small.FontSize, at, theme::kText, text.c_str());
    probe::value("traces.pulse.text", text);
    probe::value("traces.pulse.hz", pulse_->pulse.pulse_hz);
    probe::value("traces.pulse.samples", static_cast<double>(pulse_->pulse.samples));
}

} // namespace specklescope
