// Regions of interest: outlines on the output image of a chain, and the pixels inside.
#pragma once

#include "pipeline/regions/regions.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// In pixels of the chain's output; pixel centres are integers, the first at (0, 0).
struct RegionPoint {
    double x = 0, y = 0;
    bool operator==(const RegionPoint&) const = default;
};

enum class RegionShape : std::uint8_t {
    rectangle, ///< two opposite corners
    ellipse,   ///< two opposite corners of the bounding box
    polygon,   ///< its corners, three or more; closed automatically
    freehand,  ///< a drawn outline, like polygon
    line       ///< its two ends; one pixel wide
};
/// Names in the order of the enumeration: "rectangle", …
const std::vector<std::string>& region_shape_names();
std::string to_string(RegionShape shape);

struct Region {
    std::string name; ///< UTF-8, not empty, unique in the set
    RegionShape shape = RegionShape::rectangle;
    std::vector<RegionPoint> points;
    std::string colour;  ///< "#rrggbb"; empty: chosen by the window
    bool locked = false; ///< cannot be moved by the mouse
    bool operator==(const Region&) const = default;
};

/// Limit of coordinates: twice the largest image.
inline constexpr double kMaxCoordinate = 131072;
inline constexpr std::size_t kMaxRegions = 4096;
inline constexpr std::size_t kMaxRegionPoints = 65536; ///< of one region
inline constexpr std::size_t kMaxRegionName = 256;     ///< bytes

/// Throws UsageError naming the region for an invalid name, number of points, coordinate or colour.
void check_region(const Region& region);
/// The same for each region, and for unique names and the number of regions.
void check_regions(const std::vector<Region>& regions);

/// Appends the pixels of a region on an image of width × height to `spans`: those whose centre is inside or
/// on its outline. For outlines that cross themselves the even-odd rule applies. A line has in each column
/// (in each row, if steeper than 45°) the pixel with the nearest centre, in ties the lower or right one.
/// Coordinates are rounded to 1/1024 px; everything else is exact. Throws UsageError like
/// RegionOutlines::spans(), and for a polygon with more than 2·kMaxSpans crossings with image rows.
RegionFit region_spans(const Region& region, int width, int height, std::vector<RowSpan>& spans);

/// A checked set for Pipeline::set_regions(). Throws UsageError.
std::shared_ptr<const RegionOutlines> make_outlines(std::vector<Region> regions, bool medians = false,
                                                    OutsideRegions outside = OutsideRegions::refuse);

/// The regions passed to make_outlines(); none for other outlines.
std::vector<Region> regions_of(const RegionOutlines& outlines);

} // namespace specklescope
