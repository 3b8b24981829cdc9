// Panel section with the profile along the selected line region and the width of its vessel.
#pragma once

#include "analysis/vessel_width.hpp"
#include "pipeline/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Measures the newest result a few times a second.
class LinePanel {
public:
    /// `region`: name of the selected region, empty for none. `band`: as in LineProfile. `um`: side of a
    /// pixel, 0 if unknown.
    void take(const Result& result, const std::string& region, int band, double um);
    /// True if the profile of a selected line is drawn: requests its pixels, also for results on the device.
    bool wants_host() const { return wants_host_; }
    /// Draws nothing unless the region is a measured line.
    void draw(const std::string& region);
    /// Reports the values to the probe.
    void report() const;

private:
    std::string text() const;

    std::string name_; ///< region of the last measurement; empty: none
    std::string unit_;
    std::vector<double> profile_; ///< in the unit of the map
    double spacing_ = 0, um_per_px_ = 0;
    VesselWidth vessel_;
    std::uint64_t sequence_ = 0;
    std::uint64_t version_ = 0;
    std::weak_ptr<const PlacedRegions> placed_; ///< region set of the last measurement
    SteadyClock::time_point when_{}, drawn_{};
    bool wants_host_ = false;
};

} // namespace specklescope
