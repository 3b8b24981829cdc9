#include "ui/panels/overlay.hpp"

#include "config/numbers.hpp"
#include "ui/actions/key_words.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/film.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

using theme::dp;

std::string format(const char* pattern, auto... values) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

struct Row {
    std::string label, value;
    ImU32 color = theme::kText;
};

std::string milliseconds(double ms) {
    return ms < 9.995 ? format("%.2f ms", ms) : ms < 99.95 ? format("%.1f ms", ms) : format("%.0f ms", ms);
}

void drop_rows(std::vector<Row>& rows, const DropCounts& drops) {
    if (drops.total() == 0) {
        rows.push_back({"Dropped", "0", theme::kGood});
        return;
    }
    const auto row = [&](const char* label, std::uint64_t count) {
        if (count)
            rows.push_back({label, count_text(count), theme::kWarning});
    };
    row("Dropped: source", drops.source);
    row("Dropped: no slot", drops.ring);
    row("Dropped: failed", drops.failed);
    row("Dropped: recorder", drops.recorder);
}

/// Adds each step with its time, followed by the stage's note.
void stage_rows(std::vector<Row>& rows, const StatsSnapshot& s) {
    std::string shown;
    for (const StageStat& stage : s.stages) {
        shown += (shown.empty() ? "" : " ") + stage.name + (stage.note.empty() ? "" : "=" + stage.note);
        rows.push_back({stage.name, milliseconds(stage.last_ms)});
        if (!stage.note.empty())
            rows.push_back({"", stage.note, theme::kDim});
    }
    probe::value("overlay.stages", shown);
}

std::vector<Row> statistic_rows(const StatsSnapshot& s, const Display& display, const std::string& renderer,
                                bool compact) {
    std::vector<Row> rows;
    rows.push_back({"Acquisition", format("%.1f /s", s.rate.acquisition)});
    rows.push_back({"Processing", format("%.1f /s", s.rate.processing)});
    rows.push_back({"Display", format("%.1f /s", s.rate.display)});
    rows.push_back({"Latency median", milliseconds(s.latency.median_ms)});
    rows.push_back({"95 % · 99 %", milliseconds(s.latency.p95_ms) + " · " + milliseconds(s.latency.p99_ms)});
    if (s.to_screen.count > 0)
        rows.push_back({"To screen",
                        milliseconds(s.to_screen.median_ms) + " · 99 % " + milliseconds(s.to_screen.p99_ms)});
    drop_rows(rows, s.drops);
    if (!s.newest.warmup.done())
        rows.push_back({"Warming up", to_string(s.newest.warmup), theme::kWarning});
    if (compact) {
        rows.push_back({"Display path", s.backend.name + " · " + display.path()});
        return rows;
    }
    rows.push_back({"Queue", format("%d, peak %d of %d", s.queue.depth, s.queue.peak, s.queue.slots)});
    if (s.frames.settling > 0)
        rows.push_back({"Settling", count_text(s.frames.settling)});
    if (s.transfer.in_place > 0)
        rows.push_back({"Without a copy", count_text(s.transfer.in_place)});
    if (!s.transfer.copied.empty()) {
        rows.push_back({"Copied once", count_text(s.transfer.copies())});
        rows.push_back({"", s.transfer.copied.back().why, theme::kDim});
    }
    rows.push_back({"", ""});
    stage_rows(rows, s);
    rows.push_back({"", ""});
    rows.push_back({"Backend", s.backend.name + (s.backend.device.empty() ? "" : " · " + s.backend.device)});
    rows.push_back({"Display path", display.path()});
    if (!display.reason().empty())
        rows.push_back({"", display.reason(), theme::kWarning});
    rows.push_back({"OpenGL", renderer, theme::kDim});
    if (!s.backend.note.empty())
        rows.push_back({"Note", s.backend.note, theme::kWarning});
    const auto pixels = [&](const char* label, std::uint64_t count, ImU32 color) {
        if (count)
            rows.push_back({label, count_text(count) + " px", color});
    };
    pixels("Undefined", s.counts.last.undefined, theme::kWarning);
    pixels("Infinite", s.counts.last.infinite, theme::kWarning);
    pixels("Saturated windows", s.counts.last.saturated, theme::kError);
    if (s.counts.last.raw_saturated > 0)
        rows.push_back(
            {"Saturated", share_text(saturated_share(s.counts.last)) + " of the frame", theme::kError});
    if (s.newest.exposure.known())
        rows.push_back(
            {"Exposure", to_string(s.newest.exposure),
             s.newest.exposure.origin == ExposureOrigin::assumed ? theme::kWarning : theme::kText});
    if (s.newest.assumed.any())
        rows.push_back({"Assumed", to_string(s.newest.assumed), theme::kWarning});
    return rows;
}

