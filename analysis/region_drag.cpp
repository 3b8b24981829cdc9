// Regions reshaped by their handles, and what lies under a point.
#include "analysis/region_editor.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace specklescope {

namespace {

struct Box {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    double width() const { return x1 - x0; }
    double height() const { return y1 - y0; }
};

Box box_of(const std::vector<RegionPoint>& points) {
    Box box{points[0].x, points[0].y, points[0].x, points[0].y};
    for (const RegionPoint& p : points) {
        box.x0 = std::min(box.x0, p.x);
        box.y0 = std::min(box.y0, p.y);
        box.x1 = std::max(box.x1, p.x);
        box.y1 = std::max(box.y1, p.y);
    }
    return box;
}

bool by_box(RegionShape shape) {
    return shape == RegionShape::rectangle || shape == RegionShape::ellipse || shape == RegionShape::freehand;
}

/// Handles of a box from the upper left corner clockwise: which of its edges each moves.
struct Edges {
    bool left, top, right, bottom;
    bool corner() const { return (left || right) && (top || bottom); }
};
constexpr Edges edges_of(std::size_t handle) {
    const bool left = handle == 0 || handle == 6 || handle == 7;
    const bool right = handle >= 2 && handle <= 4;
    return {left, handle <= 2, right, handle >= 4 && handle <= 6};
}

double with_sign(double size, double sign) { return sign < 0 ? -size : size; }

/// The box with the edges of one handle moved; its sides may turn over.
Box dragged(Box box, Edges edges, double dx, double dy, bool even) {
    if (edges.left)
        box.x0 += dx;
    if (edges.right)
        box.x1 += dx;
    if (edges.top)
        box.y0 += dy;
    if (edges.bottom)
        box.y1 += dy;
    if (!even || !edges.corner())
        return box;
    const double side = std::max(std::abs(box.width()), std::abs(box.height()));
    const double wide = with_sign(side, box.width()), high = with_sign(side, box.height());
    if (edges.left)
        box.x0 = box.x1 - wide;
    else
        box.x1 = box.x0 + wide;
    if (edges.top)
        box.y0 = box.y1 - high;
    else
        box.y1 = box.y0 + high;
    return box;
}

Region in_box(Region region, const Box& box) {
    if (region.shape != RegionShape::freehand) {
        region.points = {{std::min(box.x0, box.x1), std::min(box.y0, box.y1)},
                         {std::max(box.x0, box.x1), std::max(box.y0, box.y1)}};
        return region;
    }
    const Box was = box_of(region.points);
    // An outline drawn out to nothing could not be drawn back; one that is a line stays one.
    const double least = 1;
    const double wide = std::abs(box.width()) < least ? with_sign(least, box.width()) : box.width();
    const double high = std::abs(box.height()) < least ? with_sign(least, box.height()) : box.height();
    for (RegionPoint& p : region.points)
        p = {was.width() > 0 ? box.x0 + (p.x - was.x0) / was.width() * wide : p.x,
             was.height() > 0 ? box.y0 + (p.y - was.y0) / was.height() * high : p.y};
    return region;
}

/// The end of a line from `from`, in the nearest direction of eight.
RegionPoint in_steps(const RegionPoint& from, const RegionPoint& to) {
    const double dx = to.x - from.x, dy = to.y - from.y;
    const double size = std::max(std::abs(dx), std::abs(dy));
    const double turn = std::round(std::atan2(dy, dx) / (std::numbers::pi / 4)) * (std::numbers::pi / 4);
    return {from.x + std::round(std::cos(turn)) * size, from.y + std::round(std::sin(turn)) * size};
}

double distance(const RegionPoint& a, const RegionPoint& b) { return std::hypot(a.x - b.x, a.y - b.y); }

double distance_to_side(const RegionPoint& p, const RegionPoint& a, const RegionPoint& b) {
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const double part =
        length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0;
    return distance(p, {a.x + part * dx, a.y + part * dy});
}

RegionPoint middle(const RegionPoint& a, const RegionPoint& b) { return {(a.x + b.x) / 2, (a.y + b.y) / 2}; }

bool even_odd(const std::vector<RegionPoint>& corners, const RegionPoint& p) {
    bool inside = false;
    for (std::size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
        const RegionPoint &a = corners[i], &b = corners[j];
        if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) * (b.x - a.x) / (b.y - a.y))
            inside = !inside;
    }
    return inside;
}

