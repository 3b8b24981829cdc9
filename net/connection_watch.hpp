// Who is connected to a socket of ZeroMQ, and how much of what they send waits. Internal to net/.
#pragma once

#include <zmq.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace specklescope {

struct ConnectionLimits {
    std::size_t most = 64;   ///< connections at once
    std::uint64_t each = 0;  ///< bytes from one of them that nobody has heard
    std::uint64_t total = 0; ///< the same from all together
};

/// ZeroMQ takes in whatever comes, subscriptions and parts of a message, before the program sees any of it,
/// and as many connections as there are descriptors; of a Unix socket it aborts where there is none left.
/// Here connections are counted and what those of TCP have sent is looked at, on a thread of its own: one
/// that goes too far is ended, and its client connects again. Ends before the socket does.
class ConnectionWatch {
public:
    ConnectionWatch(zmq::context_t& context, const ConnectionLimits& limits)
        : context_(context), limits_(limits) {}
    ~ConnectionWatch();
    ConnectionWatch(const ConnectionWatch&) = delete;
    ConnectionWatch& operator=(const ConnectionWatch&) = delete;

    /// Before it is bound; `door` names it in the log: "--publish".
    void watch(zmq::socket_t& socket, std::string door);
    /// A whole message came: what its connection had sent until now was heard. From the socket's thread.
    void heard(zmq::message_t& message);

private:
    struct Connection {
        std::string host, port;     ///< the other end
        std::uint64_t forgiven = 0; ///< bytes of what came
        std::uint64_t bytes = 0;    ///< that came
        bool ended = false;         ///< by us; ZeroMQ may keep it until its client lets go
        std::uint64_t number = 0;   ///< in the order of their coming
        std::chrono::steady_clock::time_point since{};
        std::uint64_t unheard() const;
    };
    using Connections = std::map<int, Connection>; ///< by descriptor

    void run();
    void take_event();
    void accept(int descriptor, int own_port);
    void look();
    void look_at_size();
    void look_at_number();
    void end(Connections::iterator which, const std::string& why);

    zmq::context_t& context_;
    const ConnectionLimits limits_;
    std::string door_;
    void* socket_ = nullptr;
    zmq::socket_t events_; ///< the thread's, once it runs
    std::mutex mutex_;     ///< of what follows
    Connections connections_;
    std::uint64_t came_ = 0;
    bool told_ = false;
    std::atomic<bool> closing_{false};
    std::thread thread_;
};

} // namespace specklescope