/// Shortens to fit: omits the disk space first, then the file size.
std::string record_text(const Recording& recording, const SinkStatus& status, double seconds, float room) {
    const std::string head = !recording.kind->frames ? "CSV  "
                             : recording.kind->frames == RecordWhat::processed
                                 ? "REC  "
                                 : "REC " + recording.kind->what() + "  ";
    const std::string gap = "  ·  ", bytes = size_text(status.bytes),
                      frames = brief_count_text(status.written, "frame");
    const std::string disk = std::isnan(status.disk_left_s) ? "" : gap + room_text(status.disk_left_s);
    std::string time = head + clock_text(seconds);
    for (std::string text :
         {time + gap + bytes + gap + frames + disk, time + gap + bytes + gap + frames, time + gap + frames})
        if (ImGui::CalcTextSize(text.c_str()).x <= room)
            return text;
    return time;
}

} // namespace

std::string progress_text(const Recording& recording, bool whole) {
    const SinkStatus status = recording.sink->status();
    const std::string time =
        clock_text(std::chrono::duration<double>(SteadyClock::now() - recording.since).count());
    return whole ? time + " · " + size_text(status.bytes) + " · " + brief_count_text(status.written, "frame")
                 : time;
}

namespace {

/// Position at the middle of the upper edge of `area`: right of `taken`, or below it if there is no space.
ImVec2 mark_place(const Rect& area, const ImVec2& size, const Rect& taken) {
    const float left = static_cast<float>(area.x) + dp(12), top = static_cast<float>(area.y) + dp(12);
    const float right = static_cast<float>(area.x + area.width) - size.x;
    const float middle =
        std::clamp(static_cast<float>(area.x + area.width / 2) - size.x / 2, left, std::max(left, right));
    const float beside = static_cast<float>(taken.x + taken.width) + dp(12);
    if (taken.width <= 0 || middle >= beside || taken.y >= top + size.y || taken.y + taken.height <= top)
        return {middle, top};
    if (beside <= right)
        return {beside, top};
    return {middle, static_cast<float>(taken.y + taken.height) + dp(8)};
}

} // namespace

ImU32 level_color(Message::Level level) {
    return level == Message::Level::error     ? theme::kError
           : level == Message::Level::warning ? theme::kWarning
                                              : theme::kAccent;
}

Rect draw_statistics(const Rect& canvas, const StatsSnapshot& stats, const Display& display,
                     const std::string& renderer) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    ImGui::PushFont(theme::fonts().small);
    const float line = ImGui::GetTextLineHeight() * 1.28F, label = dp(112), gap = dp(7);
    const float room = std::min(dp(330), static_cast<float>(canvas.width) - dp(24));
    float full = 0, wrap = 0, height = 0;
    const auto row_height = [&](const Row& row) {
        if (row.label.empty() && row.value.empty())
            return gap;
        return line - ImGui::GetTextLineHeight() +
               ImGui::CalcTextSize(row.value.c_str(), nullptr, false, wrap).y;
    };
    std::vector<Row> rows;
    for (bool compact = canvas.width < dp(520); rows.empty(); compact = true) {
        rows = statistic_rows(stats, display, renderer, compact);
        float width = 0;
        for (const Row& row : rows)
            width = std::max(width, ImGui::CalcTextSize(row.value.c_str()).x);
        full = std::min(room, label + width + dp(26));
        wrap = full - label - dp(24);
        for (Row& row : rows)
            row.value = wrapped(*theme::fonts().small, row.value, wrap);
        height = dp(16);
        for (const Row& row : rows)
            height += row_height(row);
        if (!compact && height > static_cast<float>(canvas.height) - dp(24))
            rows.clear(); // the lower rows would be invisible
    }
    const ImVec2 low = theme::point(canvas.x + dp(12), canvas.y + dp(12));
    draw.AddRectFilled(low, {low.x + full, low.y + height}, theme::kOverlay, dp(6));
    probe::widget("overlay", low.x, low.y, full, height);
    float y = low.y + dp(8);
    for (const Row& row : rows) {
        if (row.label.empty() && row.value.empty()) {
            draw.AddLine({low.x + dp(12), y + gap / 2}, {low.x + full - dp(12), y + gap / 2},
                         theme::fade(theme::kText, 0.11F));
            y += gap;
            continue;
        }
        ImFont& font = *theme::fonts().small;
        draw.AddText({low.x + dp(12), y}, theme::kDim, row.label.c_str());
        draw.AddText(&font, font.FontSize, {low.x + dp(12) + label, y}, row.color, row.value.c_str(), nullptr,
                     wrap);
        y += row_height(row);
    }
    ImGui::PopFont();
    return {low.x, low.y, full, height};
}

