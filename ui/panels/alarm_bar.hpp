// The bar of alarms over the picture, and the list of messages.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/view.hpp"

namespace specklescope {

/// Alarms that are not acknowledged, a line each, at the upper edge of `canvas`. A click acknowledges them;
/// `messages` is set when their list is asked for. Returns the height that it takes.
float draw_alarm_bar(const Rect& canvas, Session& session, bool& messages);

/// Present alarms, and the last messages with their times, newest first; in a dialog while `open`. The arrows
/// scroll it.
void draw_messages(bool* open, const Session& session);

} // namespace specklescope
