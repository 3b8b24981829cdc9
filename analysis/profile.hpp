// The profile of a result along a line: values at equal distances, each the mean over a band across the line.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/regions/regions.hpp"

#include <cstddef>
#include <vector>

namespace specklescope {

/// Pixels across a line that its profile is the mean of, ImageJ's line width.
inline constexpr int kMaxBand = 1024;

/// What a profile is taken of: a result on the host.
struct ProfileInput {
    ConstHostView image;
    GreyChannel channel = GreyChannel::luma; ///< what is taken of colour
    RegionMean mean = RegionMean::plain;     ///< of what the mean is taken
};

/// Samples of one line. A line of length L has round(L) steps, at least one, of equal length, and a sample at
/// each of its ends and steps; a line of no length has one sample. A sample is the mean over `band` points at
/// a distance of 1 px across the line, the line in their middle. At each point the picture is interpolated
/// between the four pixels around it (bilinear).
///
/// Interpolation and mean are taken of what may be averaged, as for regions (RegionMean): of K² where the
/// picture is K or a flow index. Undefined pixels are left out with their weight, infinite ones as well,
/// except those of a flow index, which are K² = 0; so are points outside the picture.
/// A sample of which nothing is left is NaN.
class LineProfile {
public:
    /// `band` in 1…kMaxBand.
    LineProfile(const LineEnds& line, int band);

    std::size_t samples() const { return steps_ + 1; }
    double spacing() const { return spacing_; } ///< px from one sample to the next; 0: there is one alone
    const LineEnds& line() const { return line_; }
    int band() const { return band_; }

    /// The means, of what was averaged: from_average() gives them the unit of the picture.
    void measure(const ProfileInput& input, std::vector<double>& averages) const;

private:
    LineEnds line_;
    int band_;
    std::size_t steps_ = 0;
    double spacing_ = 0;
    double across_x_ = 0, across_y_ = 1; ///< unit vector
};

/// A mean of v, K² or 1/v as the value of the map whose mean it is.
double from_average(double average, RegionMean mean);

} // namespace specklescope
