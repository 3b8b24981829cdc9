// What lies on the picture: rates and losses, state banners, passing messages, keys.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/display.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/panel.hpp"

namespace specklescope {

/// The statistics (F1), top left of the canvas, as many of them as fit; returns where they lie.
Rect draw_statistics(const Rect& canvas, const StatsSnapshot& stats, const Display& display,
                     const std::string& renderer);
/// "temporal 7/25" over a bar, at the top of the picture while a stage fills its history, or that it was
/// recorded so; beside or below what is `taken`.
void draw_warmup(const Rect& area, const Result& result, const Rect& taken);
/// Why the picture is grey, in its upper half; nothing where `why` is empty.
void draw_grey_notice(const Rect& area, const std::string& why);
/// "12 % of the frame is saturated", at the top of the picture where more than the part `most` is; `below`
/// the warm-up.
void draw_saturation(const Rect& area, const PixelCounts& counts, double most, const Rect& taken, bool below);
/// Why the picture stands still: reconnecting, failed, ended, paused, opening; an empty title: it does not.
struct Banner {
    std::string title, text;
    ImU32 color = theme::kWarning;
};
Banner banner_of(const Session& session);
/// Above what is `taken` at the lower edge where it would lie on that. Returns the height that it takes from
/// the lower edge, 0 without one.
float draw_banner(const Rect& canvas, const Session& session, const std::vector<Rect>& taken);
/// Messages of the last seconds, bottom right of the canvas; true while one is fading (draw again soon).
/// `above`: room left below them.
bool draw_toasts(const Rect& canvas, const std::deque<Note>& notes, float above);
/// "0:12 · 34.1 MB · 301 frames", or only the time.
std::string progress_text(const Recording& recording, bool whole);
/// "● REC 0:12 · 34 MB", bottom left of the canvas, for every running recording; returns where they are.
std::vector<Rect> draw_record_marks(const Rect& canvas, const std::vector<Recording>& recordings);
/// Why recordings failed, until each is acknowledged, bottom left above what is `taken`; returns where it
/// lies.
Rect draw_failed_recordings(const Rect& canvas, Session& session, const std::vector<Rect>& taken);
/// The list of keys (?), as they are now, and the way to what the program is, which may be `about_asked` for.
/// The arrows up and down and the page keys scroll it.
void draw_keys(bool* open, bool about_asked, const KeyBindings& keys);
/// The rows of --version, in a popup "About Specklescope".
void draw_about();
/// The last open that failed, as a dialog with what can be done; Enter and Escape close it.
void draw_open_error(Session& session, const ViewState& state);

ImU32 level_color(Message::Level level);

} // namespace specklescope
