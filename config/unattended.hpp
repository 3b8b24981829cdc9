// A window that nobody sits in front of.
#pragma once

#include "config/settings.hpp"

namespace specklescope {

/// It is drawn offscreen, and no request could tell it to end: it ends with its source or its recordings.
bool ends_by_itself(const Settings& settings);

} // namespace specklescope
