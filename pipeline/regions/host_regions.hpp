// Statistics over regions on the host: chunks in parallel.
#pragma once

#include "pipeline/regions/region_sums.hpp"
#include "pipeline/result.hpp"

#include <memory>
#include <vector>

namespace specklescope {

/// Pixels of a result and how to read them.
struct RegionInput {
    ConstHostView image; ///< the final image
    ConstHostView raw;
    GreyChannel channel = GreyChannel::luma; ///< channel used of colour
    RegionMean mean = RegionMean::plain;
    SaturationLook saturation;
};

class HostRegions {
public:
    /// Null: no regions.
    void set(std::shared_ptr<const PlacedRegions> placed);
    const std::shared_ptr<const PlacedRegions>& placed() const { return placed_; }
    /// The final image must have the size that the regions were placed on.
    std::shared_ptr<const RegionValues> measure(const RegionInput& input);

private:
    /// Scratch memory of one slot, on its own cache lines.
    struct alignas(64) Scratch {
        std::vector<float> values; ///< of a chunk
        std::vector<float> region; ///< for a median
    };
    double median(const RegionInput& input, const PlacedRegion& region, Scratch& scratch) const;

    std::shared_ptr<const PlacedRegions> placed_;
    std::vector<RegionSums> sums_; ///< per chunk
    std::vector<double> medians_;
    std::vector<Scratch> scratch_;
};

} // namespace specklescope
