#include "ui/traces/response_view.hpp"

#include "config/numbers.hpp"
#include "session/session.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace specklescope {

namespace {

using theme::dp;
using namespace std::chrono_literals;

constexpr int kMostSamples = 32768; ///< of one interval
constexpr auto kEvery = 300ms;

bool is_response(const Interval& interval) { return !interval.baseline; }

std::string value_text(double value) { return std::isfinite(value) ? number_text(value) : "–"; }

} // namespace

bool ResponseView::offered(const Session& session) const {
    return wanted_ || std::any_of(session.intervals.begin(), session.intervals.end(), is_response);
}

void ResponseView::button() {
    if (tool_button("Response", wanted_))
        wanted_ = !wanted_;
    probe::item("traces.response");
    tooltip("Mean, peak, latency and area of each region in each interval that is not the baseline");
}

void ResponseView::measure(const TraceOverview& about, Session& session, const std::vector<ImU32>& colours,
                           bool relative) {
    const auto now = std::chrono::steady_clock::now();
    if (measured_ == session.intervals && measured_relative_ == relative && now - measured_at_ < kEvery)
        return;
    measured_ = session.intervals;
    measured_relative_ = relative;
    measured_at_ = now;
    rows_.clear();
    for (const Interval& interval : measured_) {
        if (!is_response(interval))
            continue;
        const auto curves = session.traces().curves(interval.from_ns, interval.to_ns, kMostSamples);
        for (std::size_t i = 0; i < std::min(curves.size(), about.regions.size()); ++i) {
            Row row{interval.name, about.regions[i].name, colours[i], {}, ""};
            std::vector<double> times, values;
            const TraceSettings* made = nullptr; // of its last frame
            for (const TraceColumn& column : curves[i])
                if (column.time_ns >= interval.from_ns && column.time_ns <= interval.to_ns)
                    made = about.find(column.settings);
            for (const TraceColumn& column : curves[i]) {
                if (column.time_ns < interval.from_ns || column.time_ns > interval.to_ns)
                    continue;
                if (column.low != column.high)
                    row.why = "too old: its frames are no longer kept whole";
                else if (!made || !about.comparable(column, made->with))
                    row.why = "its settings or outline changed within the interval";
                times.push_back(static_cast<double>(column.time_ns) * 1e-9);
                values.push_back(column.low);
            }
            if (values.empty())
                row.why = "no frame in the interval";
            const std::optional<double> f0 =
                session.baseline.of(about.regions[i], made ? &made->with : nullptr);
            if (row.why.empty())
                row.response = response_of(times, values, static_cast<double>(interval.from_ns) * 1e-9,
                                           about.mean, f0, relative);
            rows_.push_back(std::move(row));
        }
    }
}

std::string ResponseView::text(const TraceOverview& about, bool relative) const {
    const std::string unit = relative ? "%" : about.quantity.unit == "1" ? "" : about.quantity.unit;
    const auto in = [&](const std::string& name, const std::string& of) {
        return name + (of.empty() ? "" : " (" + of + ")");
    };
    std::string all = "interval\tregion\t" + in("mean", unit) + "\t" + in("peak", unit) + "\tlatency (s)\t" +
                      in("area", unit + (unit.empty() ? "s" : "·s")) + "\tframes\n";
    for (const Row& row : rows_)
        all += row.interval + "\t" + row.region + "\t" + to_string(ParamValue(row.response.mean)) + "\t" +
               to_string(ParamValue(row.response.peak)) + "\t" +
               to_string(ParamValue(row.response.latency_s)) + "\t" +
               to_string(ParamValue(row.response.area)) + "\t" + std::to_string(row.response.frames) + "\n";
    return all;
}

void ResponseView::draw(const Rect& area, const TraceOverview& about, Session& session,
                        const std::vector<ImU32>& colours, bool relative) {
    measure(about, session, colours, relative);
    const std::string copied = text(about, relative);
    probe::value("response.text", copied);
    ImGui::SetCursorScreenPos(theme::point(area.x + dp(6), area.y));
    ImGui::BeginChild("response", {static_cast<float>(area.width) - dp(6), static_cast<float>(area.height)},
                      false, ImGuiWindowFlags_NavFlattened);
    const std::string unit = relative ? "%" : about.quantity.unit == "1" ? "" : about.quantity.unit;
    ImGui::PushFont(theme::fonts().small);
    if (rows_.empty())
        hint("No interval besides the baseline. Drag one on the plot with Shift.");
    const std::array<std::string, 6> heads = {"interval", "region", "mean", "peak", "latency", "area"};
    if (!rows_.empty() &&
        ImGui::BeginTable("responses", static_cast<int>(heads.size()),
                          ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerH |
                              ImGuiTableFlags_ScrollY,
                          {0, ImGui::GetContentRegionAvail().y - ImGui::GetFrameHeightWithSpacing()})) {
        ImGui::TableSetupScrollFreeze(0, 1);
        for (std::size_t i = 0; i < heads.size(); ++i) // names are shortened, numbers are not
            ImGui::TableSetupColumn(heads.at(i).c_str(), i < 2 ? ImGuiTableColumnFlags_WidthStretch
                                                               : ImGuiTableColumnFlags_WidthFixed);
        ImGui::TableHeadersRow();
        for (const Row& row : rows_) {
            ImGui::TableNextRow();
            const auto cell = [&](const std::string& words, ImU32 colour) {
                ImGui::TableNextColumn();
                ImGui::TextColored(theme::vec(colour), "%s", words.c_str());
            };
            const auto name = [&](const std::string& words, ImU32 colour) {
                ImGui::TableNextColumn();
                const std::string shown = fitted(*ImGui::GetFont(), words, ImGui::GetContentRegionAvail().x);
                ImGui::TextColored(theme::vec(colour), "%s", shown.c_str());
                if (shown != words)
                    tooltip(words);
            };
            name(row.interval, theme::kGood);
            name(row.region, row.colour);
            cell(value_text(row.response.mean), theme::kText);
            if (!row.why.empty())
                tooltip("No response: " + row.why + ".");
            cell(value_text(row.response.peak), theme::kText);
            cell(value_text(row.response.latency_s) + " s", theme::kText);
            cell(value_text(row.response.area), theme::kText);
        }
        ImGui::EndTable();
    }
    if (ImGui::Button("Copy")) {
        ImGui::SetClipboardText(copied.c_str());
        session.say(Message::Level::info, "The responses are copied as text.");
    }
    probe::item("response.copy");
    ImGui::SameLine();
    hint("mean, peak in " + (unit.empty() ? "units of " + about.quantity.symbol : unit) +
         (session.baseline.taken() ? "; area against F₀" : "; no baseline, no area"));
    ImGui::PopFont();
    ImGui::EndChild();
}

} // namespace specklescope
