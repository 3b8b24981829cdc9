// Which stage of a chain is meant, and what is set of it.
#pragma once

#include "pipeline/chain.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace specklescope::library {

/// Counted from 0, or the name of the only one of that name.
using StagePlace = std::variant<std::size_t, std::string_view>;
/// "0", "speckle".
StagePlace stage_named(std::string_view text);
/// Counted from 0. Throws UsageError where the chain has no such stage, or several.
std::size_t place_of(const Chain& chain, const StagePlace& stage);

/// Names and values of parameters.
using Values = std::vector<std::pair<std::string, std::string>>;
/// Of "radius=3,output=sfi". Throws UsageError.
Values values_of(std::string_view text);
/// Throws UsageError as the stage's table says it.
void set_values(ChainStage& stage, const Values& values);

} // namespace specklescope::library
