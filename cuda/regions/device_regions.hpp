// Statistics over regions on the device: one launch for all regions. Inside cuda/ only.
#pragma once

#include "cuda/device.hpp"
#include "pipeline/regions/region_sums.hpp"

#include <memory>

namespace specklescope::cuda {

/// Like RegionInput of the host.
struct DeviceRegionInput {
    ConstDeviceView image; ///< the final one
    ConstDeviceView raw;
    GreyChannel channel = GreyChannel::luma;
    RegionMean mean = RegionMean::plain;
    SaturationLook saturation;
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
    /// Enqueues the reduction. The image must have the size that the regions were placed on; use one stream
    /// for all calls. `place`: below results().
    void measure(const DeviceRegionInput& input, int place, cudaStream_t stream);
    /// Call when the frame is done.
    std::shared_ptr<const RegionValues> values(int place, RegionMean mean, SaturationLook::In looked) const;

private:
    std::shared_ptr<const PlacedRegions> placed_;
    int results_;
    Buffer spans_, chunks_, regions_; ///< as in *placed_; per region its chunks and spans
    Buffer sums_;                     ///< per chunk
    Buffer totals_;                   ///< per region
    Buffer done_;                     ///< finished blocks; 0 between launches
    Buffer host_;                     ///< totals per result
};

} // namespace specklescope::cuda
