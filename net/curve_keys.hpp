// Keys of CURVE, ZeroMQ's encryption, in files as pyzmq's zmq.auth makes them.
#pragma once

#include <memory>
#include <set>
#include <string>

namespace specklescope {

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

} // namespace specklescope