void draw_warmup(const Rect& area, const Result& result, const Rect& taken) {
    const Warmup& warmup = result.warmup;
    const bool recorded = warmup.done() && result.warming_up();
    const std::string text = recorded ? "recorded while warming up" : to_string(warmup);
    probe::value("warmup", text);
    if (text.empty())
        return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    // Use the width of the final count, so that the box does not move.
    const std::string widest =
        recorded ? text : to_string(Warmup{warmup.stage, warmup.wanted - 1, warmup.wanted});
    const float width = ImGui::CalcTextSize(widest.c_str()).x + dp(32);
    const float height = extent.y + dp(16);
    const ImVec2 low = mark_place(area, {width, height}, taken);
    const ImVec2 high(low.x + width, low.y + height);
    draw.AddRectFilled(low, high, theme::kOverlay, height / 2);
    draw.AddText({low.x + (width - extent.x) / 2, low.y + dp(6)}, theme::kText, text.c_str());
    const float x0 = low.x + dp(16), x1 = high.x - dp(16), y0 = high.y - dp(6), y1 = y0 + dp(2.5F);
    probe::widget("warmup", low.x, low.y, width, height);
    area_tooltip(low, high, "A stage has not seen as many frames as it averages: the result is still noisy.");
    if (recorded)
        return;
    const float part = static_cast<float>(warmup.frames) / static_cast<float>(warmup.wanted);
    draw.AddRectFilled({x0, y0}, {x1, y1}, theme::fade(theme::kText, 0.16F), dp(1.25F));
    draw.AddRectFilled({x0, y0}, {x0 + (x1 - x0) * part, y1}, theme::kAccent, dp(1.25F));
}

namespace {

void draw_age(const Rect& area, double seconds) {
    ImFont& small = *theme::fonts().large;
    ImFont& large = *theme::fonts().huge;
    const std::string label = "No frames for", age = age_text(seconds);
    const float most = static_cast<float>(std::min(area.width, area.height)) - dp(24);
    float size = large.FontSize;
    const ImVec2 whole = large.CalcTextSizeA(size, FLT_MAX, 0, age.c_str());
    size *= std::clamp(most / (whole.x + dp(48)), 0.3F, 1.0F);
    const ImVec2 digits = large.CalcTextSizeA(size, FLT_MAX, 0, age.c_str());
    const ImVec2 above = small.CalcTextSizeA(small.FontSize, FLT_MAX, 0, label.c_str());
    const float width = std::max(digits.x, above.x) + dp(48), height = digits.y + above.y + dp(28);
    const ImVec2 middle = theme::point(area.x + area.width / 2, area.y + area.height / 2);
    const ImVec2 low(middle.x - width / 2, middle.y - height / 2);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, {low.x + width, low.y + height}, theme::kOverlay, dp(8));
    draw.AddText(&small, small.FontSize, {middle.x - above.x / 2, low.y + dp(12)}, theme::kText,
                 label.c_str());
    draw.AddText(&large, size, {middle.x - digits.x / 2, low.y + dp(14) + above.y}, theme::kWarning,
                 age.c_str());
    probe::widget("stale", low.x, low.y, width, height);
}

} // namespace

void draw_grey_notice(const Rect& area, const std::string& why, const Freshness& freshness) {
    probe::value("grey", why);
    probe::value("stale", freshness.stale ? freshness.age_s : NAN);
    if (why.empty())
        return;
    if (freshness.stale)
        return draw_age(area, freshness.age_s);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float most = static_cast<float>(area.width) - dp(48);
    const std::string text = wrapped(*ImGui::GetFont(), why, most);
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str(), nullptr, false, most);
    const float width = extent.x + dp(28), height = extent.y + dp(16);
    const ImVec2 low(static_cast<float>(area.x + area.width / 2) - width / 2,
                     static_cast<float>(area.y + area.height * 0.3) - height / 2);
    draw.AddRectFilled(low, {low.x + width, low.y + height}, theme::kOverlay, dp(6));
    draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {low.x + dp(14), low.y + dp(8)}, theme::kWarning,
                 text.c_str(), nullptr, most);
    probe::widget("grey", low.x, low.y, width, height);
}

