// Statistics over regions where the pixels are: one launch for all of them. Inside cuda/ only.
#pragma once

#include "cuda/device.hpp"
#include "pipeline/regions/region_sums.hpp"

#include <memory>

namespace specklescope::cuda {

/// As RegionInput of the host.
struct DeviceRegionInput {
    ConstDeviceView image; ///< the final one
    ConstDeviceView raw;
    GreyChannel channel = GreyChannel::luma;
    RegionMean mean = RegionMean::plain;
    SaturationLook saturation;
};

/// What the device gives back for a region.
struct RegionTotals {
    RegionSums sums;
    double median = RegionStatistics::kNone;
};

/// Spans of the regions, and what is measured over them, in device memory; results of each frame in flight in
/// page-locked memory, which the kernel writes. Held until the last frame that uses it is done.
class DeviceRegions {
public:
    /// Throws RunError without memory.
    DeviceRegions(std::shared_ptr<const PlacedRegions> placed, int in_flight);

    const std::shared_ptr<const PlacedRegions>& placed() const { return placed_; }
    /// Enqueues the reduction. The image has the size that the regions were placed on; all calls are on one
    /// stream.
    void measure(const DeviceRegionInput& input, int flight, cudaStream_t stream);
    /// Once that is done.
    std::shared_ptr<const RegionValues> values(int flight, RegionMean mean, SaturationLook::In looked) const;

private:
    std::shared_ptr<const PlacedRegions> placed_;
    Buffer spans_, chunks_, regions_; ///< as in *placed_; of a region its chunks and its spans
    Buffer sums_;                     ///< of each chunk
    Buffer totals_;                   ///< of each region
    Buffer done_;                     ///< blocks that are; 0 between launches
    Buffer host_;                     ///< totals of each flight
};

} // namespace specklescope::cuda
