// Statistics over regions on the device: one launch for all regions of several frames. Inside cuda/ only.
#pragma once

#include "cuda/frames.hpp"
#include "pipeline/regions/region_sums.hpp"

#include <memory>
#include <span>

namespace specklescope::cuda {

/// Like RegionInput of the host.
struct DeviceRegionInput {
    ConstDeviceView image; ///< the final one
    ConstDeviceView raw;
    GreyChannel channel = GreyChannel::luma;
    RegionMean mean = RegionMean::plain;
    SaturationLook saturation;
    int place = 0; ///< of the results: below DeviceRegions::results()
};

/// Results for one region.
struct RegionTotals {
    RegionSums sums;
    double median = RegionStatistics::kNone;
};

/// Spans and sums of the regions in device memory; results of each frame in flight in page-locked memory,
/// which the kernel writes. Kept until the last frame that uses it is done.
class DeviceRegions {
public:
    /// Throws RunError without memory.
    DeviceRegions(std::shared_ptr<const PlacedRegions> placed, int results);

    int results() const { return results_; } ///< images whose results are kept at once

    const std::shared_ptr<const PlacedRegions>& placed() const { return placed_; }
    /// Enqueues the reduction of 1 to kMostTogether frames that differ in addresses and places only. Images
    /// must have the size that the regions were placed on; use one stream for all calls.
    void measure(std::span<const DeviceRegionInput> frames, cudaStream_t stream);
    /// Call when the frame is done.
    std::shared_ptr<const RegionValues> values(int place, RegionMean mean, SaturationLook::In looked) const;

private:
    std::shared_ptr<const PlacedRegions> placed_;
    int results_;
    Buffer spans_, chunks_, regions_; ///< as in *placed_; per region its chunks and spans
    Buffer sums_;                     ///< per frame and chunk
    Buffer totals_;                   ///< per frame and region
    Buffer done_;                     ///< per frame: finished blocks; 0 between launches
    Buffer host_;                     ///< totals per result
};

} // namespace specklescope::cuda
