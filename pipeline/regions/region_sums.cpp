#include "pipeline/regions/region_sums.hpp"

#include "pipeline/counts.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>

namespace specklescope {

RegionMean region_mean(Measure measure) {
    return measure == Measure::contrast ? RegionMean::of_squares
           : measure == Measure::flow   ? RegionMean::of_inverses
                                        : RegionMean::plain;
}

SaturationLook saturation_look(const Chain& chain, const Shape& raw, const FrameInfo& raw_info,
                               const Shape& result, const FrameInfo& result_info) {
    const bool in_place = !moves_pixels(chain);
    const int dx = raw.width - result.width, dy = raw.height - result.height;
    if (const auto threshold = saturation_threshold(raw.type, raw_info);
        threshold && in_place && dx >= 0 && dy >= 0 && dx % 2 == 0 && dy % 2 == 0)
        return {SaturationLook::In::raw, *threshold, dx / 2, dy / 2};
    if (const auto threshold = saturation_threshold(result.type, result_info); threshold && !in_place)
        return {SaturationLook::In::result, *threshold, 0, 0};
    return {};
}

RegionStatistics region_statistics(const RegionSums& sums, const PlacedRegion& region, RegionMean mean,
                                   SaturationLook::In looked, double median) {
    RegionStatistics statistics;
    statistics.pixels = region.pixels;
    statistics.valid = sums.valid;
    statistics.infinite = sums.infinite;
    statistics.undefined = sums.undefined;
    if (looked != SaturationLook::In::nowhere)
        statistics.saturated = sums.saturated;
    const double n = sums.valid;
    if (mean == RegionMean::of_inverses && sums.valid + sums.infinite > 0)
        statistics.mean = (n + sums.infinite) / sums.inverses; // all infinite: ∞
    if (sums.valid == 0)
        return statistics;
    statistics.mean_of_map = sums.mean;
    if (mean != RegionMean::of_inverses)
        statistics.mean =
            mean == RegionMean::of_squares ? std::sqrt(sums.mean * sums.mean + sums.squares / n) : sums.mean;
    if (sums.valid > 1)
        statistics.std = std::sqrt(sums.squares / (n - 1));
    statistics.min = sums.min;
    statistics.max = sums.max;
    statistics.median = median;
    return statistics;
}

} // namespace specklescope
