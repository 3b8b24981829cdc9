#include "ui/panels/monitor.hpp"

#include "config/numbers.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/regions/region_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;
using theme::dp;

constexpr float kFinger = 44; ///< dp, the least side of a button
constexpr double kLeastCanvas = 0.505;
constexpr std::size_t kReadouts = 4;
constexpr double kSparkline_s = 60;
constexpr auto kHold = 1s, kSettle = 2s, kRelock = 60s, kShown = 2s;
constexpr auto kRead = 250ms; ///< between two values
constexpr ImU32 kOnWarning = IM_COL32(20, 16, 4, 255);

std::string change_text(double percent) {
    if (std::abs(percent) < 0.05) // without a sign
        return "0.0 %";
    char text[32];
    std::snprintf(text, sizeof text, "%+.1f %%", percent);
    return text;
}

std::vector<Readout> readouts_of(Session& session, std::int64_t& from_ns, std::int64_t& to_ns) {
    const TraceOverview about = session.traces().overview();
    const Freshness& fresh = session.freshness();
    to_ns = about.last_ns + static_cast<std::int64_t>(fresh.age_s * 1e9);
    from_ns = to_ns - static_cast<std::int64_t>(kSparkline_s * 1e9);
    const auto curves = session.traces().curves(from_ns, to_ns, 120);
    const Quantity& quantity = about.newest_quantity;
    const std::string star = about.with && rests_on_assumption(quantity, about.with->exposure) ? " *" : "";
    std::vector<Readout> all;
    const auto& drawn = session.regions.regions();
    for (std::size_t i = 0; i < std::min(drawn.size(), kReadouts); ++i) {
        Readout one{.name = drawn[i].name, .value = "–", .color = region_colour_value(drawn[i], i)};
        const auto at = std::find_if(about.regions.begin(), about.regions.end(),
                                     [&](const TraceRegion& region) { return region.name == one.name; });
        if (at != about.regions.end()) {
            if (curves.size() == about.regions.size()) // otherwise they changed between the two calls
                one.curve = curves[static_cast<std::size_t>(at - about.regions.begin())];
            one.unit = (quantity.unit == "1" ? "" : quantity.unit) + star;
            if (!fresh.stale && std::isfinite(at->newest)) {
                one.value = number_text(at->newest);
                if (const std::optional<double> f0 = session.baseline.of(*at, about)) {
                    const double change = relative_change(at->newest, *f0);
                    one.change = change_text(change);
                }
            }
            if (one.change.empty() && session.baseline.taken())
                one.change = "– %";
        }
        all.push_back(std::move(one));
    }
    return all;
}

void sparkline(const Rect& area, const std::vector<TraceColumn>& curve, std::int64_t from_ns,
               std::int64_t to_ns, ImU32 color) {
    double low = INFINITY, high = -INFINITY;
    for (const TraceColumn& column : curve) {
        low = std::isfinite(column.low) ? std::min(low, column.low) : low;
        high = std::isfinite(column.high) ? std::max(high, column.high) : high;
    }
    if (!(low <= high) || area.width <= 0 || area.height <= 0)
        return;
    const double span = std::max(high - low, 1e-12 + std::abs(high) * 0.01), middle = (low + high) / 2;
    const auto place = [&](const TraceColumn& column, double value) {
        const double x = static_cast<double>(column.time_ns - from_ns) / static_cast<double>(to_ns - from_ns);
        return theme::point(area.x + x * area.width,
                            area.y + area.height * (0.5 - 0.9 * (value - middle) / span));
    };
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.PushClipRect(theme::point(area.x, area.y), theme::point(area.x + area.width, area.y + area.height),
                      true);
    for (std::size_t i = 0; i < curve.size(); ++i) {
        if (curve[i].low != curve[i].high)
            draw.AddLine(place(curve[i], curve[i].low), place(curve[i], curve[i].high), color, dp(1.5F));
        if (i > 0 && !curve[i].broken)
            draw.AddLine(place(curve[i - 1], (curve[i - 1].low + curve[i - 1].high) / 2),
                         place(curve[i], (curve[i].low + curve[i].high) / 2), color, dp(1.5F));
    }
    draw.PopClipRect();
}

