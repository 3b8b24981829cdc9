#include "ui/traces/trials_view.hpp"

#include "config/numbers.hpp"
#include "session/session.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr std::int64_t kTrialsEvery_ns = 1'000'000'000;
constexpr std::chrono::milliseconds kFilmChangesEvery{500};
constexpr int kMostTrialSamples = 32768;                ///< per event
constexpr std::size_t kMostEvents = 200;                ///< the newest events
constexpr std::size_t kMostKept = std::size_t{4} << 20; ///< samples of 16 bytes

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1e9)); }

void draw_mean(const PlotArea& plot, const Trials& trials, ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto at = [&](double offset, double value) {
        return ImVec2(static_cast<float>(plot.x(to_ns(offset))), static_cast<float>(plot.y(value)));
    };
    draw.PushClipRect({static_cast<float>(plot.inner.x), static_cast<float>(plot.inner.y)},
                      {static_cast<float>(plot.inner.x + plot.inner.width),
                       static_cast<float>(plot.inner.y + plot.inner.height)},
                      true);
    const TrialPoint* before = nullptr;
    for (const TrialPoint& point : trials.points) {
        if (!std::isfinite(point.mean)) {
            before = nullptr;
            continue;
        }
        if (before && std::isfinite(point.error) && std::isfinite(before->error))
            draw.AddQuadFilled(at(before->offset_s, before->mean - before->error),
                               at(before->offset_s, before->mean + before->error),
                               at(point.offset_s, point.mean + point.error),
                               at(point.offset_s, point.mean - point.error), theme::fade(colour, 0.25F));
        if (before)
            draw.AddLine(at(before->offset_s, before->mean), at(point.offset_s, point.mean), colour,
                         dp(1.5F));
        before = &point;
    }
    draw.PopClipRect();
}

/// Average for one region; a sample near two events counts once.
Trials average_of(const std::vector<std::shared_ptr<const TrialsView::Samples>>& all, std::size_t region,
                  const std::vector<double>& events, const TrialWindow& window, RegionMean mean) {
    std::vector<std::pair<std::int64_t, double>> samples;
    for (const auto& around : all)
        if (region < around->size())
            samples.insert(samples.end(), (*around)[region].begin(), (*around)[region].end());
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    samples.erase(std::unique(samples.begin(), samples.end(),
                              [](const auto& a, const auto& b) { return a.first == b.first; }),
                  samples.end());
    std::vector<double> moments, values;
    for (const auto& [moment, value] : samples) {
        moments.push_back(static_cast<double>(moment) * 1e-9);
        values.push_back(value);
    }
    return average_trials(moments, values, events, window, mean);
}

} // namespace

bool TrialsView::offered(const Session& session) const {
    return wanted_ || !session.events().events().empty();
}

void TrialsView::button() {
    if (tool_button("Trials", wanted_))
        wanted_ = !wanted_;
    probe::item("traces.trials");
    tooltip("The mean of each region around the events of one label, ± its standard error");
}

void TrialsView::controls(Session& session) {
    std::map<std::string, int> labels;
    for (const TimedEvent& event : session.events().events())
        ++labels[event.mark.label];
    if (!labels.contains(label_))
        label_ = session.events().events().empty() ? "" : session.events().events().back().mark.label;
    ImGui::SetNextItemWidth(dp(120));
    const bool open = ImGui::BeginCombo("##around", label_text(label_).c_str());
    probe::item("traces.trials.label");
    if (!open)
        tooltip("Label of the events around which trials are averaged.");
    if (open) {
        close_on_escape();
        int id = 0;
        for (const auto& [label, count] : labels) {
            ImGui::PushID(id++);
            if (ImGui::Selectable((label_text(label) + "   " + std::to_string(count) + "×").c_str(),
                                  label == label_))
                label_ = label;
            ImGui::PopID();
        }
        ImGui::EndCombo();
    }
    ViewSettings& view = session.view();
    for (const auto& [name, value] :
         {std::pair{"trials_before", &view.trials_before_s}, {"trials_after", &view.trials_after_s}}) {
        const ParamDecl& decl = view_table().at(name);
        ImGui::SameLine(0, dp(6));
        ImGui::PushItemWidth(dp(56));
        value_field(name, *value, {decl.min, decl.max, false, false}, "s");
        ImGui::PopItemWidth();
        probe::item(std::string("traces.") + name);
        tooltip(decl.doc);
    }
}

