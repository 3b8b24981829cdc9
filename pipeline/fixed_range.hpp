// Resets a value range that the user fixed when it no longer applies.
#pragma once

#include "pipeline/mapping.hpp"

#include <string>

namespace specklescope {

/// What a fixed range was chosen for.
struct RangeSubject {
    std::string source;   ///< the SOURCE argument
    std::string quantity; ///< Quantity::name
    bool operator==(const RangeSubject&) const = default;
};

/// A fixed range applies to one quantity of one source; for another one it becomes automatic again. Returns a
/// message, empty if nothing changed. `known`: what the range was chosen for; updated.
std::string release_range(Mapping& mapping, RangeSubject& known, const RangeSubject& now);

} // namespace specklescope
