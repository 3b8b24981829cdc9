// What stands in a settings file, before it is understood.
#pragma once

#include <cstddef>
#include <string>

namespace specklescope {

inline constexpr std::size_t kMaxSettingsFile = std::size_t{1} << 20; ///< bytes; one has a few kB

/// The text of a settings file, or what a pipe brings until it is closed, which can be had once: waiting for
/// that is long work (base/long_work.hpp). Throws RunError, also for an empty one.
std::string config_text(const std::string& path);

} // namespace specklescope
