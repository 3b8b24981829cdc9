// Who may stay at an RTSP server: strangers reach it before they are asked for a password.
#pragma once

#include <gst/rtsp-server/rtsp-server.h>

namespace specklescope {

/// A few times a second, on the server's thread.
void judge_clients(GstRTSPServer* server);

} // namespace specklescope