/// The handle nearest to the point, and how far it is.
void nearest_handle(const Region& region, std::size_t index, const RegionPoint& point, double tolerance,
                    std::optional<RegionGrip>& found) {
    double best = tolerance;
    const std::vector<RegionPoint> handles = region_handles(region);
    for (std::size_t i = 0; i < handles.size(); ++i)
        if (const double far = distance(handles[i], point); far <= best) {
            best = far;
            found = RegionGrip{RegionGrip::Part::handle, index, i};
        }
    if (found || region.shape != RegionShape::polygon)
        return;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const RegionPoint &a = handles[i], &b = handles[(i + 1) % handles.size()];
        const double far = distance(middle(a, b), point);
        if (far <= best && distance(a, b) >= RegionEditor::shortest_side(tolerance)) {
            best = far;
            found = RegionGrip{RegionGrip::Part::middle, index, i};
        }
    }
}

} // namespace

std::vector<RegionPoint> region_corners(const Region& region) {
    if (region.shape != RegionShape::rectangle && region.shape != RegionShape::ellipse)
        return region.points;
    const Box box = box_of(region.points);
    if (region.shape == RegionShape::rectangle)
        return {{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}};
    constexpr int kCorners = 96;
    std::vector<RegionPoint> corners;
    for (int i = 0; i < kCorners; ++i) {
        const double angle = 2 * std::numbers::pi * i / kCorners;
        corners.push_back({(box.x0 + box.x1) / 2 + box.width() / 2 * std::cos(angle),
                           (box.y0 + box.y1) / 2 + box.height() / 2 * std::sin(angle)});
    }
    return corners;
}

std::vector<RegionPoint> region_handles(const Region& region) {
    if (!by_box(region.shape))
        return region.points;
    const Box b = box_of(region.points);
    const double x = (b.x0 + b.x1) / 2, y = (b.y0 + b.y1) / 2;
    return {{b.x0, b.y0}, {x, b.y0}, {b.x1, b.y0}, {b.x1, y},
            {b.x1, b.y1}, {x, b.y1}, {b.x0, b.y1}, {b.x0, y}};
}

bool RegionEditor::begin_drag(const RegionGrip& grip, const RegionPoint& from) {
    cancel_drag();
    if (grip.region >= regions_.size() || regions_[grip.region].locked)
        return false;
    const Region& region = regions_[grip.region];
    Drag drag{grip, from, region, region, !touches_picture(region)};
    if (grip.part == RegionGrip::Part::middle) { // the new corner is what is dragged
        std::vector<RegionPoint>& points = drag.start.points;
        if (region.shape != RegionShape::polygon || grip.index >= points.size() ||
            points.size() >= kMaxRegionPoints)
            return false;
        const RegionPoint at = middle(points[grip.index], points[(grip.index + 1) % points.size()]);
        points.insert(points.begin() + static_cast<std::ptrdiff_t>(grip.index) + 1,
                      {std::round(at.x), std::round(at.y)});
        drag.grip = {RegionGrip::Part::handle, grip.region, grip.index + 1};
    }
    if (drag.grip.part == RegionGrip::Part::handle && drag.grip.index >= region_handles(drag.start).size())
        return false;
    drag_ = std::move(drag);
    selected_ = grip.region;
    return true;
}

