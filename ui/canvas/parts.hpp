// Parts of the window, by their names in Dear ImGui.
#pragma once

#include <array>

namespace specklescope::parts {

inline constexpr const char *kTools = "##tools", *kRegionTools = "##region tools", *kCanvas = "##canvas",
                            *kFilm = "##film", *kTraces = "##traces", *kPanel = "##panel",
                            *kStatus = "##status";

/// Parts with controls, in the order of keyboard access.
inline constexpr std::array kWalked = {kTools, kRegionTools, kFilm, kTraces, kPanel};

} // namespace specklescope::parts
