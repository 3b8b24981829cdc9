// GStreamer's beginning, for all rooms that use it.
#pragma once

namespace specklescope {

/// Once per process; safe from any thread. From then on GLib's warnings and criticals go to our log, where
/// --verbose shows them without the secrets of sources, and not to the terminal. Throws RunError with
/// GStreamer's reason, and in a process that was forked from one that has called it: it stands still there.
void init_gstreamer();
/// A library leaves GLib's log to the program that it is in. Before the first init_gstreamer().
void leave_glib_log();

} // namespace specklescope
