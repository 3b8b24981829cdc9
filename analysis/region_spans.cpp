// From outlines to spans of rows, in whole numbers: coordinates are of a grid of 1/1024 px, and no product is
// rounded. An outline that runs through centres of pixels holds them whichever way it runs.
#include "analysis/region.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

constexpr std::int64_t kUnit = 1024; ///< of the grid, in a pixel
__extension__ using Wide = __int128;

/// Of the grid: |x|, |y| ≤ 2²⁷.
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

/// Takes the intervals of one row after the other, the rows from the top.
class Rows {
public:
    Rows(int width, int height, std::vector<RowSpan>& spans)
        : width_(width), height_(height), spans_(spans) {}

    int height() const { return height_; }
    /// Intervals may overlap and come in any order. Used up.
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
    /// Pixels in rows above or below, that nobody needs to add.
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

/// Rows of the picture among top…bottom, in units of the grid; says so where there are others.
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

/// ((x − cx)/a)² + ((y − cy)/b)² ≤ 1 in doubled units, so that the centre is whole; |2x − …| ≤ 2²⁹.
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
        // Columns nearest to the centre on both sides, then the last that is held, by halves.
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

/// Of the sides of one polygon with rows of the picture: two for each run of pixels that there is room for.
/// They are sorted row by row, and a hundred times as many, which 65536 corners can have, take minutes.
constexpr std::int64_t kMostCrossings = 2 * static_cast<std::int64_t>(kMaxSpans);

/// Where an edge that is not level crosses the line y (units): its floor and ceiling, in pixels.
Interval crossing(const Edge& edge, std::int64_t y) {
    const std::int64_t dy = edge.bottom.y - edge.top.y;
    // |products| ≤ 2²⁸·2²⁸; the sum stands over kUnit·dy
    const std::int64_t over = edge.top.x * dy + (y - edge.top.y) * (edge.bottom.x - edge.top.x);
    return {floor_div(over, kUnit * dy), ceil_div(over, kUnit * dy)};
}

/// Even-odd rule over crossings; outlines that only touch a row are added to it by themselves. Of two
/// crossings with equal floor and ceiling no centre lies between: their order does not matter.
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

    /// `name` stands for the region in errors.
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
            throw UsageError("Region '" + name + "' has an outline that crosses rows of the picture " +
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

/// The nearest whole pixel, of two the larger.
std::int64_t nearest(std::int64_t units) { return floor_div(2 * units + kUnit, 2 * kUnit); }

/// Along the longer axis u one pixel for each step, v as the line has it there.
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
        const std::int64_t v = du == 0 ? nearest(a.y) // v = a.y + along·dv/du, to the nearest
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
