// Regions and results for tests of the trace history.
#pragma once

#include "analysis/trace_history.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int64_t kMs = 1'000'000;

inline std::shared_ptr<const PlacedRegions> placed(const std::vector<std::string>& names, int first_row = 0) {
    auto made = std::make_shared<PlacedRegions>();
    for (std::size_t i = 0; i < names.size(); ++i) {
        PlacedRegion region;
        region.name = names[i];
        region.pixels = 7;
        region.span = static_cast<std::uint32_t>(i);
        region.spans = 1;
        made->spans.push_back({0, first_row + static_cast<int>(i), 7});
        made->regions.push_back(region);
    }
    return made;
}

inline Result result(std::uint64_t sequence, std::int64_t capture_ns,
                     const std::shared_ptr<const PlacedRegions>& regions, const std::vector<double>& means,
                     bool jump = false, RegionMean mean = RegionMean::plain) {
    Result made;
    made.info.sequence = sequence;
    made.info.capture_ns = capture_ns;
    made.info.discontinuity = jump;
    if (!regions)
        return made;
    auto values = std::make_shared<RegionValues>();
    values->placed = regions;
    values->mean = mean;
    for (const double value : means) {
        RegionStatistics statistics;
        statistics.mean = value;
        values->statistics.push_back(statistics);
    }
    made.regions = std::move(values);
    return made;
}

} // namespace specklescope
