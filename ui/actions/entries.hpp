// What the command palette offers beside the actions: stages, presets, sources.
#pragma once

#include "ui/actions/palette.hpp"

namespace specklescope {

class Session;

/// Every stage to be added, and what can be done with those of the chain.
void add_chain_entries(Session& session, std::vector<PaletteEntry>& entries);
void add_preset_entries(Session& session, std::vector<PaletteEntry>& entries);
/// What was open lately, and what is simulated.
void add_source_entries(Session& session, std::vector<PaletteEntry>& entries);

} // namespace specklescope
