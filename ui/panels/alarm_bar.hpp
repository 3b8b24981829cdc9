// The bar of alarms over the picture, and the list of messages.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/view.hpp"

namespace specklescope {

/// Draws the alarms that are not acknowledged, one line each, at the upper edge of `canvas`. A click
/// acknowledges them. Sets `messages` if the user opens the list of messages. Returns the height of the bar.
float draw_alarm_bar(const Rect& canvas, Session& session, bool& messages);

/// Present alarms, and the last messages with their times, newest first; in a dialog while `open`. The arrows
/// scroll it.
void draw_messages(bool* open, const Session& session);

} // namespace specklescope
