// Where an output of the program listens, as the user writes it, and the keys of CURVE (ZeroMQ's encryption)
// in files as pyzmq's zmq.auth makes them.
#pragma once

#include "base/source_argument.hpp"

#include <memory>
#include <set>
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

/// In Z85, 40 characters each.
struct CurveKeys {
    std::string secret;            ///< of this program
    std::set<std::string> clients; ///< public keys of those who are let in
};

/// Null where both names are empty. `key_file` holds a line secret-key = "…" and may be read by its owner
/// alone; `clients` is a file with a line public-key = "…", or a folder of such files *.key. Throws
/// UsageError where one is missing or holds no key, RunError where it cannot be read, may be read by others,
/// or this build of ZeroMQ has no CURVE.
std::shared_ptr<const CurveKeys> load_curve_keys(const std::string& key_file, const std::string& clients);

/// "rtsp://127.0.0.1:8554/flow", of --serve.
struct ServeAddress {
    std::string host = "127.0.0.1"; ///< "*": every interface
    int port = 8554;                ///< 0: one that is free
    std::string path;               ///< "/flow"
    std::string user, password;     ///< empty: for anybody
    bool loopback = true;
    std::string shown() const; ///< without the user
};
/// Of a text whose references are resolved. Throws UsageError, with what is allowed.
ServeAddress parse_serve_address(const SourceArgument& text);

} // namespace specklescope
