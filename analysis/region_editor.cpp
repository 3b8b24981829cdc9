#include "analysis/region_editor.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

namespace specklescope {

namespace {

constexpr double kCopyOffset = 10; ///< px

Region moved(Region region, double dx, double dy) {
    for (RegionPoint& point : region.points)
        point = {point.x + dx, point.y + dy};
    return region;
}

/// "vessel 12" → "vessel", 12; without a number 0.
std::pair<std::string, std::uint64_t> numbered(const std::string& name) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const std::size_t count = name.size() - digits;
    if (count == 0 || count > 9 || digits < 2 || name[digits - 1] != ' ')
        return {name, 0};
    return {name.substr(0, digits - 1), std::stoull(name.substr(digits))};
}

} // namespace

const std::vector<std::string>& region_palette() {
    static const std::vector<std::string> colours = {"#ee8866", "#99ddff", "#bbcc33", "#ffaabb",
                                                     "#44bb99", "#eedd88", "#77aadd"};
    return colours;
}

const std::string& region_colour(const Region& region, std::size_t index) {
    return region.colour.empty() ? region_palette()[index % region_palette().size()] : region.colour;
}

void RegionEditor::set_picture(int width, int height) {
    width_ = width;
    height_ = height;
}

void RegionEditor::select(Index index) { selected_ = index && *index < regions_.size() ? index : Index(); }

void RegionEditor::select_next(int step) {
    const auto count = static_cast<std::ptrdiff_t>(regions_.size());
    if (count == 0)
        return;
    const std::ptrdiff_t none = step > 0 ? -1 : count;
    const std::ptrdiff_t now = selected_ ? static_cast<std::ptrdiff_t>(*selected_) : none;
    selected_ = static_cast<std::size_t>((now + step + count) % count);
}

bool RegionEditor::touches_picture(const Region& region) const {
    if (width_ <= 0 || height_ <= 0)
        return true;
    std::vector<RowSpan> spans;
    return region_spans(region, width_, height_, spans) != RegionFit::outside;
}

bool RegionEditor::fits(const Region& region) const {
    try {
        check_region(region);
        return touches_picture(region);
    } catch (const UsageError&) {
        return false;
    }
}

std::string RegionEditor::size_text() const { return std::to_string(width_) + "×" + std::to_string(height_); }

bool RegionEditor::taken(const std::string& name, Index except) const {
    for (std::size_t i = 0; i < regions_.size(); ++i)
        if (i != except && regions_[i].name == name)
            return true;
    return false;
}

std::string RegionEditor::fresh_name(const std::string& like) const {
    const std::string base = numbered(like).first;
    std::uint64_t last = taken(base) ? 1 : 0;
    for (const Region& region : regions_)
        if (const auto [other, number] = numbered(region.name); other == base)
            last = std::max(last, number);
    std::string fresh;
    do // numbers with more digits than numbered() reads may be taken as well
        fresh = base + " " + std::to_string(++last);
    while (taken(fresh));
    return fresh.size() <= kMaxRegionName ? fresh : fresh_name("region");
}

std::string RegionEditor::next_colour() const {
    const std::vector<std::string>& palette = region_palette();
    std::vector<std::size_t> used(palette.size());
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        const auto at = std::find(palette.begin(), palette.end(), region_colour(regions_[i], i));
        if (at != palette.end())
            ++used[static_cast<std::size_t>(at - palette.begin())];
    }
    return palette[static_cast<std::size_t>(std::min_element(used.begin(), used.end()) - used.begin())];
}

