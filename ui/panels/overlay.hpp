// Overlays on the picture: rates and losses, state banners, messages, keys.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/display.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/panel.hpp"

namespace specklescope {

/// Draws as many rows of the statistics (F1) as fit, top left of the canvas; returns their area.
Rect draw_statistics(const Rect& canvas, const StatsSnapshot& stats, const Display& display,
                     const std::string& renderer);
/// Draws "temporal 7/25" over a progress bar at the top of the picture while a stage fills its history, or
/// if the file was recorded during this time. Placed right of `taken` or below it.
void draw_warmup(const Rect& area, const Result& result, const Rect& taken);
/// Draws the reason why the picture is grey in its upper half; nothing if `why` is empty. The age of a stale
/// picture is drawn in large digits.
void draw_grey_notice(const Rect& area, const std::string& why, const Freshness& freshness);
/// Reason why the picture does not change: failed, ended, paused, opening, waiting; the title is empty
/// otherwise.
struct Banner {
    std::string title, text;
    ImU32 color = theme::kWarning;
    bool drawn = true; ///< false: the transport bar shows it, and the picture stays free
};
Banner banner_of(const Session& session);
/// Draws the banner at the lower edge, above `taken` if they would overlap. Returns its height from the
/// lower edge, 0 without a banner.
float draw_banner(const Rect& canvas, const Session& session, const std::vector<Rect>& taken);
/// Draws the messages of the last seconds, bottom right of the canvas; true while one is fading (draw again
/// soon). `above`: space to leave below them.
bool draw_toasts(const Rect& canvas, const std::deque<Note>& notes, float above);
/// "0:12 · 34.1 MB · 301 frames", or only the time.
std::string progress_text(const Recording& recording, bool whole);
/// Draws "● REC 0:12 · 34 MB" for every active recording, bottom left of the canvas; returns the areas.
std::vector<Rect> draw_record_marks(const Rect& canvas, const std::vector<Recording>& recordings);
/// Draws the list of the current keys (?), with a button for the about dialog, which `about_asked` opens
/// too. Up, Down and the page keys scroll the list.
void draw_keys(bool* open, bool about_asked, const KeyBindings& keys);
/// Draws the rows of --version, in a popup "About Specklescope".
void draw_about();
/// Asks before the window closes during a recording. True: finish the recording and quit. Enter finishes,
/// Escape continues.
bool draw_leave(const Session& session, ViewState& state);
/// Draws the last open error as a dialog with possible actions; Enter and Escape close it.
void draw_open_error(Session& session, const ViewState& state);

ImU32 level_color(Message::Level level);

} // namespace specklescope
