// Requests of other programs, answered at the pace of the main thread: one JSON object in, one out, over
// ZeroMQ.
#pragma once

#include "net/address.hpp"
#include "pipeline/frame.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Over one connection.
struct ControlClientCounts {
    std::string from; ///< "127.0.0.1"; over a Unix socket "localhost:USER:GROUP:PROCESS"; empty: not known
    std::chrono::steady_clock::time_point since, last; ///< of its first request, and of its last one
    std::uint64_t requests = 0;
    std::uint64_t answers = 0; ///< that its connection has taken
    std::uint64_t lost = 0; ///< answers that it had no room for, since nobody reads, or that it was gone for
};

/// requests = answers + lost + those that wait yet.
struct ControlCounts {
    std::uint64_t requests = 0, answers = 0, lost = 0; ///< over all connections that there have been
    std::vector<ControlClientCounts> clients; ///< ControlClients::kMost that asked last, oldest first
};

/// Counted by the server's thread, read by any.
class ControlClients {
public:
    static constexpr std::size_t kMost = 64;

    /// `client`: as the socket names it; `from` may be null.
    void asked(const std::string& client, const char* from);
    void answered(const std::string& client, bool taken);
    ControlCounts counts() const;

private:
    void forget_one();

    mutable std::mutex mutex_;
    std::uint64_t requests_ = 0, answers_ = 0, lost_ = 0;
    std::map<std::string, ControlClientCounts> clients_;
};

struct ControlReply {
    std::string text;            ///< a JSON object
    std::vector<Frame> frames{}; ///< on the host; their pixels follow the text, a part each, without padding
};
/// A request that was understood, carried out on the main thread. Nothing: it is not done, and asked again
/// later. An Error is an answer too.
using ControlWork = std::function<std::optional<ControlReply>()>;
/// Understands a message, on the server's thread. Throws Error: then that is the answer, and the main thread
/// hears nothing of it.
using ControlReader = std::function<ControlWork(std::string_view message)>;

/// How long one poll() stays with those who ask.
struct ControlTurn {
    std::chrono::microseconds most{4000}; ///< with the first one in any case; a drawing has 16 000
    std::chrono::microseconds next{1000}; ///< for another one, behind an answer
};

/// A socket for REQ clients, bound for its whole life, with a thread that reads requests as they come and
/// sends answers. One that is not done yet holds up those of the same client alone, and whoever does not read
/// its answer nobody: what there is no room for is lost, and counted for each client. 64 wait at most, 8 of
/// one client; more are refused at once.
class ControlServer {
public:
    /// A larger message ends the connection that it came over, before memory is taken for it.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

    /// `wake` (may be null) is called from the server's thread when there is something to poll(). `keys`: it
    /// is encrypted, and for their clients alone. Throws UsageError (not an address), RunError (taken, not
    /// allowed, built without ZeroMQ).
    ControlServer(const std::string& address, ControlReader read, void (*wake)(),
                  std::shared_ptr<const CurveKeys> keys = nullptr);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    /// "zmq://127.0.0.1:5557", with the port that it got.
    std::string address() const;
    /// On the main thread: carries out the requests that wait, each once, and those that come while it is at
    /// it. How many were answered.
    std::size_t poll(ControlTurn turn = {});
    /// Until a request comes, at most so long.
    void wait(std::chrono::milliseconds most);
    /// From any thread.
    ControlCounts counts() const;
    /// What waits is answered with a refusal, and nothing comes behind it. Idempotent.
    void close();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// {"ok":false,"kind":"usage","error":"…"}: what a client is told of an exception.
std::string control_refusal(const std::exception& error);

} // namespace specklescope
