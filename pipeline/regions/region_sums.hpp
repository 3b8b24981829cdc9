// Sums over parts of a region and their combination. The same for host and device; each adds in a fixed
// order.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/chain.hpp"
#include "pipeline/regions/regions.hpp"
#include "pipeline/result.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace specklescope {

struct RegionSums {
    double mean = 0;     ///< of the finite values
    double squares = 0;  ///< Σ(value − mean)²
    double inverses = 0; ///< Σ1/value of the finite values, each rounded to f32; with RegionMean::of_inverses
    float min = INFINITY, max = -INFINITY; ///< of the finite values
    std::uint32_t valid = 0, infinite = 0, undefined = 0, saturated = 0;
};

/// Combines two sums (Chan, Golub, LeVeque 1979, eq. 2.1).
SPECKLESCOPE_BOTH inline void add_sums(RegionSums& to, const RegionSums& more) {
    const double n = static_cast<double>(to.valid) + more.valid;
    if (more.valid > 0) {
        const double step = more.mean - to.mean;
        to.squares += more.squares + step * step * (to.valid * (more.valid / n));
        to.mean = to.valid > 0 ? to.mean + step * (more.valid / n) : more.mean;
    }
    to.inverses += more.inverses;
    to.min = more.min < to.min ? more.min : to.min;
    to.max = more.max > to.max ? more.max : to.max;
    to.valid += more.valid;
    to.infinite += more.infinite;
    to.undefined += more.undefined;
    to.saturated += more.saturated;
}

/// Kind of mean for this measure.
RegionMean region_mean(Measure measure);

/// Image in which samples at full scale are counted.
struct SaturationLook {
    enum class In : std::uint8_t { nowhere, raw, result };
    In in = In::nowhere;
    double threshold = 0;
    int dx = 0, dy = 0; ///< result pixel (x, y) is raw pixel (x + dx, y + dy)
};
/// `raw` with its info; `result` as described by the last stage. Stages that do not move pixels crop all
/// sides equally.
SaturationLook saturation_look(const Chain& chain, const Shape& raw, const FrameInfo& raw_info,
                               const Shape& result, const FrameInfo& result_info);

/// Statistics from the sums of one region.
RegionStatistics region_statistics(const RegionSums& sums, const PlacedRegion& region, RegionMean mean,
                                   SaturationLook::In looked, double median);

// Statistics over regions on the host: chunks in parallel.

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

/// Sums of `count` contiguous values in float64; `inverses`: also Σ1/value. Leaves saturated at 0.
RegionSums sums_of(const float* values, std::size_t count, bool inverses);

} // namespace specklescope