void RegionEditor::drag(const RegionPoint& to, bool even) {
    if (!drag_)
        return;
    const double dx = std::round(to.x - drag_->from.x), dy = std::round(to.y - drag_->from.y);
    Region next = drag_->start;
    if (drag_->grip.part != RegionGrip::Part::handle) {
        for (RegionPoint& p : next.points)
            p = {p.x + dx, p.y + dy};
    } else if (by_box(next.shape)) {
        next = in_box(next, dragged(box_of(next.points), edges_of(drag_->grip.index), dx, dy, even));
    } else {
        RegionPoint& p = next.points[drag_->grip.index];
        p = {p.x + dx, p.y + dy};
        if (even && next.shape == RegionShape::line)
            p = in_steps(next.points[1 - drag_->grip.index], p);
    }
    try {
        check_region(next);
    } catch (const UsageError&) {
        return; // it stays where it was last
    }
    Region& now = regions_[drag_->grip.region];
    if (next == now || (!drag_->outside && !touches_picture(next)))
        return;
    now = std::move(next);
    ++revision_;
}

void RegionEditor::end_drag() {
    if (!drag_)
        return;
    const Drag drag = *std::exchange(drag_, {});
    Region done = std::exchange(regions_[drag.grip.region], drag.original);
    change_one(drag.grip.region, std::move(done));
}

void RegionEditor::cancel_drag() {
    if (!drag_)
        return;
    const Drag drag = *std::exchange(drag_, {});
    if (!(regions_[drag.grip.region] == drag.original)) {
        regions_[drag.grip.region] = drag.original;
        ++revision_;
    }
}

bool RegionEditor::resize(std::size_t index, double dx, double dy) {
    if (index >= regions_.size() || regions_[index].locked)
        return false;
    Region next = regions_[index];
    if (next.shape == RegionShape::line) {
        next.points[1] = {next.points[1].x + dx, next.points[1].y + dy};
    } else {
        Box box = box_of(next.points);
        const Box was = box;
        box.x1 = std::max(box.x0, box.x1 + dx);
        box.y1 = std::max(box.y0, box.y1 + dy);
        if (by_box(next.shape)) {
            next = in_box(std::move(next), box);
        } else {
            for (RegionPoint& p : next.points)
                p = {was.width() > 0 ? box.x0 + (p.x - was.x0) / was.width() * std::max(1.0, box.width())
                                     : p.x,
                     was.height() > 0 ? box.y0 + (p.y - was.y0) / was.height() * std::max(1.0, box.height())
                                      : p.y};
        }
    }
    return fits(next) && change_one(index, std::move(next));
}

bool RegionEditor::remove_corner(std::size_t index, std::size_t corner) {
    if (index >= regions_.size())
        return false;
    const Region& region = regions_[index];
    if (region.locked || region.shape != RegionShape::polygon || region.points.size() <= 3 ||
        corner >= region.points.size())
        return false;
    Region next = region;
    next.points.erase(next.points.begin() + static_cast<std::ptrdiff_t>(corner));
    return fits(next) && change_one(index, std::move(next));
}

std::optional<RegionGrip> RegionEditor::hit(const RegionPoint& point, double tolerance) const {
    std::optional<RegionGrip> found;
    if (selected_ && !regions_[*selected_].locked)
        nearest_handle(regions_[*selected_], *selected_, point, tolerance, found);
    if (found)
        return found;
    double nearest = tolerance, smallest = std::numeric_limits<double>::infinity();
    std::optional<RegionGrip> around;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        const Box box = box_of(regions_[i].points);
        if (point.x < box.x0 - tolerance || point.x > box.x1 + tolerance || point.y < box.y0 - tolerance ||
            point.y > box.y1 + tolerance)
            continue;
        const std::vector<RegionPoint> corners = region_corners(regions_[i]);
        const bool line = regions_[i].shape == RegionShape::line;
        for (std::size_t k = 0; k < corners.size() - (line ? 1 : 0); ++k)
            if (const double far = distance_to_side(point, corners[k], corners[(k + 1) % corners.size()]);
                far <= nearest) {
                nearest = far;
                found = RegionGrip{RegionGrip::Part::outline, i, 0};
            }
        const double area = box.width() * box.height();
        if (!line && area <= smallest && even_odd(corners, point)) {
            smallest = area;
            around = RegionGrip{RegionGrip::Part::inside, i, 0};
        }
    }
    return found ? found : around;
}

} // namespace specklescope
