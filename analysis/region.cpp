#include "analysis/region.hpp"

#include "base/error.hpp"
#include "base/one_line.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace specklescope {

const std::vector<std::string>& region_shape_names() {
    static const std::vector<std::string> names = {"rectangle", "ellipse", "polygon", "freehand", "line"};
    return names;
}

std::string to_string(RegionShape shape) { return region_shape_names()[static_cast<std::size_t>(shape)]; }

namespace {

std::string called(const Region& region) { return "Region '" + region.name + "' "; }

void check_name(const Region& region) {
    if (region.name.empty())
        throw UsageError("A region has an empty name; give each region a name of its own.");
    if (region.name.size() > kMaxRegionName)
        throw UsageError("The name of a region is " + std::to_string(region.name.size()) +
                         " bytes long; allowed: up to " + std::to_string(kMaxRegionName) + ".");
    const bool odd = std::any_of(region.name.begin(), region.name.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
    if (odd)
        throw UsageError(called(region) + "has a control character in its name; leave it out.");
    if (!is_utf8(region.name)) // a file would hold another name
        throw UsageError(called(region) + "has a name that is not UTF-8; give it one that is.");
}

void check_points(const Region& region) {
    const bool corners = region.shape == RegionShape::polygon || region.shape == RegionShape::freehand;
    const std::size_t count = region.points.size();
    if (corners ? count < 3 || count > kMaxRegionPoints : count != 2)
        throw UsageError(called(region) + "has " + std::to_string(count) +
                         (count == 1 ? " point; " : " points; ") + to_string(region.shape) + " allows: " +
                         (corners ? "3…" + std::to_string(kMaxRegionPoints) + "." : std::string("2.")));
    for (const RegionPoint& point : region.points)
        if (!(std::abs(point.x) <= kMaxCoordinate && std::abs(point.y) <= kMaxCoordinate))
            throw UsageError(called(region) + "has a coordinate that no picture has; allowed: −" +
                             std::to_string(static_cast<int>(kMaxCoordinate)) + "…" +
                             std::to_string(static_cast<int>(kMaxCoordinate)) + " px.");
}

void check_colour(const Region& region) {
    const std::string& colour = region.colour;
    const bool hex = colour.size() == 7 && colour[0] == '#' &&
                     colour.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
    if (!colour.empty() && !hex)
        throw UsageError(called(region) + "has the colour '" + colour.substr(0, 32) +
                         "'; allowed: #rrggbb, six hexadecimal digits.");
}

class Outlines final : public RegionOutlines {
public:
    Outlines(std::vector<Region> regions, bool medians, OutsideRegions outside)
        : regions_(std::move(regions)), medians_(medians), outside_(outside) {}
    std::size_t count() const override { return regions_.size(); }
    const std::string& name(std::size_t index) const override { return regions_[index].name; }
    std::string shape(std::size_t index) const override { return to_string(regions_[index].shape); }
    std::optional<LineEnds> line(std::size_t index) const override {
        const Region& region = regions_[index];
        if (region.shape != RegionShape::line)
            return std::nullopt;
        return LineEnds{region.points[0].x, region.points[0].y, region.points[1].x, region.points[1].y};
    }
    bool medians() const override { return medians_; }
    OutsideRegions outside() const override { return outside_; }
    RegionFit spans(std::size_t index, int width, int height, std::vector<RowSpan>& spans) const override {
        return region_spans(regions_[index], width, height, spans);
    }
    const std::vector<Region>& regions() const { return regions_; }

private:
    std::vector<Region> regions_;
    bool medians_;
    OutsideRegions outside_;
};

} // namespace

void check_region(const Region& region) {
    check_name(region);
    check_points(region);
    check_colour(region);
}

void check_regions(const std::vector<Region>& regions) {
    if (regions.size() > kMaxRegions)
        throw UsageError("There are " + std::to_string(regions.size()) + " regions; allowed: up to " +
                         std::to_string(kMaxRegions) + ".");
    std::unordered_set<std::string> names;
    for (const Region& region : regions) {
        check_region(region);
        if (!names.insert(region.name).second)
            throw UsageError("Two regions have the name '" + region.name +
                             "'; give each one a name of its own.");
    }
}

std::shared_ptr<const RegionOutlines> make_outlines(std::vector<Region> regions, bool medians,
                                                    OutsideRegions outside) {
    check_regions(regions);
    return std::make_shared<Outlines>(std::move(regions), medians, outside);
}

std::vector<Region> regions_of(const RegionOutlines& outlines) {
    const auto* ours = dynamic_cast<const Outlines*>(&outlines);
    return ours ? ours->regions() : std::vector<Region>{};
}

} // namespace specklescope
