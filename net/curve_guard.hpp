// Who may connect to a socket with CURVE. Internal to net/.
#pragma once

#include "net/curve_keys.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include <zmq.hpp>

namespace specklescope {

/// Answers ZeroMQ's question (ZAP, RFC 27) whether a client is let in, on a thread of its own. Before the
/// sockets of its context, and longer than they.
class CurveGuard {
public:
    /// Null keys: nothing is guarded.
    CurveGuard(zmq::context_t& context, std::shared_ptr<const CurveKeys> keys);
    ~CurveGuard();
    CurveGuard(const CurveGuard&) = delete;
    CurveGuard& operator=(const CurveGuard&) = delete;

    /// Before it is bound.
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