/// The largest size of the font in which the text fits.
float fitting(const ImFont& font, const std::string& text, float width, float height) {
    const ImVec2 whole = font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, text.c_str());
    return font.FontSize * std::min({1.6F, width / std::max(whole.x, 1.0F), height / font.FontSize});
}

void draw_readout(const Rect& area, const Readout& readout, std::int64_t from_ns, std::int64_t to_ns,
                  const std::string& id) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 low = theme::point(area.x, area.y),
                 high = theme::point(area.x + area.width, area.y + area.height);
    draw.AddRectFilled(low, high, theme::kBar, dp(5));
    draw.AddRectFilled(low, {low.x + dp(5), high.y}, readout.color, dp(5), ImDrawFlags_RoundCornersLeft);
    const ImFont& name = *theme::fonts().bold;
    const ImFont& large = *theme::fonts().large;
    const ImFont& huge = *theme::fonts().huge;
    const float left = low.x + dp(14), room = static_cast<float>(area.width) - dp(24);
    const auto tall = static_cast<float>(area.height);
    const float top = low.y + dp(5);
    draw.PushClipRect(low, high, true);
    const float change = large.CalcTextSizeA(large.FontSize, FLT_MAX, 0, readout.change.c_str()).x;
    draw.AddText(&name, name.FontSize, {left, top}, theme::kText,
                 fitted(name, readout.name, room - change - dp(8)).c_str());
    draw.AddText(&large, large.FontSize, {high.x - dp(10) - change, top}, theme::kText,
                 readout.change.c_str());
    const float head = theme::fonts().large->FontSize + dp(8);
    const float unit_room =
        readout.unit.empty()
            ? 0
            : large.CalcTextSizeA(large.FontSize, FLT_MAX, 0, readout.unit.c_str()).x + dp(8);
    const float value_tall = std::min((tall - head) * 0.62F, dp(104));
    const float size = fitting(huge, readout.value, std::max(dp(20), room - unit_room), value_tall);
    const float wide = huge.CalcTextSizeA(size, FLT_MAX, 0, readout.value.c_str()).x;
    draw.AddText(&huge, size, {left, top + head}, theme::kText, readout.value.c_str());
    draw.AddText(&large, large.FontSize, {left + wide + dp(8), top + head + size * 0.92F - large.FontSize},
                 theme::kText, readout.unit.c_str());
    const double line = static_cast<double>(top + head + size + dp(3));
    sparkline({area.x + dp(14), line, static_cast<double>(room), area.y + area.height - line - dp(5)},
              readout.curve, from_ns, to_ns, readout.color);
    draw.PopClipRect();
    probe::value("readout.value." + id, readout.value);
    probe::value("readout.unit." + id, readout.unit);
    probe::value("readout.change." + id, readout.change);
    probe::value("readout.samples." + id, static_cast<double>(readout.curve.size()));
    probe::widget("readout." + id, area.x, area.y, area.width, area.height);
}

bool finger_button(const char* id, const std::string& text, float height, ImU32 color = theme::kField,
                   ImU32 letters = theme::kText) {
    ImGui::PushStyleColor(ImGuiCol_Button, color);
    ImGui::PushStyleColor(ImGuiCol_Text, letters);
    const float width = std::max(height, ImGui::CalcTextSize(text.c_str()).x + dp(24));
    const bool pressed = ImGui::Button(text.c_str(), {width, height});
    ImGui::PopStyleColor(2);
    probe::item(id);
    return pressed;
}

} // namespace

MonitorLayout monitor_layout(double width, double height, double bar, double color_bar) {
    MonitorLayout l;
    l.portrait = height > width;
    bar = std::min(bar, 0.3 * height);
    l.bar = {0, 0, width, bar};
    const double below = height - bar;
    double spare = width * below - kLeastCanvas * width * height; // area that the picture does not need
    if (color_bar * below > spare * 0.5)
        color_bar = 0;
    spare -= color_bar * below;
    double w = width - color_bar, h = below;
    if (l.portrait) {
        const double tall = std::min(0.36 * height, spare / width);
        h -= tall;
        l.readouts = {0, bar + h, width, tall};
    } else {
        const double wide = std::min(0.3 * width, spare / below);
        w -= wide;
        l.readouts = {w + color_bar, bar, wide, below};
    }
    l.canvas = {0, bar, w, h};
    l.color_bar = {w, bar, color_bar, h};
    return l;
}

