// Statistics over regions on the host: chunks over the threads.
#pragma once

#include "pipeline/regions/region_sums.hpp"
#include "pipeline/result.hpp"

#include <memory>
#include <vector>

namespace specklescope {

/// Where the pixels of a result are, and how they are read.
struct RegionInput {
    ConstHostView image; ///< the final one
    ConstHostView raw;
    GreyChannel channel = GreyChannel::luma; ///< what is taken of colour
    RegionMean mean = RegionMean::plain;
    SaturationLook saturation;
};

class HostRegions {
public:
    /// `placed` may be null: then there is nothing to measure.
    void set(std::shared_ptr<const PlacedRegions> placed);
    const std::shared_ptr<const PlacedRegions>& placed() const { return placed_; }
    /// The final image has the size that the regions were placed on.
    std::shared_ptr<const RegionValues> measure(const RegionInput& input);

private:
    /// One slot's own, apart from every other's cache lines.
    struct alignas(64) Scratch {
        std::vector<float> values; ///< of a chunk
        std::vector<float> region; ///< for a median
    };
    double median(const RegionInput& input, const PlacedRegion& region, Scratch& scratch) const;

    std::shared_ptr<const PlacedRegions> placed_;
    std::vector<RegionSums> sums_; ///< of each chunk
    std::vector<double> medians_;
    std::vector<Scratch> scratch_;
};

} // namespace specklescope
