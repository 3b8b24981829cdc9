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

/// From now on it gets what the others get. On the client's thread.
void begins_to_watch(GstRTSPClient* client, const PicturesCounted& now);
/// A few times a second, on the server's thread. Of those who stay and watch: `pictures` and `dropped` are
/// what had been counted before they came.
std::vector<OutletClient> judge_clients(GstRTSPServer* server);

} // namespace specklescope
