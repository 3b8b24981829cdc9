// Initialisation of GStreamer.
#pragma once

namespace specklescope {

/// Once per process; any thread. Redirects GLib's warnings and criticals from the terminal to our log, where
/// --verbose shows them without the secrets of sources. Throws RunError with GStreamer's reason, also in a
/// process forked from one that has called it, where GStreamer would hang.
void init_gstreamer();
/// For a library, which leaves GLib's log to its program. Call before the first init_gstreamer().
void leave_glib_log();

} // namespace specklescope
