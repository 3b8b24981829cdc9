// Whether a socket has a message. Internal to net/.
#pragma once

#include <zmq.hpp>

#include <cerrno>
#include <chrono>

namespace specklescope {

/// Waits at most so long. A signal that comes meanwhile is for somebody else.
inline bool readable(zmq::socket_t& socket, std::chrono::milliseconds most) {
    zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    const int count = zmq_poll(&item, 1, static_cast<long>(most.count()));
    if (count < 0 && zmq_errno() != EINTR)
        throw zmq::error_t();
    return count > 0;
}

} // namespace specklescope
