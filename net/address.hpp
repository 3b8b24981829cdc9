// Where a door of the program listens, as the user writes it.
#pragma once

#include <string>
#include <string_view>

namespace specklescope {

/// How the addresses of one option are written.
struct ListenSyntax {
    std::string_view option; ///< "publish"
    std::string_view scheme; ///< "zmq://"
    bool paths;              ///< a Unix socket may stand for host and port: ipc://PATH
    std::string_view port;   ///< of the example in the sentence
};
inline constexpr ListenSyntax kPublishSyntax{"publish", "zmq://", false, "5556"};
inline constexpr ListenSyntax kControlSyntax{"control", "zmq://", true, "5557"};
inline constexpr ListenSyntax kMetricsSyntax{"metrics", "", false, "9464"};

struct ListenAddress {
    std::string host;             ///< as written; "*": every interface
    int port = 0;                 ///< 0: one that is free
    std::string path;             ///< of a Unix socket; then there is neither host nor port
    bool loopback = false;        ///< who is on another machine does not reach it
    std::string endpoint() const; ///< ZeroMQ's: "tcp://127.0.0.1:5556"
    /// As a user writes it, with what has been bound: "zmq://127.0.0.1:5556".
    std::string shown(std::string_view scheme, const std::string& bound_endpoint) const;
};
/// Throws UsageError, with what is allowed.
ListenAddress parse_listen_address(const std::string& text, const ListenSyntax& syntax);

/// Says in the log that strangers may come, where they may: `what` goes out or is done.
void warn_if_open(const ListenAddress& address, const std::string& shown, const std::string& what);

} // namespace specklescope
