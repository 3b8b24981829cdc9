#include "ui/regions/line_panel.hpp"

#include "analysis/profile.hpp"
#include "config/numbers.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace specklescope {

namespace {

using theme::dp;

std::optional<LineEnds> line_of(const Result& result, const std::string& region) {
    if (!result.regions || region.empty())
        return std::nullopt;
    for (const PlacedRegion& placed : result.regions->placed->regions)
        if (placed.name == region)
            return placed.line;
    return std::nullopt;
}

/// Extremes of the finite values; nullopt if there are none.
std::optional<std::pair<double, double>> extremes(const std::vector<double>& values) {
    std::optional<std::pair<double, double>> found;
    for (const double v : values)
        if (std::isfinite(v))
            found =
                found ? std::pair{std::min(found->first, v), std::max(found->second, v)} : std::pair{v, v};
    return found;
}

} // namespace

void LinePanel::take(const Result& result, const std::string& region, int band, double um) {
    um_per_px_ = um;
    const std::optional<LineEnds> line = line_of(result, region);
    const auto now = SteadyClock::now();
    wants_host_ = line.has_value() && now - drawn_ < std::chrono::seconds(1);
    if (!line) {
        name_.clear();
        return;
    }
    if (!wants_host_ || !result.image)
        return;
    const bool standing = sequence_ == result.info.sequence && version_ == result.info.version &&
                          placed_.lock() == result.regions->placed;
    if (name_ == region && (standing || now - when_ < std::chrono::milliseconds(200)))
        return; // limits the update rate for readability
    const LineProfile measured(*line, band);
    const RegionMean mean = result.regions->mean;
    std::vector<double> averages;
    measured.measure({result.image.host(), result.chain ? result.chain->channel() : GreyChannel::luma, mean},
                     averages);
    vessel_ = fit_vessel_width(averages, measured.spacing());
    for (double& value : averages)
        value = from_average(value, mean);
    profile_ = std::move(averages);
    spacing_ = measured.spacing();
    unit_ = result.quantity.unit == "1" ? "" : result.quantity.unit;
    sequence_ = result.info.sequence;
    version_ = result.info.version;
    placed_ = result.regions->placed;
    name_ = region;
    when_ = now;
}

std::string LinePanel::text() const {
    if (vessel_.fit != WidthFit::ok)
        return std::string("Width of a vessel: none, ") + to_string(vessel_.fit) + ".";
    const double um = um_per_px_;
    return "Width of the vessel " + number_text(vessel_.width, 3) + " ± " +
           number_text(vessel_.width_std, 2) + " px" +
           (um > 0 ? " (" + number_text(vessel_.width * um, 3) + " ± " +
                         number_text(vessel_.width_std * um, 2) + " µm)"
                   : "") +
           ", its centre at " + number_text(vessel_.centre, 3) + " px of " +
           number_text(spacing_ * static_cast<double>(profile_.size() - 1), 3) + ".";
}

void LinePanel::draw(const std::string& region) {
    drawn_ = SteadyClock::now();
    if (name_.empty() || name_ != region)
        return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size(ImGui::GetContentRegionAvail().x, dp(64));
    ImGui::InvisibleButton("profile", size);
    probe::item("region.profile");
    focus_ring();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, {at.x + size.x, at.y + size.y}, theme::kField, dp(3));
    if (const auto span = extremes(profile_)) {
        tooltip("The profile along the line: " + quantity_text(span->first, unit_, 3) + " to " +
                quantity_text(span->second, unit_, 3) + ", the mean over --band pixels across it.");
        const double range = std::max(span->second - span->first, 1e-300);
        const auto steps = static_cast<double>(std::max<std::size_t>(profile_.size(), 2) - 1);
        const float room = dp(5);
        const auto point = [&](std::size_t i) {
            return ImVec2(at.x + room +
                              static_cast<float>(static_cast<double>(i) / steps) * (size.x - 2 * room),
                          at.y + size.y - room -
                              static_cast<float>((profile_[i] - span->first) / range) * (size.y - 2 * room));
        };
        if (vessel_.fit == WidthFit::ok) { // between the two points at half depth
            const auto x = [&](double px) {
                return at.x + room + static_cast<float>(px / (spacing_ * steps)) * (size.x - 2 * room);
            };
            draw.AddRectFilled({x(vessel_.centre - vessel_.width / 2), at.y},
                               {x(vessel_.centre + vessel_.width / 2), at.y + size.y},
                               theme::fade(theme::kAccent, 0.2F));
        }
        for (std::size_t i = 1; i < profile_.size(); ++i)
            if (std::isfinite(profile_[i - 1]) && std::isfinite(profile_[i]))
                draw.AddLine(point(i - 1), point(i), theme::kText, dp(1));
    }
    hint(text());
}

void LinePanel::report() const {
    if (name_.empty())
        return;
    probe::value("line.name", name_);
    probe::value("line.text", text());
    probe::value("line.width", vessel_.width);
    probe::value("line.samples", static_cast<double>(profile_.size()));
    probe::value("line.sequence", static_cast<double>(sequence_));
}

} // namespace specklescope
