// ZeroMQ sockets: waiting, limits for clients, and who may connect with CURVE. Internal to net/.
#pragma once

#include "net/address.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include <zmq.hpp>

namespace specklescope {

/// True if the socket has a message; waits at most `most`. A signal ends the wait early.
inline bool readable(zmq::socket_t& socket, std::chrono::milliseconds most) {
    zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    const int count = zmq_poll(&item, 1, static_cast<long>(most.count()));
    if (count < 0 && zmq_errno() != EINTR)
        throw zmq::error_t();
    return count > 0;
}

/// ZeroMQ closes a connection without a handshake after 5 s. It pings its clients every 10 s and closes a
/// connection that has not answered for 30 s, so that the queue of a dead machine is freed.
inline void end_silent_connections(zmq::socket_t& socket) {
    socket.set(zmq::sockopt::handshake_ivl, 5'000); // in ms, like the values below
    socket.set(zmq::sockopt::heartbeat_ivl, 10'000);
    socket.set(zmq::sockopt::heartbeat_timeout, 30'000);
}

/// Answers ZeroMQ's requests (ZAP, RFC 27) about allowed clients, on its own thread. Must be created before
/// the sockets of its context and outlive them.
class CurveGuard {
public:
    /// Null keys: every client is allowed.
    CurveGuard(zmq::context_t& context, std::shared_ptr<const CurveKeys> keys);
    ~CurveGuard();
    CurveGuard(const CurveGuard&) = delete;
    CurveGuard& operator=(const CurveGuard&) = delete;

    /// Called before bind().
    void guard(zmq::socket_t& socket) const;
    explicit operator bool() const { return keys_ != nullptr; }

private:
    void run();
    void answer_one();
    const std::shared_ptr<const CurveKeys> keys_;
    zmq::socket_t asked_;
    std::atomic<bool> closing_{false};
    std::thread thread_;
};

} // namespace specklescope
