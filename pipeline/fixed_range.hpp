// When a value range that the user has fixed stops to mean what it meant.
#pragma once

#include "pipeline/mapping.hpp"

#include <string>

namespace specklescope {

/// What a range is chosen for.
struct RangeSubject {
    std::string source;   ///< the SOURCE argument
    std::string quantity; ///< Quantity::name
    bool operator==(const RangeSubject&) const = default;
};

/// A fixed range belongs to one quantity of one source: for another one it becomes automatic again. Returns
/// what to say of that, empty if nothing changed. `known` is what the range is for, and is brought up to
/// date.
std::string release_range(Mapping& mapping, RangeSubject& known, const RangeSubject& now);

} // namespace specklescope
