#include "ui/panels/transport.hpp"

#include "config/numbers.hpp"
#include "ui/actions/control_walk.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/icon_button.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace specklescope {

using theme::dp;

namespace {

constexpr float kRow = 40;          ///< dp
constexpr float kTimeLine = 22;     ///< height of the time line in its own row, dp
constexpr double kOneRowFrom = 640; ///< dp

bool in_one_row(double width) { return width >= dp(static_cast<float>(kOneRowFrom)); }

/// Converts frames to screen positions. The first and the last frame are at the ends.
struct TimeLine {
    float x = 0, y = 0, width = 1;
    double last = 1; ///< frame at the right end

    float at(std::uint64_t frame) const {
        return x + width * static_cast<float>(std::clamp(static_cast<double>(frame) / last, 0.0, 1.0));
    }
    std::uint64_t frame_at(float mouse) const {
        const double part = std::clamp(static_cast<double>((mouse - x) / width), 0.0, 1.0);
        return static_cast<std::uint64_t>(std::lround(part * last));
    }
};

void draw_line(const TimeLine& line, const Film& film, bool length_known, bool hot) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float thick = dp(hot ? 3 : 2);
    const auto bar = [&](float from, float to, ImU32 color) {
        draw.AddRectFilled({from, line.y - thick}, {to, line.y + thick}, color, thick);
    };
    const float right = line.x + line.width;
    bar(line.x, right, theme::fade(theme::kDim, 0.4F));
    if (film.loop || film.in || film.out)
        bar(line.at(film.in.value_or(0)), film.out ? line.at(*film.out) : right,
            film.loop ? theme::kAccentDim : theme::fade(theme::kDim, 0.7F));
    const float here = line.at(film_position(film));
    bar(line.x, here, film.loop ? theme::fade(theme::kAccent, 0.6F) : theme::kAccent);
    if (!length_known) // more frames may exist
        for (int dot = 1; dot <= 3; ++dot)
            draw.AddCircleFilled({right + dp(5) * static_cast<float>(dot), line.y}, dp(1.5F), theme::kDim);
    const auto mark = [&](const std::optional<std::uint64_t>& frame, float way) {
        if (!frame)
            return;
        const float x = line.at(*frame), h = dp(8);
        draw.AddLine({x, line.y - h}, {x, line.y + h}, theme::kText, dp(1.5F));
        draw.AddLine({x, line.y - h}, {x + way * dp(4), line.y - h}, theme::kText, dp(1.5F));
        draw.AddLine({x, line.y + h}, {x + way * dp(4), line.y + h}, theme::kText, dp(1.5F));
    };
    mark(film.in, 1);
    mark(film.out, -1);
    draw.AddCircleFilled({here, line.y}, dp(hot ? 7 : 6), theme::kText);
}

/// Item under the mouse: a mark, unless the knob is as near, or the film's position.
Film::Drag thing_at(const TimeLine& line, const Film& film, float mouse) {
    const auto away = [&](const std::optional<std::uint64_t>& frame) {
        return frame ? std::abs(line.at(*frame) - mouse) : std::numeric_limits<float>::infinity();
    };
    const float in = away(film.in), out = away(film.out);
    if (std::min(in, out) > dp(5) || std::min(in, out) >= away(film_position(film)))
        return Film::Drag::place;
    return in < out ? Film::Drag::in : Film::Drag::out;
}

/// Seeks the film to the mouse and pauses it, or moves the mark up to the other mark.
void drag_line(const TimeLine& line, Session& session, Film& film) {
    Pipeline& pipeline = *session.pipeline();
    const float mouse = ImGui::GetIO().MousePos.x;
    const std::uint64_t wanted = line.frame_at(mouse);
    const bool begins = ImGui::IsItemActivated();
    if (begins) {
        film.dragged = thing_at(line, film, mouse);
        film.resumes = film.dragged == Film::Drag::place && pipeline.status().state == RunState::running;
        if (film.dragged == Film::Drag::place)
            pipeline.pause(true);
    }
    const bool moves = ImGui::IsItemActive();
    if (moves && film.dragged == Film::Drag::place && (begins || wanted != film_position(film)))
        seek_to(session, film, wanted, false);
    if (moves && film.dragged == Film::Drag::in)
        film.in = std::min(wanted, film.out.value_or(wanted));
    if (moves && film.dragged == Film::Drag::out)
        film.out = std::max(wanted, film.in.value_or(wanted));
    if (!ImGui::IsItemDeactivated())
        return;
    const Film::Drag over = std::exchange(film.dragged, Film::Drag::none);
    if (over == Film::Drag::in || over == Film::Drag::out)
        tell_loop(session, film);
    else if (over == Film::Drag::place && film.resumes)
        pipeline.pause(false);
    else if (over == Film::Drag::place)
        seek_to(session, film, film_position(film), true);
}

