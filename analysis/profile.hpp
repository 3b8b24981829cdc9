// Profile of a result along a line: values at equal distances, each the mean over a band across the line.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/regions/regions.hpp"

#include <cstddef>
#include <vector>

namespace specklescope {

/// Maximum width in pixels of the band of a profile, ImageJ's line width.
inline constexpr int kMaxBand = 1024;

/// Input of a profile: a result on the host.
struct ProfileInput {
    ConstHostView image;
    GreyChannel channel = GreyChannel::luma; ///< channel used of colour
    RegionMean mean = RegionMean::plain;     ///< kind of mean
};

/// Samples of one line. A line of length L has round(L) equal steps, at least one, and a sample at each end
/// and step; a line of length 0 has one sample. A sample is the mean over `band` points at a distance of 1 px
/// across the line, centred on it. Points are interpolated between four pixels (bilinear).
///
/// Interpolation and mean use values that may be averaged, as for regions (RegionMean): K² if the image is K
/// or a flow index. Undefined pixels are omitted with their weight, infinite ones too, except in a flow
/// index, where they are K² = 0; points outside the image are omitted. A sample without any pixel is NaN.
class LineProfile {
public:
    /// `band` in 1…kMaxBand.
    LineProfile(const LineEnds& line, int band);

    std::size_t samples() const { return steps_ + 1; }
    double spacing() const { return spacing_; } ///< px between two samples; 0: only one sample
    const LineEnds& line() const { return line_; }
    int band() const { return band_; }

    /// Means before conversion; from_average() converts them to the unit of the image.
    void measure(const ProfileInput& input, std::vector<double>& averages) const;

private:
    LineEnds line_;
    int band_;
    std::size_t steps_ = 0;
    double spacing_ = 0;
    double across_x_ = 0, across_y_ = 1; ///< unit vector
};

/// Converts a mean of v, K² or 1/v to a value of the map.
double from_average(double average, RegionMean mean);

} // namespace specklescope
