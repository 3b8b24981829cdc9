#include "have_zmq.hpp"

#ifdef SPECKLESCOPE_HAVE_ZMQ

#include "base/log.hpp"
#include "net/curve_guard.hpp"
#include "net/readable.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace specklescope {

CurveGuard::CurveGuard(zmq::context_t& context, std::shared_ptr<const CurveKeys> keys)
    : keys_(std::move(keys)) {
    if (!keys_)
        return;
    asked_ = zmq::socket_t(context, ZMQ_REP);
    asked_.set(zmq::sockopt::linger, 0);
    asked_.bind("inproc://zeromq.zap.01");
    thread_ = std::thread([this] { run(); });
}

CurveGuard::~CurveGuard() {
    closing_ = true;
    if (thread_.joinable())
        thread_.join();
}

void CurveGuard::guard(zmq::socket_t& socket) const {
    if (!keys_)
        return;
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, keys_->secret);
    socket.set(zmq::sockopt::zap_domain, std::string("specklescope"));
}

void CurveGuard::run() {
    try {
        constexpr std::chrono::milliseconds kLook(20); // whether it is over
        while (!closing_) {
            if (readable(asked_, kLook))
                answer_one();
        }
    } catch (const std::exception& error) {
        run_log().error("Nobody is let in any more: {}.", error.what());
    }
}

/// version, request, domain, address, identity, mechanism, key → version, request, status, text, user,
/// metadata.
void CurveGuard::answer_one() {
    std::vector<std::string> parts;
    zmq::message_t part;
    do {
        (void)asked_.recv(part);
        parts.push_back(part.to_string());
    } while (part.more());
    constexpr std::size_t kParts = 7, kKey = 32;
    bool known = false;
    if (parts.size() == kParts && parts[5] == "CURVE" && parts[6].size() == kKey) {
        std::array<char, 41> text{};
        zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(parts[6].data()), kKey);
        known = keys_->clients.contains(text.data());
    }
    const std::array<std::string, 6> answer = {"1.0",
                                               parts.size() > 1 ? parts[1] : "",
                                               known ? "200" : "400",
                                               known ? "OK" : "This key is not known.",
                                               "",
                                               ""};
    for (std::size_t i = 0; i < answer.size(); ++i)
        (void)asked_.send(zmq::buffer(answer[i]),
                          i + 1 < answer.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

} // namespace specklescope

#endif
