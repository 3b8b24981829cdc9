// Which addresses nobody on another machine reaches.
#pragma once

#include <string>

namespace specklescope {

/// "localhost", "[::1]", or four numbers of which the first is 127. Any other name may lead anywhere,
/// whatever it begins with.
bool is_loopback(const std::string& host);

} // namespace specklescope
