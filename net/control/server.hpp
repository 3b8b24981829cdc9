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

/// Counts of one connection.
struct ControlClientCounts {
    std::string from; ///< "127.0.0.1"; over a Unix socket "localhost:USER:GROUP:PROCESS"; empty: unknown
    std::chrono::steady_clock::time_point since, last; ///< times of the first and the last request
    std::uint64_t requests = 0;
    std::uint64_t answers = 0; ///< answers sent
    std::uint64_t lost = 0;    ///< answers dropped: the client does not read, or has disconnected
};

/// requests = answers + lost + pending ones.
struct ControlCounts {
    std::uint64_t requests = 0, answers = 0, lost = 0; ///< of all connections so far
    std::vector<ControlClientCounts> clients; ///< the ControlClients::kMost most recent ones, oldest first
};

/// Written by the server's thread, read by any thread.
class ControlClients {
public:
    static constexpr std::size_t kMost = 64;

    /// `client`: the name of the socket; `from` may be null.
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
    std::vector<Frame> frames{}; ///< on the host; sent after the text, one part each, without padding
};
/// A parsed request, carried out on the main thread. None: not finished, call again later. An Error becomes
/// the answer.
using ControlWork = std::function<std::optional<ControlReply>()>;
/// Parses a message on the server's thread. An Error becomes the answer, without the main thread.
using ControlReader = std::function<ControlWork(std::string_view message)>;

/// Time limits of one poll().
struct ControlTurn {
    std::chrono::microseconds most{4000}; ///< allows at least one request; a drawn frame has 16 000
    std::chrono::microseconds next{1000}; ///< wait for the next request after an answer
};

/// A socket for REQ clients, bound for the life of the object, with a thread that reads requests and sends
/// answers. A pending request delays only later ones of the same client. A client that does not read its
/// answers loses them, which is counted for each client. At most 64 requests are pending, 8 of one client;
/// more are refused at once.
class ControlServer {
public:
    /// A larger message closes its connection before memory is allocated for it.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

    /// `wake` (may be null) is called from the server's thread when poll() has something to do. `keys`:
    /// encrypted, only for their clients. Throws UsageError (not an address), RunError (in use, not allowed,
    /// built without ZeroMQ).
    ControlServer(const std::string& address, ControlReader read, void (*wake)(),
                  std::shared_ptr<const CurveKeys> keys = nullptr);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    /// "zmq://127.0.0.1:5557", with the bound port.
    std::string address() const;
    /// Called on the main thread: carries out each pending request once, and new ones. Returns the number of
    /// answers.
    std::size_t poll(ControlTurn turn = {});
    /// Waits for a request, at most `most`.
    void wait(std::chrono::milliseconds most);
    /// From any thread.
    ControlCounts counts() const;
    /// Refuses all pending requests. Idempotent.
    void close();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// {"ok":false,"kind":"usage","error":"…"}: the answer for an exception.
std::string control_refusal(const std::exception& error);

} // namespace specklescope
