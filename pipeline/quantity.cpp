#include "pipeline/quantity.hpp"

#include <algorithm>
#include <array>

namespace specklescope {

namespace {
constexpr std::array<std::string_view, 6> kMeasures = {"intensity", "contrast", "contrast2",
                                                       "time",      "flow",     "other"};
}

std::string_view to_string(Measure measure) { return kMeasures[static_cast<std::size_t>(measure)]; }

Measure measure_named(std::string_view name) {
    const auto at = std::find(kMeasures.begin(), kMeasures.end(), name);
    return at == kMeasures.end() ? Measure::other : static_cast<Measure>(at - kMeasures.begin());
}

} // namespace specklescope