bool draw_toasts(const Rect& canvas, const std::deque<Note>& notes, float above) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto now = SteadyClock::now();
    const float width = std::min(dp(380), static_cast<float>(canvas.width) - dp(24));
    float bottom = static_cast<float>(canvas.y + canvas.height) - dp(12) - above;
    bool fading = false;
    int shown = 0;
    for (auto note = notes.rbegin(); note != notes.rend() && shown < 5; ++note) {
        const double age = std::chrono::duration<double>(now - note->when).count();
        const double life = note->level == Message::Level::error     ? 12
                            : note->level == Message::Level::warning ? 8
                                                                     : 4;
        if (age > life || note->alarm)
            continue;
        fading = fading || life - age < 0.6;
        const float alpha = static_cast<float>(std::clamp((life - age) / 0.5, 0.0, 1.0));
        const std::string text = wrapped(*ImGui::GetFont(), note->text, width - dp(32));
        const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, width - dp(32));
        const ImVec2 low(static_cast<float>(canvas.x + canvas.width) - dp(12) - width,
                         bottom - size.y - dp(18));
        draw.AddRectFilled(low, {low.x + width, bottom}, theme::fade(theme::kOverlay, alpha), dp(6));
        draw.AddRectFilled(low, {low.x + dp(4), bottom}, theme::fade(level_color(note->level), alpha), dp(6),
                           ImDrawFlags_RoundCornersLeft);
        draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {low.x + dp(18), low.y + dp(9)},
                     theme::fade(theme::kText, alpha), text.c_str(), nullptr, width - dp(32));
        bottom = low.y - dp(8);
        ++shown;
    }
    return fading;
}

std::vector<Rect> draw_record_marks(const Rect& canvas, const std::vector<Recording>& recordings) {
    std::vector<Rect> places;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto now = SteadyClock::now();
    float y = static_cast<float>(canvas.y + canvas.height) - dp(12);
    for (const Recording& recording : recordings) {
        const SinkStatus status = recording.sink->status();
        const double seconds = std::chrono::duration<double>(now - recording.since).count();
        const std::string lost = status.dropped ? "  " + count_text(status.dropped) + " dropped" : "";
        const float room = static_cast<float>(canvas.width) - dp(70) - ImGui::CalcTextSize(lost.c_str()).x;
        const std::string text = record_text(recording, status, seconds, room);
        const ImVec2 size = ImGui::CalcTextSize((text + lost).c_str());
        const ImVec2 low(static_cast<float>(canvas.x) + dp(12), y - size.y - dp(14));
        const ImVec2 high(low.x + size.x + dp(46), y);
        draw.AddRectFilled(low, high, theme::kOverlay, dp(6));
        const bool lit = std::fmod(seconds, 1.2) < 0.8;
        draw.AddCircleFilled({low.x + dp(17), (low.y + high.y) / 2}, dp(6),
                             lit ? theme::kRecord : theme::fade(theme::kRecord, 0.45F));
        draw.AddText({low.x + dp(32), low.y + dp(7)}, theme::kText, text.c_str());
        draw.AddText({low.x + dp(32) + ImGui::CalcTextSize(text.c_str()).x, low.y + dp(7)}, theme::kWarning,
                     lost.c_str());
        places.push_back({low.x, low.y, high.x - low.x, high.y - low.y});
        area_tooltip(low, high,
                     status.path.empty() ? "Waits for the first frame." : "Records to " + status.path);
        y = low.y - dp(6);
    }
    return places;
}

namespace {

using theme::dp;

std::string opens(const KeyBindings& keys, const char* what) {
    return key_words(" Press ", key_of(keys, Action::open), what);
}

/// Text such as "Space resumes, ← and → step one frame."
std::string paused_text(const Session& session, const SourceInfo& source) {
    const KeyBindings& keys = session.settings().keys;
    const std::string on = key_words("", key_of(keys, Action::pause), " resumes");
    if (source.live)
        return "The source runs on" + (on.empty() ? "" : "; " + on) + ".";
    const bool region = session.regions.selected().has_value();
    const std::string back = source.seekable ? key_of(keys, Action::step_back, region) : "",
                      step = key_of(keys, Action::step, region);
    const std::string steps = back.empty() || step.empty() ? key_words("", back + step, " steps one frame")
                                                           : back + " and " + step + " step one frame";
    const std::string both = on + (on.empty() || steps.empty() ? "" : ", ") + steps;
    return both.empty() ? both : both + ".";
}

std::string ended_text(const KeyBindings& keys) {
    const std::string again = key_words("", key_of(keys, Action::pause), " plays it again"),
                      other = key_words("", key_of(keys, Action::open), " opens another");
    const std::string both = again + (again.empty() || other.empty() ? "" : ", ") + other;
    return both.empty() ? both : both + ".";
}

} // namespace