std::vector<std::int64_t> TrialsView::times(const Session& session) const {
    std::vector<std::int64_t> times;
    for (const TimedEvent& event : session.events().events())
        if (event.mark.label == label_ && event.axis == axis_)
            times.push_back(event.time_ns);
    if (times.size() > kMostEvents)
        times.erase(times.begin(), times.end() - static_cast<std::ptrdiff_t>(kMostEvents));
    return times;
}

void TrialsView::measure(const TraceOverview& about, Session& session) {
    const ViewSettings& view = session.view();
    axis_ = about.axis;
    const std::vector<std::int64_t> events = times(session);
    std::vector<std::uint64_t> regions;
    regions.reserve(about.regions.size());
    for (const TraceRegion& region : about.regions)
        regions.push_back(region.id);
    std::vector<std::uint64_t> outlines;
    outlines.reserve(about.regions.size());
    for (const TraceRegion& region : about.regions)
        outlines.push_back(region.outline);
    const std::uint64_t settings = about.settings.empty() ? 0 : about.settings.back().id;
    // Values of a film may change anywhere.
    const auto now = std::chrono::steady_clock::now();
    const bool changed =
        about.film && about.changes != measured_changes_ && now - measured_at_ > kFilmChangesEvery;
    const bool same = !changed && measured_regions_ == regions && measured_outlines_ == outlines &&
                      measured_mean_ == about.mean && measured_settings_ == settings &&
                      measured_before_ == view.trials_before_s && measured_after_ == view.trials_after_s &&
                      about.last_ns >= measured_to_ns_;
    if (same && measured_events_ == events && about.last_ns - measured_to_ns_ < kTrialsEvery_ns)
        return;
    if (!same)
        around_.clear();
    measured_changes_ = about.changes;
    measured_at_ = now;
    measured_events_ = events;
    measured_regions_ = regions;
    measured_outlines_ = outlines;
    measured_mean_ = about.mean;
    measured_settings_ = settings;
    measured_before_ = view.trials_before_s;
    measured_after_ = view.trials_after_s;
    measured_to_ns_ = about.last_ns;
    old_ = other_ = 0;
    std::map<std::int64_t, std::shared_ptr<const Samples>> complete; // complete events do not change any more
    std::vector<std::shared_ptr<const Samples>> all;
    std::vector<double> whole; // times of the events
    std::size_t kept = 0;
    for (const std::int64_t event : events) {
        const auto known = around_.find(event);
        const std::uint64_t others = other_;
        const std::shared_ptr<const Samples> samples =
            known != around_.end() ? known->second : samples_around(event, about, session);
        if (!samples)
            continue;
        for (const auto& of_region : *samples)
            kept += of_region.size();
        if (event + to_ns(view.trials_after_s) <= about.last_ns && kept <= kMostKept && other_ == others)
            complete.emplace(event, samples);
        whole.push_back(static_cast<double>(event) * 1e-9);
        all.push_back(samples);
    }
    around_ = std::move(complete);
    averages_.ask([all, whole, regions, mean = about.mean,
                   window = TrialWindow{view.trials_before_s, view.trials_after_s, 0}] {
        Averages averages{regions, {}};
        for (std::size_t i = 0; i < regions.size(); ++i)
            averages.trials.push_back(average_of(all, i, whole, window, mean));
        return averages;
    });
}

