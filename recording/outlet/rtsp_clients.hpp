// Who may stay at an RTSP server: strangers reach it before they are asked for a password.
#pragma once

#include <gst/rtsp-server/rtsp-server.h>

namespace specklescope {

/// On the server's thread, when one has come: it is let go where there are as many as may be.
void judge_new_client(GstRTSPServer* server, GstRTSPClient* client);
/// A few times a second, on the server's thread.
void judge_clients(GstRTSPServer* server);

} // namespace specklescope