void RegionEditor::splice(std::size_t at, std::size_t removed, std::vector<Region> added) {
    const auto first = regions_.begin() + static_cast<std::ptrdiff_t>(at);
    regions_.erase(first, first + static_cast<std::ptrdiff_t>(removed));
    const std::size_t count = added.size();
    regions_.insert(regions_.begin() + static_cast<std::ptrdiff_t>(at),
                    std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
    ++revision_;
    selected_ = count == 1 ? Index(at) : Index();
}

void RegionEditor::reset(std::vector<Region> regions) {
    check_regions(regions);
    cancel_drag();
    splice(0, regions_.size(), std::move(regions));
    selected_.reset();
}

void RegionEditor::restore(const std::vector<Region>& regions) {
    cancel_drag();
    const auto [now, then] = std::mismatch(regions_.begin(), regions_.end(), regions.begin(), regions.end());
    const auto [now_end, then_end] = std::mismatch(regions_.rbegin(), std::make_reverse_iterator(now),
                                                   regions.rbegin(), std::make_reverse_iterator(then));
    if (now == regions_.end() && then == regions.end())
        return;
    splice(static_cast<std::size_t>(now - regions_.begin()), static_cast<std::size_t>(now_end.base() - now),
           {then, then_end.base()});
}

void RegionEditor::replace(std::vector<Region> regions) {
    check_regions(regions);
    for (const Region& region : regions)
        if (!touches_picture(region))
            throw UsageError("Region '" + region.name + "' has no pixel in the image of " + size_text() +
                             "; the regions that are there stay.");
    cancel_drag();
    splice(0, regions_.size(), std::move(regions));
    selected_.reset();
}

void RegionEditor::add(RegionShape shape, std::vector<RegionPoint> points) {
    Region region{fresh_name("region"), shape, std::move(points), next_colour(), false};
    if (regions_.size() >= kMaxRegions)
        throw UsageError("There are " + std::to_string(kMaxRegions) + " regions, as many as are allowed.");
    check_region(region);
    if (!touches_picture(region))
        throw UsageError("The " + to_string(shape) + " has no pixel in the image of " + size_text() +
                         " and was not added. Draw it on the image.");
    cancel_drag();
    splice(regions_.size(), 0, {std::move(region)});
}

void RegionEditor::insert_copy(const Region& region) {
    if (regions_.size() >= kMaxRegions)
        throw UsageError("There are " + std::to_string(kMaxRegions) + " regions, as many as are allowed.");
    Region copy = region;
    if (taken(copy.name))
        copy.name = fresh_name(region.name);
    copy.colour = next_colour();
    copy.locked = false;
    // Next to it on a side with space; otherwise on top of it.
    constexpr std::array<RegionPoint, 5> kSides = {{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}, {0, 0}}};
    for (const RegionPoint& side : kSides) {
        Region there = moved(copy, side.x * kCopyOffset, side.y * kCopyOffset);
        if (!fits(there))
            continue;
        cancel_drag();
        return splice(regions_.size(), 0, {std::move(there)});
    }
    throw UsageError("The copy of region '" + region.name + "' would have no pixel in the image of " +
                     size_text() + " and was not added; move the region first.");
}

void RegionEditor::duplicate(std::size_t index) {
    if (index < regions_.size())
        insert_copy(Region(regions_[index]));
}

void RegionEditor::paste(const Region& region) { insert_copy(region); }

bool RegionEditor::remove(std::size_t index) {
    if (index >= regions_.size() || regions_[index].locked)
        return false;
    cancel_drag();
    splice(index, 1, {});
    return true;
}

bool RegionEditor::change_one(std::size_t index, Region changed) {
    cancel_drag();
    if (changed == regions_[index])
        return false;
    const Index selected = selected_;
    splice(index, 1, {std::move(changed)});
    selected_ = selected;
    return true;
}

void RegionEditor::rename(std::size_t index, std::string name) {
    if (index >= regions_.size())
        return;
    Region changed = regions_[index];
    changed.name = std::move(name);
    check_region(changed);
    if (taken(changed.name, index))
        throw UsageError("There is a region '" + changed.name +
                         "' already; give each one a name of its own.");
    change_one(index, std::move(changed));
}

void RegionEditor::recolour(std::size_t index, std::string colour) {
    if (index >= regions_.size())
        return;
    Region changed = regions_[index];
    changed.colour = std::move(colour);
    check_region(changed);
    change_one(index, std::move(changed));
}

void RegionEditor::lock(std::size_t index, bool on) {
    if (index >= regions_.size())
        return;
    Region changed = regions_[index];
    changed.locked = on;
    change_one(index, std::move(changed));
}

bool RegionEditor::move(std::size_t index, double dx, double dy) {
    if (index >= regions_.size() || regions_[index].locked)
        return false;
    Region there = moved(regions_[index], dx, dy);
    if (!fits(there) && touches_picture(regions_[index]))
        return false;
    return change_one(index, std::move(there));
}

// Reshaping of regions by handles, and hit tests.

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

/// Handles of a box from the upper left corner clockwise: the edges moved by each.
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

/// The box with the edges of one handle moved; it may flip.
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
    // A box without extent could not be reshaped again, unless it is a line.
    const double least = 1;
    const double wide = std::abs(box.width()) < least ? with_sign(least, box.width()) : box.width();
    const double high = std::abs(box.height()) < least ? with_sign(least, box.height()) : box.height();
    for (RegionPoint& p : region.points)
        p = {was.width() > 0 ? box.x0 + (p.x - was.x0) / was.width() * wide : p.x,
             was.height() > 0 ? box.y0 + (p.y - was.y0) / was.height() * high : p.y};
    return region;
}

/// End of a line from `from`, in the nearest of eight directions.
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

/// The handle nearest to the point, and its distance.
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
    if (grip.part == RegionGrip::Part::middle) { // drag the new corner
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
        return; // it stays at its last position
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
