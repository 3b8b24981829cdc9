#include "analysis/region.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

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
    if (!is_utf8(region.name)) // a file would contain another name
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
            throw UsageError(called(region) + "has a coordinate outside any image; allowed: −" +
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

// Converts outlines to row spans in integers: coordinates are multiples of 1/1024 px, and no product is
// rounded. An outline includes the pixel centres on it, in any direction.

namespace {

constexpr std::int64_t kUnit = 1024; ///< grid units per pixel
__extension__ using Wide = __int128;

/// Corner in grid units: |x|, |y| ≤ 2²⁷.
struct Node {
    std::int64_t x = 0, y = 0;
};

Node node(const RegionPoint& point) {
    const auto round = [](double v) {
        return static_cast<std::int64_t>(std::floor(v * static_cast<double>(kUnit) + 0.5));
    };
    return {round(point.x), round(point.y)};
}

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { // b > 0
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

/// Pixels first…last of a row.
struct Interval {
    std::int64_t first = 0, last = -1;
};

/// Collects the intervals of rows, from top to bottom.
class Rows {
public:
    Rows(int width, int height, std::vector<RowSpan>& spans)
        : width_(width), height_(height), spans_(spans) {}

    int height() const { return height_; }
    /// Intervals may overlap and be in any order. Consumes them.
    void add(std::int64_t y, std::vector<Interval>& row) {
        std::erase_if(row, [](const Interval& part) { return part.first > part.last; });
        if (row.empty())
            return;
        if (y < 0 || y >= height_) {
            clipped_ = true;
            return row.clear();
        }
        std::sort(row.begin(), row.end(),
                  [](const Interval& a, const Interval& b) { return a.first < b.first; });
        Interval whole = row.front();
        for (const Interval& part : row) {
            if (part.first > whole.last + 1) {
                put(y, whole);
                whole = part;
            }
            whole.last = std::max(whole.last, part.last);
        }
        put(y, whole);
        row.clear();
    }
    /// Records that the region has pixels above or below the image.
    void beyond() { clipped_ = true; }
    RegionFit fit() const {
        return !any_ ? RegionFit::outside : clipped_ ? RegionFit::clipped : RegionFit::whole;
    }

private:
    void put(std::int64_t y, const Interval& part) {
        const std::int64_t first = std::max<std::int64_t>(part.first, 0);
        const std::int64_t last = std::min<std::int64_t>(part.last, width_ - 1);
        clipped_ = clipped_ || first != part.first || last != part.last;
        if (first > last)
            return;
        any_ = true;
        if (spans_.size() >= kMaxSpans)
            throw UsageError("The regions together have more than " + std::to_string(kMaxSpans) +
                             " runs of pixels; take fewer or simpler ones.");
        spans_.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(y),
                          static_cast<std::int32_t>(last - first + 1)});
    }

    int width_, height_;
    std::vector<RowSpan>& spans_;
    bool any_ = false, clipped_ = false;
};

/// Image rows among top…bottom, in grid units; records rows outside.
Interval rows_between(std::int64_t top, std::int64_t bottom, Rows& rows) {
    const Interval all{ceil_div(top, kUnit), floor_div(bottom, kUnit)};
    const Interval inside{std::max<std::int64_t>(all.first, 0),
                          std::min<std::int64_t>(all.last, rows.height() - 1)};
    if (inside.first != all.first || inside.last != all.last)
        rows.beyond();
    return inside;
}

void add_rectangle(Node a, Node b, Rows& rows) {
    const Interval columns{ceil_div(std::min(a.x, b.x), kUnit), floor_div(std::max(a.x, b.x), kUnit)};
    const Interval lines = rows_between(std::min(a.y, b.y), std::max(a.y, b.y), rows);
    std::vector<Interval> row;
    for (std::int64_t y = lines.first; y <= lines.last; ++y) {
        row.push_back(columns);
        rows.add(y, row);
    }
}

/// ((x − cx)/a)² + ((y − cy)/b)² ≤ 1 in doubled units, so that the centre is an integer; |2x − …| ≤ 2²⁹.
void add_ellipse(Node a, Node b, Rows& rows) {
    const std::int64_t sum_x = a.x + b.x, sum_y = a.y + b.y;
    const std::int64_t width = std::abs(a.x - b.x), height = std::abs(a.y - b.y);
    const auto holds = [&](std::int64_t column, std::int64_t line) {
        const Wide dx = 2 * column * kUnit - sum_x, dy = 2 * line * kUnit - sum_y;
        const Wide w = width, h = height;
        return dx * dx <= w * w && dy * dy <= h * h &&
               dx * dx * (h * h) + dy * dy * (w * w) <= w * w * (h * h);
    };
    const Interval all{ceil_div(std::min(a.x, b.x), kUnit), floor_div(std::max(a.x, b.x), kUnit)};
    const Interval lines = rows_between(std::min(a.y, b.y), std::max(a.y, b.y), rows);
    std::vector<Interval> row;
    for (std::int64_t y = lines.first; y <= lines.last; ++y) {
        // Columns nearest to the centre on both sides, then the last one inside by bisection.
        const std::int64_t left = floor_div(sum_x, 2 * kUnit), right = ceil_div(sum_x, 2 * kUnit);
        Interval part{right, left};
        if (holds(left, y) && left >= all.first) {
            std::int64_t in = left, out = all.first - 1;
            while (in - out > 1)
                (holds((in + out) / 2, y) ? in : out) = (in + out) / 2;
            part.first = in;
        }
        if (holds(right, y) && right <= all.last) {
            std::int64_t in = right, out = all.last + 1;
            while (out - in > 1)
                (holds(in + (out - in) / 2, y) ? in : out) = in + (out - in) / 2;
            part.last = in;
        }
        row.push_back(part);
        rows.add(y, row);
    }
}

struct Edge {
    Node top, bottom; ///< top.y ≤ bottom.y
};

/// Maximum number of crossings of a polygon with image rows: two per span. They are sorted row by row; a
/// hundred times as many, possible with 65536 corners, would take minutes.
constexpr std::int64_t kMostCrossings = 2 * static_cast<std::int64_t>(kMaxSpans);

/// Position where a non-horizontal edge crosses the line y (units): floor and ceiling, in pixels.
Interval crossing(const Edge& edge, std::int64_t y) {
    const std::int64_t dy = edge.bottom.y - edge.top.y;
    // |products| ≤ 2²⁸·2²⁸; the sum has the denominator kUnit·dy
    const std::int64_t over = edge.top.x * dy + (y - edge.top.y) * (edge.bottom.x - edge.top.x);
    return {floor_div(over, kUnit * dy), ceil_div(over, kUnit * dy)};
}

/// Fills by the even-odd rule over crossings. Outlines that only touch a row are added separately. The order
/// of two crossings with equal floor and ceiling does not matter: no pixel centre is between them.
class Polygon {
public:
    explicit Polygon(const std::vector<RegionPoint>& points) {
        edges_.reserve(points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            Node a = node(points[i]), b = node(points[(i + 1) % points.size()]);
            if (a.y > b.y)
                std::swap(a, b);
            edges_.push_back({a, b});
            bottom_ = i == 0 ? b.y : std::max(bottom_, b.y);
        }
        std::sort(edges_.begin(), edges_.end(),
                  [](const Edge& a, const Edge& b) { return a.top.y < b.top.y; });
    }

    /// `name`: the region's name in errors.
    void add_to(Rows& rows, const std::string& name) {
        check_crossings(rows.height(), name);
        const Interval lines = rows_between(edges_.front().top.y, bottom_, rows);
        std::vector<Interval> row;
        for (std::int64_t line = lines.first; line <= lines.last; ++line) {
            const std::int64_t y = line * kUnit;
            for (; next_ < edges_.size() && edges_[next_].top.y <= y; ++next_)
                active_.push_back(edges_[next_]);
            std::erase_if(active_, [y](const Edge& edge) { return edge.bottom.y < y; });
            add_inside(y, row);
            for (const Edge& edge : active_)
                add_touching(edge, y, row);
            rows.add(line, row);
        }
    }

private:
    void check_crossings(int height, const std::string& name) const {
        std::int64_t crossings = 0;
        for (const Edge& edge : edges_) {
            const std::int64_t first = std::max<std::int64_t>(ceil_div(edge.top.y, kUnit), 0);
            const std::int64_t last = std::min<std::int64_t>(floor_div(edge.bottom.y, kUnit), height - 1);
            crossings += std::max<std::int64_t>(last - first + 1, 0);
        }
        if (crossings > kMostCrossings)
            throw UsageError("Region '" + name + "' has an outline that crosses rows of the image " +
                             std::to_string(crossings) + " times; allowed: up to " +
                             std::to_string(kMostCrossings) + ", take one with fewer corners.");
    }

    void add_inside(std::int64_t y, std::vector<Interval>& row) {
        crossings_.clear();
        for (const Edge& edge : active_)
            if (edge.top.y <= y && y < edge.bottom.y)
                crossings_.push_back(crossing(edge, y));
        std::sort(crossings_.begin(), crossings_.end(), [](const Interval& a, const Interval& b) {
            return std::pair(a.first, a.last) < std::pair(b.first, b.last);
        });
        for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2)
            row.push_back({crossings_[i].last, crossings_[i + 1].first});
    }

    static void add_touching(const Edge& edge, std::int64_t y, std::vector<Interval>& row) {
        if (edge.top.y == y && edge.bottom.y == y)
            row.push_back({ceil_div(std::min(edge.top.x, edge.bottom.x), kUnit),
                           floor_div(std::max(edge.top.x, edge.bottom.x), kUnit)});
        else if (edge.bottom.y == y && edge.bottom.x % kUnit == 0)
            row.push_back({edge.bottom.x / kUnit, edge.bottom.x / kUnit});
    }

    std::vector<Edge> edges_, active_;
    std::vector<Interval> crossings_;
    std::size_t next_ = 0;
    std::int64_t bottom_ = 0;
};