/// Draws from the cursor on, `width` wide; the cursor's row is `height` high.
void time_line(Session& session, Film& film, IntervalsView& intervals, float width, float height) {
    const std::uint64_t length = film_length(session);
    const float margin = dp(8), beyond = length > 0 ? 0 : dp(18);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("film.line", {std::max(width, dp(30)), height});
    probe::item("film.line");
    probe::explained(); // by its own tooltip below
    focus_ring();
    const TimeLine line{
        .x = low.x + margin,
        .y = low.y + height / 2,
        .width = std::max(dp(14), width - 2 * margin - beyond),
        .last = static_cast<double>(std::max<std::uint64_t>(length > 0 ? length - 1 : film.furthest, 1))};
    const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
    const double rate = session.pipeline()->status().source.rate;
    const PlotArea axis{.inner = {line.x, low.y, line.width, height},
                        .from_ns = 0,
                        .to_ns = std::llround(line.last / (rate > 0 ? rate : 1) * 1e9),
                        .span = {},
                        .timed = rate > 0};
    // The line has the times of the rate, and the intervals those of the frames.
    if (film.uneven || !intervals.mouse(axis, session.intervals, IntervalsView::On::time_line))
        drag_line(line, session, film);
    if (!film.uneven)
        intervals.draw_on_line(axis, line.y, session.intervals);
    draw_line(line, film, length > 0, hot);
    if (hot) {
        const std::uint64_t frame = line.frame_at(ImGui::GetIO().MousePos.x);
        const std::string time = film_time(film, frame, session);
        const Film::Drag thing =
            film.dragged != Film::Drag::none ? film.dragged : thing_at(line, film, ImGui::GetIO().MousePos.x);
        const std::string what = thing == Film::Drag::in    ? "The loop begins at frame "
                                 : thing == Film::Drag::out ? "The loop ends with frame "
                                                            : "Frame ";
        std::string text = what + count_text(frame) + (time.empty() ? "" : "   " + time);
        const std::int64_t at = axis.time(ImGui::GetIO().MousePos.x);
        for (const Interval& interval : session.intervals)
            if (!film.uneven && at >= interval.from_ns && at <= interval.to_ns)
                text += "   " + interval.name;
        tooltip_above();
        ImGui::SetTooltip("%s", text.c_str());
    }
    probe::value("film.line.x", line.x);
    probe::value("film.line.width", line.width);
}

void speed_menu(Session& session) {
    const std::optional<double> speed = film_speed(session);
    probe::value("film.speed", speed.value_or(-1));
    if (!speed)
        return;
    ImGui::SameLine(0, dp(4));
    if (ImGui::Button((speed_text(*speed) + "##speed").c_str(), {dp(52), 0}))
        ImGui::OpenPopup("film.speeds");
    probe::item("film.speed");
    const KeyBindings& keys = session.settings().keys;
    tooltip("Speed: slower" + with_key("", keys, Action::slower) + ", faster" +
            with_key("", keys, Action::faster) + "; max: as fast as frames are processed");
    const ImVec2 button = ImGui::GetItemRectMin();
    ImGui::SetNextWindowPos({button.x, button.y - dp(4)}, ImGuiCond_Always, {0, 1});
    if (!ImGui::BeginPopup("film.speeds"))
        return;
    close_on_escape();
    for (const double choice : kSpeeds) {
        if (ImGui::Selectable(speed_text(choice).c_str(), choice == *speed, 0, {dp(60), 0}))
            session.edit_source("speed", choice);
        probe::item("film.speed." + speed_text(choice));
        tooltip(choice > 0 ? "Play at " + speed_text(choice) + " of the recorded speed."
                           : "Play as fast as frames are processed.");
    }
    ImGui::EndPopup();
}

struct MarkButton {
    const char *id, *text;
    Action action;
    Icon icon;
    std::optional<std::uint64_t> Film::*mark;
    void (*set)(Session&, Film&);
};

void draw_mark_button(const MarkButton& button, Session& session, Film& film) {
    std::optional<std::uint64_t>& mark = film.*button.mark;
    const std::string frame = mark ? "frame " + count_text(*mark) : "this frame";
    const std::string what = with_key(button.text + frame, session.settings().keys, button.action) +
                             (mark ? ". Right click clears the mark." : "");
    if (icon_button(button.id, button.icon, what, mark.has_value()))
        button.set(session, film);
    if (ImGui::IsItemClicked(ImGuiMouseButton_Right) && std::exchange(mark, std::nullopt))
        tell_loop(session, film);
}

