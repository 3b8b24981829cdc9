// Editor of regions: a set with a selection and hit tests. The model; ui/regions/ draws it, and the session
// undoes edits (session/undo.hpp).
#pragma once

#include "analysis/region.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// "#rrggbb" colours, distinguishable for colour-blind users and bright enough for dark images: the light
/// scheme of Tol, Colour Schemes (2021), without its greys.
const std::vector<std::string>& region_palette();
/// Own colour, or the palette's for its index.
const std::string& region_colour(const Region& region, std::size_t index);

/// Corners of the outline, to be joined by straight lines; closed unless it is a line. Ellipses have 96
/// corners.
std::vector<RegionPoint> region_corners(const Region& region);

/// Handles for dragging: the bounding box of an ellipse, rectangle or freehand outline (8 handles from the
/// upper left corner clockwise), the points of a polygon or line.
std::vector<RegionPoint> region_handles(const Region& region);

/// Part of a region under the mouse.
struct RegionGrip {
    enum class Part : std::uint8_t {
        inside,
        outline,
        handle, ///< of region_handles()
        middle  ///< of the polygon side after corner `index`: dragging adds a corner
    } part = Part::inside;
    std::size_t region = 0, index = 0;
    bool operator==(const RegionGrip&) const = default;
};

class RegionEditor {
public:
    using Index = std::optional<std::size_t>;

    const std::vector<Region>& regions() const { return regions_; }
    std::uint64_t revision() const { return revision_; } ///< incremented by every change of the regions
    /// A copy of regions(), the same one until they change.
    const std::shared_ptr<const std::vector<Region>>& shared() {
        if (std::exchange(shared_revision_, revision_) != revision_)
            shared_ = std::make_shared<const std::vector<Region>>(regions_);
        return shared_;
    }
    /// Image that regions must touch; 0×0: none.
    void set_picture(int width, int height);
    int width() const { return width_; }
    int height() const { return height_; }

    Index selected() const { return selected_; }
    void select(Index index);
    /// Selects the next region, or with −1 the previous one, cyclically.
    void select_next(int step);

    /// Replaces everything, as it was stored: regions may lie outside the image. Throws UsageError like
    /// check_regions().
    void reset(std::vector<Region> regions);
    /// The same of an earlier state; selects the only region that differs.
    void restore(const std::vector<Region>& regions);
    /// Replaces all regions or none. Throws UsageError like check_regions(), and if a region has no pixel on
    /// the image.
    void replace(std::vector<Region> regions);
    /// Adds, names, colours and selects a region. Throws UsageError if it has no pixel on the image, or at
    /// kMaxRegions.
    void add(RegionShape shape, std::vector<RegionPoint> points);
    /// Adds a copy next to it with a new name, unlocked and selected. Throws UsageError like add().
    void duplicate(std::size_t index);
    /// Adds a copy of an external region, like duplicate().
    void paste(const Region& region);
    /// False if it is locked.
    bool remove(std::size_t index);
    /// Throws UsageError if the name is invalid or taken.
    void rename(std::size_t index, std::string name);
    /// "#rrggbb". Throws UsageError.
    void recolour(std::size_t index, std::string colour);
    void lock(std::size_t index, bool on);
    /// Moves by whole pixels. False if it is locked or would leave the image; the same for resize().
    bool move(std::size_t index, double dx, double dy);
    /// Moves its lower right corner or the end of the line, or scales a polygon.
    bool resize(std::size_t index, double dx, double dy);
    /// False if it is locked, has three corners or is no polygon.
    bool remove_corner(std::size_t index, std::size_t corner);

    /// Moves by whole pixels from `from`, and stays at the last position on the
    /// image; with `even` a box becomes a square, and a line snaps to 45°. begin_drag() returns false, and
    /// nothing is dragged, if the region is locked.
    bool begin_drag(const RegionGrip& grip, const RegionPoint& from);
    void drag(const RegionPoint& to, bool even);
    void end_drag();
    void cancel_drag();
    bool dragging() const { return drag_.has_value(); }

    /// Hit test within `tolerance` px: first the handles of the selected region unless it is locked, then the
    /// nearest outline, then the smallest region around the point.
    std::optional<RegionGrip> hit(const RegionPoint& point, double tolerance) const;
    /// Minimum length of a side with a middle handle, px.
    static double shortest_side(double tolerance) { return 5 * tolerance; }

private:
    struct Drag {
        RegionGrip grip;
        RegionPoint from;
        Region start, original;
        bool outside = false; ///< it was off the image when the drag began and may stay there
    };
    void splice(std::size_t at, std::size_t removed, std::vector<Region> added);
    bool change_one(std::size_t index, Region changed);
    bool fits(const Region& region) const;
    bool touches_picture(const Region& region) const;
    std::string size_text() const;
    void insert_copy(const Region& region);
    std::string next_colour() const;
    bool taken(const std::string& name, Index except = {}) const;
    std::string fresh_name(const std::string& like) const;

    std::vector<Region> regions_;
    Index selected_;
    std::uint64_t revision_ = 1, shared_revision_ = 0;
    std::shared_ptr<const std::vector<Region>> shared_; ///< as of shared_revision_
    int width_ = 0, height_ = 0;
    std::optional<Drag> drag_;
};

} // namespace specklescope
