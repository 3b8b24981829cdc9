// The same work by other libraries: measured by a program of its own beside this one, so that this one needs
// none of them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace specklescope::bench {

/// Starts `specklescope-peers` from this program's folder; rows for peer_table(). Says in the log if it is
/// not there.
nlohmann::ordered_json run_peers(const std::string& filter);

} // namespace specklescope::bench
