// Who may stay at an RTSP server: strangers reach it before they are asked for a password.
#pragma once

#include "recording/outlet/outlet.hpp"

#include <gst/rtsp-server/rtsp-server.h>

#include <vector>

namespace specklescope {

/// Of all pictures: those that were given to the encoder, and those that it had no room for.
struct PicturesCounted {
    std::uint64_t taken = 0, dropped = 0;
};

/// Lets in who waits at `listening`. On the server's thread, as what follows where nothing else is said.
void let_in(GstRTSPServer* server, GSocket* listening);
/// From now on it gets what the others get. On the client's thread.
void begins_to_watch(GstRTSPClient* client, const PicturesCounted& now);
/// A few times a second. Of those who stay and watch: `pictures` and `dropped` are what had been counted
/// before they came.
std::vector<OutletClient> judge_clients(GstRTSPServer* server);
/// Ends all connections, and says how many clients have yet to hear of it.
int send_away(GstRTSPServer* server);

} // namespace specklescope
