// Addresses that only this machine can reach.
#pragma once

#include <string>

namespace specklescope {

/// True for "localhost", "[::1]" and IPv4 addresses in 127.0.0.0/8. Other names may resolve to any machine,
/// also those that start with these texts.
bool is_loopback(const std::string& host);

} // namespace specklescope