bool Monitor::allows(Action action) {
    constexpr std::array kAllowed = {
        Action::acknowledge,  Action::messages,   Action::quit,     Action::full_screen, Action::larger_text,
        Action::smaller_text, Action::zoom_in,    Action::zoom_out, Action::fit,         Action::one_to_one,
        Action::keys,         Action::statistics, Action::controls};
    return std::find(kAllowed.begin(), kAllowed.end(), action) != kAllowed.end();
}

void Monitor::refuse() { refused_ = SteadyClock::now(); }

float Monitor::bar_height() { return dp(kFinger + 12); }

void Monitor::update(Session& session, bool has_result, std::uint64_t generation) {
    const bool on = session.view().monitor;
    if (on && !on_)
        unlocked_ = settled_ = held_ = false;
    on_ = on;
    if (!on)
        return;
    const auto now = SteadyClock::now();
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseDown[0] || ImGui::IsAnyItemActive())
        touched_ = now;
    if (unlocked_ && now - touched_ > kRelock)
        unlocked_ = false;
    settle_range(session, has_result, generation);
    probe::value("monitor.locked", locked() ? 1.0 : 0.0);
}

void Monitor::settle_range(Session& session, bool has_result, std::uint64_t generation) {
    const auto now = SteadyClock::now();
    if (std::exchange(generation_, generation) != generation || !has_result) {
        first_frame_.reset();
        settled_ = false;
    }
    if (!has_result || !session.pipeline() || !session.pipeline()->status().source.live)
        return;
    if (!first_frame_)
        first_frame_ = now;
    Mapping& mapping = session.view().mapping;
    if (settled_ || now - *first_frame_ < kSettle)
        return;
    settled_ = true;
    if (!mapping.automatic)
        return;
    mapping.automatic = false;
    session.range_released();
    session.say(Message::Level::info,
                "The range of colours is fixed now, so that colours mean the same over time.");
}

void Monitor::lock_button(float width, float height) {
    // Both labels belong to one item, so that it keeps the keyboard focus.
    const std::string text = std::string(unlocked_ ? "Lock" : "Hold to unlock") + "###lock";
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const auto now = SteadyClock::now();
    const bool pressed = ImGui::Button(text.c_str(), {width, height});
    probe::item("monitor.lock");
    if (!unlocked_ && now - refused_ < kShown)
        ImGui::GetWindowDrawList()->AddRect(at, {at.x + width, at.y + height}, theme::kWarning, dp(4), 0,
                                            dp(3));
    const bool active = ImGui::IsItemActive();
    if (unlocked_) {
        if (held_) // the press that unlocked continues, and its release must not lock
            held_ = active;
        else
            unlocked_ = !pressed;
        return;
    }
    if (active && !std::exchange(held_, active))
        hold_began_ = now;
    held_ = active;
    if (!active)
        return;
    const float part = std::chrono::duration<float>(now - hold_began_) / kHold;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + height - dp(6)},
                                              {at.x + width * std::min(part, 1.0F), at.y + height},
                                              theme::kAccent, dp(3));
    if (part < 1)
        return;
    unlocked_ = true;
    touched_ = now;
}

