// Who has asked for what at the door for requests, and what became of the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
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

} // namespace specklescope
