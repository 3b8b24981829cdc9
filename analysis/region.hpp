// Regions of interest: outlines on the picture that a chain gives, and the pixels that they hold.
#pragma once

#include "pipeline/regions/regions.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// In pixels of the chain's output; the centre of a pixel is at whole numbers, the first one's at (0, 0).
struct RegionPoint {
    double x = 0, y = 0;
    bool operator==(const RegionPoint&) const = default;
};

enum class RegionShape : std::uint8_t {
    rectangle, ///< two opposite corners
    ellipse,   ///< two opposite corners of the rectangle around it
    polygon,   ///< its corners, three or more; closed by itself
    freehand,  ///< a drawn outline: as polygon
    line       ///< its two ends; one pixel wide
};
/// In the order of the enumeration: "rectangle", …
const std::vector<std::string>& region_shape_names();
std::string to_string(RegionShape shape);

struct Region {
    std::string name; ///< UTF-8, not empty; no other region of the set has it
    RegionShape shape = RegionShape::rectangle;
    std::vector<RegionPoint> points;
    std::string colour;  ///< "#rrggbb"; empty: the window chooses
    bool locked = false; ///< the mouse does not move it
    bool operator==(const Region&) const = default;
};

/// No coordinate is further from 0: twice the largest picture.
inline constexpr double kMaxCoordinate = 131072;
inline constexpr std::size_t kMaxRegions = 4096;
inline constexpr std::size_t kMaxRegionPoints = 65536; ///< of one region
inline constexpr std::size_t kMaxRegionName = 256;     ///< bytes

/// Throws UsageError in one sentence that names the region: its name, number of points, coordinates, colour.
void check_region(const Region& region);
/// The same for each, and for their names and number together.
void check_regions(const std::vector<Region>& regions);

/// The pixels of a region on a picture of width × height, appended to `spans`: those whose centre its outline
/// holds, the outline included. Of an outline that crosses itself the even-odd rule says what is inside. A
/// line has in each column (in each row, where it is steeper than 45°) the pixel whose centre is nearest, of
/// two the lower or right one. Coordinates are rounded to 1/1024 px; from there on everything is exact.
/// Throws UsageError as RegionOutlines::spans(), and for a polygon whose sides cross rows of the picture more
/// than 2·kMaxSpans times.
RegionFit region_spans(const Region& region, int width, int height, std::vector<RowSpan>& spans);

/// A checked set for Pipeline::set_regions(). Throws UsageError.
std::shared_ptr<const RegionOutlines> make_outlines(std::vector<Region> regions, bool medians = false,
                                                    OutsideRegions outside = OutsideRegions::refuse);

/// The regions that make_outlines() was given; none for outlines from elsewhere.
std::vector<Region> regions_of(const RegionOutlines& outlines);

} // namespace specklescope
