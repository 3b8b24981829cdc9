// The profile along the selected line region and the width of its vessel, in the panel.
#pragma once

#include "analysis/vessel_width.hpp"
#include "pipeline/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Of the newest result, a few times a second.
class LinePanel {
public:
    /// `region`: the name of the one that is selected, empty for none; `band` as of LineProfile; `um`: a side
    /// of a pixel, 0 unknown.
    void take(const Result& result, const std::string& region, int band, double um);
    /// A line is selected and its profile is drawn: its pixels are needed, also of results on the device.
    bool wants_host() const { return wants_host_; }
    /// Nothing, unless the region is a line that was measured.
    void draw(const std::string& region);
    /// For the probe.
    void report() const;

private:
    std::string text() const;

    std::string name_; ///< empty: nothing was measured
    std::string unit_;
    std::vector<double> profile_; ///< in the unit of the map
    double spacing_ = 0, um_per_px_ = 0;
    VesselWidth vessel_;
    std::uint64_t sequence_ = 0;
    std::uint64_t version_ = 0;
    std::weak_ptr<const PlacedRegions> placed_; ///< on which it was measured
    SteadyClock::time_point when_{}, drawn_{};
    bool wants_host_ = false;
};

} // namespace specklescope