MonitorAsk Monitor::draw_bar(const Rect& area, const Session& session) {
    ImGui::SetNextWindowPos(theme::point(area.x, area.y));
    ImGui::SetNextWindowSize(theme::point(area.width, area.height));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {dp(8), dp(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::vec(theme::kPanel));
    ImGui::Begin(parts::kTools, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    const float height = static_cast<float>(area.height) - dp(12), gap = dp(6);
    MonitorAsk ask = MonitorAsk::nothing;
    lock_button(ImGui::CalcTextSize("Hold to unlock").x + dp(28), height);
    struct Button {
        const char* id;
        std::string text;
        MonitorAsk ask;
        ImU32 color = theme::kField, letters = theme::kText;
        bool when_locked = false;
    };
    const bool automatic = session.settings().view.as<ViewSettings>().mapping.automatic;
    const bool recording = !session.recordings.running().empty();
    const std::array<Button, 6> buttons = {{
        {"monitor.messages", "Messages", MonitorAsk::messages, theme::kField, theme::kText, true},
        {"monitor.range", automatic ? "Range: automatic" : "Range: fixed", MonitorAsk::range,
         automatic ? theme::kDarkPalette.warning : theme::kField, automatic ? kOnWarning : theme::kText},
        {"monitor.record", recording ? "Stop" : "Record", MonitorAsk::record,
         recording ? theme::kRecord : theme::kField, recording ? IM_COL32_WHITE : theme::kText},
        {"monitor.snapshot", "Snapshot", MonitorAsk::snapshot},
        {"monitor.event", "Mark", MonitorAsk::event},
        {"monitor.leave", "Leave", MonitorAsk::leave},
    }};
    for (const Button& button : buttons) {
        const bool shown = button.when_locked || unlocked_ || (automatic && button.ask == MonitorAsk::range);
        const float width = ImGui::CalcTextSize(button.text.c_str()).x + dp(24);
        const float right = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + gap + width;
        if (!shown || right > static_cast<float>(area.width) - dp(8))
            continue;
        ImGui::SameLine(0, gap);
        const bool pressed = finger_button(button.id, button.text, height, button.color, button.letters);
        if (pressed && (button.when_locked || unlocked_))
            ask = button.ask;
    }
    if (session.pipeline()) {
        const float left = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + dp(14);
        const float room = static_cast<float>(area.width) - left - dp(12);
        const std::string name =
            fitted_name(*ImGui::GetFont(), session.pipeline()->status().source.name, room);
        if (room > dp(60)) {
            ImGui::SameLine(left);
            ImGui::SetCursorPosY((static_cast<float>(area.height) - ImGui::GetTextLineHeight()) / 2 -
                                 ImGui::GetStyle().FramePadding.y); // which the buttons of the line add
            ImGui::TextUnformatted(name.c_str());
        }
    }
    ImGui::End();
    return ask;
}

void Monitor::draw_readouts(const MonitorLayout& layout, Session& session) {
    const Rect& area = layout.readouts;
    if (area.width < 1 || area.height < 1)
        return;
    ImGui::SetNextWindowPos(theme::point(area.x, area.y));
    ImGui::SetNextWindowSize(theme::point(area.width, area.height));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::vec(theme::kPanel));
    ImGui::Begin("##readouts", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    const auto now = SteadyClock::now();
    const bool stale = session.freshness().stale;
    if (now - read_ > kRead || std::exchange(stale_, stale) != stale) { // to be read, not to flicker
        shown_ = readouts_of(session, from_ns_, to_ns_);
        read_ = now;
    }
    const std::vector<Readout>& all = shown_;
    probe::value("readouts", static_cast<double>(all.size()));
    const double gap = dp(6);
    if (all.empty())
        ImGui::GetWindowDrawList()->AddText(
            theme::point(area.x + dp(12), area.y + dp(12)), theme::kText,
            wrapped(*ImGui::GetFont(), "Unlock and draw up to four regions: their values are shown here.",
                    static_cast<float>(area.width) - dp(24))
                .c_str());
    const std::size_t columns = layout.portrait && all.size() > 1 ? 2 : 1;
    const std::size_t rows = (all.size() + columns - 1) / std::max<std::size_t>(columns, 1);
    const double wide = (area.width - gap * static_cast<double>(columns + 1)) / static_cast<double>(columns);
    const double tall = std::min((area.height - gap * static_cast<double>(rows + 1)) /
                                     static_cast<double>(std::max<std::size_t>(rows, 1)),
                                 static_cast<double>(dp(360)));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double x = area.x + gap + static_cast<double>(i % columns) * (wide + gap);
        const std::size_t row = i / columns;
        const double y = area.y + gap + static_cast<double>(row) * (tall + gap);
        draw_readout({x, y, wide, tall}, all[i], from_ns_, to_ns_, std::to_string(i));
    }
    ImGui::End();
}

} // namespace specklescope
