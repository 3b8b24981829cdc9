// Listening addresses of the program's outputs, as the user writes them, and CURVE keys (ZeroMQ's
// encryption) in files of pyzmq's zmq.auth.
#pragma once

#include "base/source_argument.hpp"

#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace specklescope {

/// Syntax of the addresses of one option.
struct ListenSyntax {
    std::string_view option; ///< "publish"
    std::string_view scheme; ///< "zmq://"
    bool paths;              ///< allows a Unix socket: ipc://PATH
    std::string_view port;   ///< port of the example in messages
};
inline constexpr ListenSyntax kPublishSyntax{"publish", "zmq://", false, "5556"};
inline constexpr ListenSyntax kControlSyntax{"control", "zmq://", true, "5557"};
inline constexpr ListenSyntax kMetricsSyntax{"metrics", "", false, "9464"};

struct ListenAddress {
    std::string host;             ///< as written; "*": every interface
    int port = 0;                 ///< 0: any free port
    std::string path;             ///< of a Unix socket, without host and port
    bool loopback = false;        ///< not reachable from other machines
    std::string endpoint() const; ///< in ZeroMQ's format: "tcp://127.0.0.1:5556"
    /// Address as users write it, with the bound port: "zmq://127.0.0.1:5556".
    std::string shown(std::string_view scheme, const std::string& bound_endpoint) const;
};
/// Throws UsageError.
ListenAddress parse_listen_address(const std::string& text, const ListenSyntax& syntax);

/// Logs a warning if the address is reachable from other machines; `what` describes the risk.
void warn_if_open(const ListenAddress& address, const std::string& shown, const std::string& what);

/// Keys in Z85, 40 characters each.
struct CurveKeys {
    std::string secret;            ///< of this program
    std::set<std::string> clients; ///< public keys of allowed clients
};

/// Null if both names are empty. `key_file` has a line secret-key = "…" and must be readable by its owner
/// only; `clients` is a file with a line public-key = "…", or a folder of such files *.key. Throws UsageError
/// if one is missing or has no key, RunError if it cannot be read, others may read it, or this build of
/// ZeroMQ has no CURVE.
std::shared_ptr<const CurveKeys> load_curve_keys(const std::string& key_file, const std::string& clients);

/// "rtsp://127.0.0.1:8554/flow", of --serve.
struct ServeAddress {
    std::string host = "127.0.0.1"; ///< "*": every interface
    int port = 8554;                ///< 0: any free port
    std::string path;               ///< "/flow"
    std::string user, password;     ///< empty: no password
    bool loopback = true;
    std::string shown() const; ///< without the user
};
/// Resolves the references in `text`. Throws UsageError.
ServeAddress parse_serve_address(const SourceArgument& text);

} // namespace specklescope