void buttons(Session& session, Film& film) {
    const bool ended = has_ended(session);
    const bool stands = ended || session.pipeline()->paused();
    constexpr float kGap = 4, kGroup = 12; // dp
    const auto keyed = [&](const char* text, Action action) {
        return with_key(text, session.settings().keys, action);
    };
    if (icon_button("film.back", Icon::step_back, keyed("One frame back", Action::step_back)))
        step_back(session, film);
    ImGui::SameLine(0, dp(kGap));
    if (icon_button("film.play", stands ? Icon::play : Icon::pause,
                    keyed(ended    ? "Play it again"
                          : stands ? "Resume"
                                   : "Pause",
                          Action::pause)))
        toggle_pause(session, film);
    ImGui::SameLine(0, dp(kGap));
    if (icon_button("film.forward", Icon::step, keyed("One frame forward", Action::step)))
        step_once(session, film);
    ImGui::SameLine(0, dp(kGroup));
    if (icon_button("film.loop", Icon::loop, keyed("Loop, between the marks if there are any", Action::loop),
                    film.loop))
        toggle_loop(session, film);
    ImGui::SameLine(0, dp(kGap));
    draw_mark_button({"film.in", "Loop from ", Action::mark_in, Icon::mark_in, &Film::in, mark_in}, session,
                     film);
    ImGui::SameLine(0, dp(kGap));
    draw_mark_button({"film.out", "Loop to ", Action::mark_out, Icon::mark_out, &Film::out, mark_out},
                     session, film);
    speed_menu(session);
}

/// Current and last frame; 2 parts: with the time; 3 parts: with the time of the last frame.
std::string place_text(const Session& session, const Film& film, int parts) {
    const std::string frames = frames_text(film, session);
    const std::string time = parts > 2   ? times_text(film, session)
                             : parts > 1 ? film_time(film, session)
                                         : "";
    return time.empty() ? frames : frames + "    " + time;
}

void report(const Session& session, const Film& film) {
    if (!probe::enabled())
        return;
    const auto number = [](const std::optional<std::uint64_t>& frame) {
        return frame ? static_cast<double>(*frame) : -1.0;
    };
    probe::value("film.position", number(film.position));
    probe::value("film.length", static_cast<double>(film_length(session)));
    probe::value("film.in", number(film.in));
    probe::value("film.out", number(film.out));
    probe::value("film.loops", film.loop ? 1.0 : 0.0);
    probe::value("film.sought", number(film.sought));
    probe::value("film.state", to_string(session.pipeline()->status().state));
}

} // namespace

double transport_height(const Session& session, double width) {
    return !is_film(session) ? 0 : in_one_row(width) ? dp(kRow) : dp(kRow + kTimeLine);
}

void draw_transport(const Rect& area, Session& session, Film& film, IntervalsView& intervals) {
    if (area.height <= 0)
        return;
    ImGui::SetNextWindowPos({static_cast<float>(area.x), static_cast<float>(area.y)});
    ImGui::SetNextWindowSize({static_cast<float>(area.width), static_cast<float>(area.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {dp(12), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme::vec(theme::kBar));
    const bool open =
        ImGui::Begin(parts::kFilm, nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    if (open) {
        const auto width = static_cast<float>(area.width);
        const float frame = ImGui::GetFrameHeight();
        const bool one_row = in_one_row(area.width);
        if (!one_row) {
            ImGui::SetCursorPos({dp(4), dp(4)});
            time_line(session, film, intervals, width - dp(8), dp(kTimeLine));
        }
        const auto row = static_cast<float>(area.height) - dp(kRow);
        ImGui::SetCursorPos({dp(12), row + (dp(kRow) - frame) / 2});
        buttons(session, film);
        ImGui::SameLine(0, dp(10));
        const float left = ImGui::GetCursorPosX();
        // Use the width at the end, so that the line does not move.
        Film at_end = film;
        at_end.sought = std::max(film_length(session), film.furthest + 1) - 1;
        const float room = width - left - dp(12) - (one_row ? dp(240) : 0);
        const auto widest = [&](int parts) {
            return ImGui::CalcTextSize(place_text(session, at_end, parts).c_str()).x;
        };
        int parts = 3;
        while (parts > 1 && widest(parts) > room)
            --parts;
        const float text = widest(parts);
        if (one_row) {
            time_line(session, film, intervals, width - left - text - dp(26), frame);
            ImGui::SameLine();
        }
        ImGui::SetCursorPosX(std::max(left, width - text - dp(12)));
        ImGui::AlignTextToFramePadding();
        const std::string shown = place_text(session, film, parts);
        ImGui::TextColored(theme::vec(film_is_late(film) ? theme::kDim : theme::kText), "%s", shown.c_str());
        if (film_is_late(film))
            tooltip("The frame is loading");
        else if (film_length(session) == 0)
            tooltip("The number of frames is known at the end");
        else if (film.uneven)
            tooltip("Frames are missing or uneven: these times follow the rate. The traces have the capture "
                    "times.");
        probe::value("film.text", shown);
        report(session, film);
    }
    ImGui::End();
}

} // namespace specklescope
