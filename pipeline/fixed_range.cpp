#include "pipeline/fixed_range.hpp"

#include <utility>

namespace specklescope {

std::string release_range(Mapping& mapping, RangeSubject& known, const RangeSubject& now) {
    const RangeSubject before = std::exchange(known, now);
    if (before == now || before == RangeSubject() || mapping.automatic)
        return "";
    mapping.automatic = true;
    const std::string range = to_string(ParamValue(mapping.low)) + "…" + to_string(ParamValue(mapping.high));
    return "The fixed range " + range + " was of " +
           (before.quantity != now.quantity ? before.quantity : "another source") +
           "; it is automatic again for " + now.quantity + ".";
}

} // namespace specklescope
