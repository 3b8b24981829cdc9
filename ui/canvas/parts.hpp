// The parts of the window, by the names that Dear ImGui knows them by.
#pragma once

#include <array>

namespace specklescope::parts {

inline constexpr const char *kTools = "##tools", *kRegionTools = "##region tools", *kCanvas = "##canvas",
                            *kFilm = "##film", *kTraces = "##traces", *kPanel = "##panel",
                            *kStatus = "##status";

/// Those with controls, in the order in which the keyboard walks through them.
inline constexpr std::array kWalked = {kTools, kRegionTools, kFilm, kTraces, kPanel};

} // namespace specklescope::parts