/// The nearest integer pixel; ties go to the larger.
std::int64_t nearest(std::int64_t units) { return floor_div(2 * units + kUnit, 2 * kUnit); }

/// Along the longer axis u one pixel per step, with v computed from the line.
void add_line(Node a, Node b, Rows& rows) {
    const bool steep = std::abs(b.y - a.y) > std::abs(b.x - a.x);
    if (steep) {
        std::swap(a.x, a.y);
        std::swap(b.x, b.y);
    }
    if (a.x > b.x)
        std::swap(a, b);
    const std::int64_t du = b.x - a.x, dv = b.y - a.y;
    std::vector<RowSpan> pixels;
    for (std::int64_t u = nearest(a.x); u <= nearest(b.x); ++u) {
        const std::int64_t along = std::clamp(u * kUnit, a.x, b.x) - a.x;
        const std::int64_t v = du == 0 ? nearest(a.y) // v = a.y + along·dv/du, rounded
                                       : floor_div(2 * (a.y * du + along * dv) + kUnit * du, 2 * kUnit * du);
        pixels.push_back(
            {static_cast<std::int32_t>(steep ? v : u), static_cast<std::int32_t>(steep ? u : v), 1});
    }
    std::sort(pixels.begin(), pixels.end(),
              [](const RowSpan& p, const RowSpan& q) { return std::pair(p.y, p.x) < std::pair(q.y, q.x); });
    std::vector<Interval> row;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        row.push_back({pixels[i].x, pixels[i].x});
        if (i + 1 == pixels.size() || pixels[i + 1].y != pixels[i].y)
            rows.add(pixels[i].y, row);
    }
}

} // namespace

RegionFit region_spans(const Region& region, int width, int height, std::vector<RowSpan>& spans) {
    Rows rows(width, height, spans);
    const Node first = node(region.points[0]), last = node(region.points[1]);
    switch (region.shape) {
    case RegionShape::rectangle:
        add_rectangle(first, last, rows);
        break;
    case RegionShape::ellipse:
        add_ellipse(first, last, rows);
        break;
    case RegionShape::line:
        add_line(first, last, rows);
        break;
    case RegionShape::polygon:
    case RegionShape::freehand:
        Polygon(region.points).add_to(rows, region.name);
        break;
    }
    return rows.fit();
}

} // namespace specklescope