/// Returns null if the samples are no longer complete, or have other settings than the newest frame. A
/// region with a changed outline has no samples.
std::shared_ptr<const TrialsView::Samples>
TrialsView::samples_around(std::int64_t event, const TraceOverview& about, Session& session) {
    const auto curves = session.traces().curves(event - to_ns(measured_before_),
                                                event + to_ns(measured_after_), kMostTrialSamples);
    const bool kept = std::all_of(curves.begin(), curves.end(), [](const auto& columns) {
        return std::all_of(columns.begin(), columns.end(),
                           [](const TraceColumn& c) { return c.low == c.high; });
    });
    if (!kept) {
        ++old_;
        return nullptr;
    }
    auto samples = std::make_shared<Samples>();
    bool any = false, other = false;
    for (const auto& columns : curves) {
        auto& of_region = samples->emplace_back();
        const bool comparable =
            !about.settings.empty() && std::all_of(columns.begin(), columns.end(), [&](const TraceColumn& c) {
                return about.comparable(c, about.settings.back().with);
            });
        any = any || comparable;
        other = other || !comparable;
        for (const TraceColumn& column : comparable ? columns : std::vector<TraceColumn>())
            of_region.emplace_back(column.time_ns, column.low);
    }
    other_ += other ? 1 : 0;
    return any ? samples : nullptr;
}

void TrialsView::draw(const Rect& inner, const TraceOverview& about, Session& session,
                      const std::vector<ImU32>& colours, const std::set<std::uint64_t>& hidden) {
    measure(about, session);
    averages_.poll();
    const std::optional<Averages>& averages = averages_.result();
    static const std::vector<Trials> none;
    const bool of_these = averages && averages->regions == measured_regions_;
    const bool timed = !about.newest || about.newest->timed;
    const std::vector<Trials>& trials = of_these && timed ? averages->trials : none;
    std::optional<ValueSpan> extremes;
    std::uint64_t used = 0;
    std::string why = timed ? "" : "the frame rate is unknown: set the source's rate";
    for (std::size_t i = 0; i < std::min(trials.size(), about.regions.size()); ++i) {
        why = trials[i].why.empty() ? why : trials[i].why;
        if (hidden.contains(about.regions[i].id))
            continue;
        used = std::max(used, trials[i].used);
        for (const TrialPoint& point : trials[i].points) {
            if (!std::isfinite(point.mean))
                continue;
            const double error = std::isfinite(point.error) ? point.error : 0;
            extremes = ValueSpan{std::min(extremes ? extremes->low : point.mean, point.mean - error),
                                 std::max(extremes ? extremes->high : point.mean, point.mean + error)};
        }
    }
    const ViewSettings& view = session.view();
    const PlotArea plot{inner, -to_ns(view.trials_before_s),
                        std::max(to_ns(view.trials_after_s), -to_ns(view.trials_before_s) + 1),
                        automatic_span(extremes)};
    const std::string unit = about.quantity.unit == "1" ? "" : about.quantity.unit;
    draw_axes(plot,
              about.quantity.symbol + ", mean ± standard error of " + std::to_string(used) +
                  (used == 1 ? " trial" : " trials") +
                  (old_ > 0 ? ", " + std::to_string(old_) + " too old to be kept whole" : "") +
                  (other_ > 0 ? ", " + std::to_string(other_) + " made with other settings left out" : ""),
              unit);
    const auto zero = static_cast<float>(plot.x(0));
    ImGui::GetWindowDrawList()->AddLine({zero, static_cast<float>(inner.y)},
                                        {zero, static_cast<float>(inner.y + inner.height)},
                                        theme::fade(theme::kWarning, 0.7F), dp(1));
    for (std::size_t i = 0; i < std::min(trials.size(), about.regions.size()); ++i)
        if (!hidden.contains(about.regions[i].id) && i < colours.size())
            draw_mean(plot, trials[i], colours[i]);
    if (!extremes)
        draw_empty(inner, "There is no mean yet: " +
                              (!why.empty()      ? why
                               : !trials.empty() ? std::string("all regions are hidden")
                                                 : std::string("it is being computed")) +
                              ".");
    probe::value("traces.trials.other_settings", static_cast<double>(other_));
    probe::value("traces.trials.used", static_cast<double>(used));
    probe::value("traces.trials.points", trials.empty() ? 0.0 : static_cast<double>(trials[0].points.size()));
    probe::value("traces.trials.before", trials.empty() ? NAN : trials[0].before);
}

} // namespace specklescope
