// Regions under the hand: a set with a selection, changes that can be undone, and what lies under a point of
// the picture. No window: ui/regions/ draws it.
#pragma once

#include "analysis/region.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// "#rrggbb", to be told apart by the colour-blind too and light enough for dark pictures: the light scheme
/// of Tol, Colour Schemes (2021), without its greys.
const std::vector<std::string>& region_palette();
/// Its own, or where it has none the one of its place in the set.
const std::string& region_colour(const Region& region, std::size_t index);

/// The outline as corners that straight lines join; closed unless it is a line. Ellipses have 96 corners.
std::vector<RegionPoint> region_corners(const Region& region);

/// What may be dragged: an ellipse, a rectangle and a freehand outline by the box around them (8 handles from
/// the upper left corner clockwise), a polygon and a line by their points.
std::vector<RegionPoint> region_handles(const Region& region);

/// A part of a region under the mouse.
struct RegionGrip {
    enum class Part : std::uint8_t {
        inside,
        outline,
        handle, ///< of region_handles()
        middle  ///< of the side of a polygon behind corner `index`: a new corner when it is dragged
    } part = Part::inside;
    std::size_t region = 0, index = 0;
    bool operator==(const RegionGrip&) const = default;
};

class RegionEditor {
public:
    using Index = std::optional<std::size_t>;
    static constexpr std::size_t kMaxSteps = 1000; ///< of undo

    const std::vector<Region>& regions() const { return regions_; }
    std::uint64_t revision() const { return revision_; } ///< changes with every change of the regions
    /// The picture that regions must touch; none of 0×0.
    void set_picture(int width, int height);
    int width() const { return width_; }
    int height() const { return height_; }

    Index selected() const { return selected_; }
    void select(Index index);
    /// The next one, or with −1 the one before, round and round.
    void select_next(int step);

    /// Begins anew: nothing to undo.
    void reset(std::vector<Region> regions);
    /// Others in their place, all or nothing. Throws UsageError as check_regions(), and if one of them has no
    /// pixel on the picture.
    void replace(std::vector<Region> regions);
    /// Named and coloured, and selected. Throws UsageError if it has no pixel on the picture, or there are
    /// kMaxRegions already.
    void add(RegionShape shape, std::vector<RegionPoint> points);
    /// Beside it, with a name of its own and not locked; selected. Throws UsageError as add().
    void duplicate(std::size_t index);
    /// A copy that was kept outside, as duplicate().
    void paste(const Region& region);
    /// False of a locked one.
    bool remove(std::size_t index);
    /// Throws UsageError if the name is not allowed, or another region's.
    void rename(std::size_t index, std::string name);
    /// "#rrggbb". Throws UsageError.
    void recolour(std::size_t index, std::string colour);
    void lock(std::size_t index, bool on);
    /// By whole pixels. False if it is locked or would leave the picture; so resize().
    bool move(std::size_t index, double dx, double dy);
    /// Its lower right corner, or the end of the line, or all of a polygon in proportion.
    bool resize(std::size_t index, double dx, double dy);
    /// False of a locked one, of one with three corners, and of what is no polygon.
    bool remove_corner(std::size_t index, std::size_t corner);

    /// One step however far it goes. Moves by whole pixels from `from` on, and stays where it was last on the
    /// picture; with `even` a box becomes a square, and a line runs in steps of 45°. False, and nothing is
    /// dragged, if the region is locked.
    bool begin_drag(const RegionGrip& grip, const RegionPoint& from);
    void drag(const RegionPoint& to, bool even);
    void end_drag();
    void cancel_drag();
    bool dragging() const { return drag_.has_value(); }

    bool can_undo() const { return !undo_.empty(); }
    bool can_redo() const { return !redo_.empty(); }
    /// Also end a drag. False if there is nothing.
    bool undo();
    bool redo();

    /// What is within `tolerance` px of a point: first the handles of the selected region unless it is
    /// locked, then the nearest outline, then of the regions around the point the smallest.
    std::optional<RegionGrip> hit(const RegionPoint& point, double tolerance) const;
    /// Middles of sides are offered only where a side is at least this long, px.
    static double shortest_side(double tolerance) { return 5 * tolerance; }

private:
    struct Step { ///< at `at`, `before` gave way to `after`
        std::size_t at = 0;
        std::vector<Region> before, after;
    };
    struct Drag {
        RegionGrip grip;
        RegionPoint from;
        Region start, original;
        bool outside = false; ///< it was off the picture when the drag began: it may stay there
    };
    void splice(std::size_t at, std::size_t removed, std::vector<Region> added);
    void change(std::size_t at, std::size_t removed, std::vector<Region> added);
    bool change_one(std::size_t index, Region changed);
    bool fits(const Region& region) const;
    bool touches_picture(const Region& region) const;
    std::string size_text() const;
    void insert_copy(const Region& region);
    std::string next_colour() const;
    bool taken(const std::string& name, Index except = {}) const;
    std::string fresh_name(const std::string& like) const;
    void forget_oldest();

    std::vector<Region> regions_;
    Index selected_;
    std::uint64_t revision_ = 1;
    int width_ = 0, height_ = 0;
    std::optional<Drag> drag_;
    std::deque<Step> undo_;
    std::vector<Step> redo_;
};

} // namespace specklescope