Banner banner_of(const Session& session) {
    const KeyBindings& keys = session.settings().keys;
    if (const auto& waiting = session.waiting())
        return {"Waiting for " + session.settings().source.shown(),
                waiting->reason + " It is tried again every 2 s." + opens(keys, " to open another source."),
                theme::kAccent};
    if (session.opening())
        return {"Opening " +
                    (session.opening_text().empty() ? "the simulated scene" : session.opening_text()) + " …",
                session.opening_work(), theme::kAccent};
    if (!session.pipeline())
        return {"No source",
                "Drop a file on the window" +
                    key_words(", or press ", key_of(keys, Action::open), " to open one") + ".",
                theme::kAccent};
    if (!session.compared().empty())
        return {"Before: " + session.compared(),
                "Same range and controls as now. " + with_key("Compare again", keys, Action::compare) +
                    " to return.",
                theme::kWarning};
    const PipelineStatus status = session.pipeline()->status();
    if (!session.pipeline()->started())
        return {"Stopped", status.source.name + " is closed." + opens(keys, " to open it again, or another."),
                theme::kError};
    const bool transport = is_film(session) && !session.settings().view.as<ViewSettings>().monitor;
    switch (status.state) {
    case RunState::failed:
        return {"Stopped", status.message + opens(keys, " to open another source."), theme::kError};
    case RunState::ended:
        return {"End of " + status.source.name, status.message.empty() ? ended_text(keys) : status.message,
                theme::kAccent, !transport || !status.message.empty()};
    case RunState::paused:
        return {"Paused", paused_text(session, status.source), theme::kAccent, !transport};
    case RunState::idle:
    case RunState::reconnecting: // an alarm
    case RunState::running:
        break;
    }
    return {};
}

float draw_banner(const Rect& canvas, const Session& session, const std::vector<Rect>& taken) {
    Banner banner = banner_of(session);
    probe::value("banner", banner.title);
    if (banner.title.empty() || !banner.drawn)
        return 0;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float wrap = static_cast<float>(canvas.width) * 0.7F;
    ImFont& bold = *theme::fonts().bold;
    banner.text = wrapped(*ImGui::GetFont(), banner.text, wrap);
    const ImVec2 title = bold.CalcTextSizeA(bold.FontSize, FLT_MAX, wrap, banner.title.c_str());
    const ImVec2 text =
        banner.text.empty() ? ImVec2() : ImGui::CalcTextSize(banner.text.c_str(), nullptr, false, wrap);
    const float width = std::max(title.x, text.x) + dp(36);
    const float height = title.y + (banner.text.empty() ? 0 : text.y + dp(4)) + dp(20);
    ImVec2 low(static_cast<float>(canvas.x + (canvas.width - width) / 2),
               static_cast<float>(canvas.y + canvas.height - height) - dp(20));
    std::vector<Rect> below = taken; // from the lowest up
    std::sort(below.begin(), below.end(), [](const Rect& a, const Rect& b) { return a.y > b.y; });
    for (const Rect& other : below)
        if (other.x < low.x + width + dp(8) && low.x - dp(8) < other.x + other.width &&
            other.y < low.y + height && low.y < other.y + other.height)
            low.y = static_cast<float>(other.y) - dp(8) - height;
    low.y = std::max(low.y, static_cast<float>(canvas.y) + dp(4)); // show the first line in a low picture
    probe::widget("banner", low.x, low.y, width, height);
    draw.AddRectFilled(low, {low.x + width, low.y + height}, theme::kOverlay, dp(7));
    draw.AddRectFilled(low, {low.x + dp(4), low.y + height}, banner.color, dp(7),
                       ImDrawFlags_RoundCornersLeft);
    draw.AddText(&bold, bold.FontSize, {low.x + dp(18), low.y + dp(10)}, theme::kText, banner.title.c_str(),
                 nullptr, wrap);
    if (!banner.text.empty())
        draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {low.x + dp(18), low.y + dp(14) + title.y},
                     theme::kDim, banner.text.c_str(), nullptr, wrap);
    return static_cast<float>(canvas.y + canvas.height) - low.y;
}

} // namespace specklescope
