// The curves as they are shown, for a file or the clipboard.
#include "ui/traces/strip.hpp"

#include "config/numbers.hpp"
#include "recording/table.hpp"
#include "session/session.hpp"

#include <algorithm>

namespace specklescope {

TracePlot TraceStrip::shown_plot(Session& session) {
    constexpr int kColumns = 2000; // finer than a printer resolves
    measure(session, {0, 0, kColumns, 1});
    const Quantity& quantity = about_.quantity;
    TracePlot plot{.symbol =
                       relative_ ? "Δ" + quantity.symbol + "/" + quantity.symbol + "₀" : quantity.symbol,
                   .unit = relative_ ? "%" : quantity.unit + (assumed() ? " *" : ""),
                   .from_ns = view_.from_ns(),
                   .to_ns = view_.to_ns(),
                   .time_title = timed() ? "time" : "frame",
                   .timed = timed(),
                   .low = span_.low,
                   .high = span_.high};
    const std::vector<Region>& regions = session.regions.regions();
    for (std::size_t i = 0; i < std::min(curves_.size(), about_.regions.size()); ++i) {
        const TraceRegion& region = about_.regions[i];
        const std::optional<double> f0 =
            relative_ ? session.baseline.of(region, nullptr) : std::optional<double>();
        if (hidden_.contains(region.id) || (relative_ && !f0))
            continue;
        PlotCurve& curve = plot.curves.emplace_back(curve_of(regions, region.name));
        curve.columns = curves_[i];
        curve.f0 = f0;
    }
    for (const TimedEvent& event : session.events().events())
        if (event.axis == about_.axis)
            plot.events.push_back({event.time_ns, event.mark.label});
    for (const TraceRestart& restart : about_.restarts)
        if (plot.restarts.empty() || plot.restarts.back().text != restart.what)
            plot.restarts.push_back({restart.time_ns, restart.what});
    plot.intervals = session.intervals;
    return plot;
}

void TraceStrip::save_plot(Session& session) { session.exports.save_plot(shown_plot(session)); }

void TraceStrip::copy(Session& session) const {
    constexpr int kMost = 100'000; // rows
    const std::vector<TraceValues> frames =
        frames_between(session.traces(), view_.from_ns(), view_.to_ns(), kMost);
    const std::string unit = relative_ ? "%" : about_.quantity.unit;
    std::string text = timed() ? "time (s)\tframe" : "frame";
    for (const TraceRegion& region : about_.regions)
        if (!hidden_.contains(region.id))
            text += "\t" + region.name + (unit == "1" ? "" : " (" + unit + ")");
    text += '\n';
    for (const TraceValues& frame : frames) {
        if (timed()) {
            add_seconds(text, frame.moment.time_ns);
            text += '\t';
        }
        add_whole(text, frame.moment.frame());
        for (std::size_t i = 0; i < std::min(frame.values.size(), about_.regions.size()); ++i) {
            const TraceRegion& region = about_.regions[i];
            if (hidden_.contains(region.id))
                continue;
            text += '\t';
            const TraceSettings* then = i < frame.settings.size() ? about_.find(frame.settings[i]) : nullptr;
            if (!relative_)
                add_number(text, frame.values[i]);
            else if (const auto f0 = then ? session.baseline.of(region, &then->with) : std::nullopt)
                add_number(text, relative_change(frame.values[i], *f0));
        }
        text += '\n';
    }
    ImGui::SetClipboardText(text.c_str());
    session.say(Message::Level::info, "Copied " + count_text(frames.size()) +
                                          (frames.size() == 1 ? " frame" : " frames") +
                                          " of the curves as text. Paste them into a table.");
}

} // namespace specklescope
