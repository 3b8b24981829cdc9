// The pixels of a region are those with centres inside its outline: compared with a check of every pixel in
// Python, in integers of 1/1024 px.
#include "analysis/region.hpp"

#include "base/error.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <string>

namespace specklescope::region_spans_test {

/// Line by line: width, height, shape, whether it is outside, points, and the mask as a row of digits.
constexpr const char* kOracle = R"py(
from fractions import Fraction
from math import floor, ceil

U = 1024
def unit(text):
    return floor(Fraction(float(text)) * U + Fraction(1, 2))

def on_segment(p, a, b):
    cross = (b[0]-a[0])*(p[1]-a[1]) - (b[1]-a[1])*(p[0]-a[0])
    return (cross == 0 and min(a[0], b[0]) <= p[0] <= max(a[0], b[0])
            and min(a[1], b[1]) <= p[1] <= max(a[1], b[1]))

def in_polygon(p, corners):
    odd = False
    for a, b in zip(corners, corners[1:] + corners[:1]):
        if on_segment(p, a, b):
            return True
        if (a[1] > p[1]) != (b[1] > p[1]): # a ray to the right of p
            if Fraction(b[0]-a[0], b[1]-a[1]) * (p[1]-a[1]) + a[0] > p[0]:
                odd = not odd
    return odd

def in_ellipse(p, a, b):
    w, h = abs(b[0]-a[0]), abs(b[1]-a[1])
    dx, dy = abs(2*p[0]-a[0]-b[0]), abs(2*p[1]-a[1]-b[1])
    if dx > w or dy > h:
        return False
    return (Fraction(dx*dx, w*w) if w else 0) + (Fraction(dy*dy, h*h) if h else 0) <= 1

def half_up(f):
    return floor(f + Fraction(1, 2))

def line_pixels(a, b):
    steep = abs(b[1]-a[1]) > abs(b[0]-a[0])
    if steep:
        a, b = a[::-1], b[::-1]
    a, b = sorted([a, b])
    pixels = set()
    for u in range(half_up(Fraction(a[0], U)), half_up(Fraction(b[0], U)) + 1):
        at = min(max(u * U, a[0]), b[0])
        v = Fraction(a[1]) if a[0] == b[0] else a[1] + Fraction((at - a[0]) * (b[1] - a[1]), b[0] - a[0])
        around = range(floor(v / U) - 2, floor(v / U) + 4)
        nearest = min(around, key=lambda k: (abs(k * U - v), -k))
        pixels.add((nearest, u) if steep else (u, nearest))
    return pixels

checked = 0
for line in open("regions.txt"):
    width, height, shape, fit, points, mask = line.split()
    width, height = int(width), int(height)
    p = [tuple(map(unit, point.split(","))) for point in points.split(";")]
    line_set = line_pixels(*p) if shape == "line" else None
    want = ""
    for y in range(height):
        for x in range(width):
            at = (x * U, y * U)
            if shape == "rectangle":
                inside = (min(p[0][0], p[1][0]) <= at[0] <= max(p[0][0], p[1][0])
                          and min(p[0][1], p[1][1]) <= at[1] <= max(p[0][1], p[1][1]))
            elif shape == "ellipse":
                inside = in_ellipse(at, *p)
            elif shape == "line":
                inside = (x, y) in line_set
            else:
                inside = in_polygon(at, p)
            want += "1" if inside else "0"
    assert want == mask, f"{line}\n{want}"
    assert (fit == "outside") == ("1" not in want), line
    checked += 1
assert checked > 100, checked
)py";

std::string shortest(double value) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);
    EXPECT_EQ(error, std::errc{});
    return {text, end};
}

/// Checks rows from the top, spans from the left, not adjacent, not empty, all inside.
std::string mask_of(const Region& region, int width, int height, RegionFit& fit) {
    std::vector<RowSpan> spans;
    fit = region_spans(region, width, height, spans);
    std::string mask(static_cast<std::size_t>(width * height), '0');
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const RowSpan& span = spans[i];
        EXPECT_TRUE(span.length > 0 && span.x >= 0 && span.y >= 0 && span.y < height &&
                    span.x + span.length <= width);
        if (i > 0) {
            EXPECT_TRUE(spans[i - 1].y < span.y ||
                        (spans[i - 1].y == span.y && spans[i - 1].x + spans[i - 1].length < span.x));
        }
        for (int x = span.x; x < span.x + span.length; ++x)
            mask[static_cast<std::size_t>(span.y * width + x)] = '1';
    }
    return mask;
}

Region random_region(std::mt19937_64& random, RegionShape shape, int width, int height) {
    std::uniform_int_distribution<int> kind(0, 3);
    const int grid = kind(random); // whole, halves, quarters, anything
    const auto coordinate = [&](int side) {
        std::uniform_real_distribution<double> value(-4, side + 4);
        const double v = value(random);
        return grid == 3 ? v : std::round(v * (1 << grid)) / (1 << grid);
    };
    const bool corners = shape == RegionShape::polygon || shape == RegionShape::freehand;
    std::uniform_int_distribution<int> number(3, shape == RegionShape::freehand ? 20 : 6);
    Region region{"r", shape, {}, "", false};
    for (int i = corners ? number(random) : 2; i > 0; --i)
        region.points.push_back({coordinate(width), coordinate(height)});
    return region;
}

TEST(RegionSpans, MatchAnExactCheckOfEachPixel) {
    const TemporaryFolder folder;
    std::mt19937_64 random = test::test_random(0x2E6);
    std::string text;
    for (int i = 0; i < 500; ++i) {
        const int width = 1 + static_cast<int>(random() % 30), height = 1 + static_cast<int>(random() % 24);
        const Region region = random_region(random, static_cast<RegionShape>(i % 5), width, height);
        RegionFit fit{};
        const std::string mask = mask_of(region, width, height, fit);
        text += std::to_string(width) + " " + std::to_string(height) + " " + to_string(region.shape) + " " +
                to_string(fit) + " ";
        for (std::size_t k = 0; k < region.points.size(); ++k)
            text += (k > 0 ? ";" : "") + shortest(region.points[k].x) + "," + shortest(region.points[k].y);
        text += " " + mask + "\n";
    }
    test::write_file(folder / "regions.txt", text);
    EXPECT_TRUE(test::python(folder, kOracle)) << test::read_file(folder / "python.log");
}

std::uint64_t pixels_of(const Region& region, int width, int height, RegionFit wanted) {
    RegionFit fit{};
    const std::string mask = mask_of(region, width, height, fit);
    EXPECT_EQ(fit, wanted) << to_string(fit);
    return static_cast<std::uint64_t>(std::count(mask.begin(), mask.end(), '1'));
}

TEST(RegionSpans, RectanglesIncludeTheirOutlineAndAreClippedAtTheImage) {
    const Region box{"box", RegionShape::rectangle, {{10, 8}, {29, 27}}, "", false};
    EXPECT_EQ(pixels_of(box, 100, 100, RegionFit::whole), 400U);
    const Region turned{"box", RegionShape::rectangle, {{29, 8}, {10, 27}}, "", false};
    EXPECT_EQ(pixels_of(turned, 100, 100, RegionFit::whole), 400U);
    EXPECT_EQ(pixels_of(box, 20, 28, RegionFit::clipped), 200U);
    EXPECT_EQ(pixels_of(box, 30, 9, RegionFit::clipped), 20U);
    EXPECT_EQ(pixels_of(box, 10, 28, RegionFit::outside), 0U);
    EXPECT_EQ(pixels_of(box, 100, 8, RegionFit::outside), 0U);
}

TEST(RegionSpans, TheCentreOfASelfCrossingStarIsOutside) {
    const Region star{
        "star", RegionShape::polygon, {{0, 10}, {20, 10}, {3, 20}, {10, 0}, {17, 20}}, "", false};
    RegionFit fit{};
    const std::string mask = mask_of(star, 21, 21, fit);
    EXPECT_EQ(mask[12 * 21 + 10], '0');
    EXPECT_EQ(mask[4 * 21 + 10], '1');
    EXPECT_EQ(mask[10 * 21 + 10], '1'); // on the outline
}

TEST(RegionSpans, TinyRegionsHaveOnePixelOrNone) {
    EXPECT_EQ(pixels_of({"p", RegionShape::rectangle, {{3, 3}, {3, 3}}, "", false}, 9, 9, RegionFit::whole),
              1U);
    EXPECT_EQ(pixels_of({"p", RegionShape::ellipse, {{3, 3}, {3, 3}}, "", false}, 9, 9, RegionFit::whole),
              1U);
    EXPECT_EQ(pixels_of({"p", RegionShape::line, {{3, 3}, {3, 3}}, "", false}, 9, 9, RegionFit::whole), 1U);
    EXPECT_EQ(pixels_of({"p", RegionShape::rectangle, {{3.2, 3.2}, {3.8, 3.8}}, "", false}, 9, 9,
                        RegionFit::outside),
              0U);
}

TEST(RegionSpans, LongRowsAreSplitAndChunksContainEveryPixelOnce) {
    std::mt19937_64 random = test::test_random(0x2E7);
    std::vector<Region> regions = {{"all", RegionShape::rectangle, {{0, 0}, {2999, 9}}, "", false},
                                   {"none", RegionShape::rectangle, {{-9, 0}, {-8, 9}}, "", false},
                                   {"some", RegionShape::ellipse, {{100, -3}, {1500, 20}}, "", false}};
    for (int i = 0; i < 20; ++i) {
        Region region = random_region(random, static_cast<RegionShape>(i % 5), 3000, 10);
        region.name = std::to_string(i);
        regions.push_back(region);
    }
    const auto outlines = make_outlines(regions);
    const auto placed = place_regions(outlines, {3000, 10, 1, PixelType::f32}, 7);
    ASSERT_EQ(placed->regions.size(), regions.size());
    EXPECT_EQ(placed->version, 7U);
    std::uint32_t span = 0;
    for (std::size_t i = 0; i < placed->chunks.size(); ++i) {
        const RegionChunk& chunk = placed->chunks[i];
        EXPECT_EQ(chunk.span, span);
        int pixels = 0;
        for (std::uint32_t k = 0; k < chunk.spans; ++k, ++span) {
            EXPECT_LE(placed->spans[span].length, PlacedRegions::kSpanPixels);
            pixels += placed->spans[span].length;
        }
        EXPECT_LE(pixels, PlacedRegions::kChunkPixels);
        EXPECT_LE(chunk.spans, static_cast<std::uint32_t>(PlacedRegions::kChunkSpans));
    }
    EXPECT_EQ(span, placed->spans.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
        std::vector<RowSpan> spans;
        region_spans(regions[i], 3000, 10, spans);
        std::uint64_t pixels = 0;
        for (const RowSpan& row : spans)
            pixels += static_cast<std::uint64_t>(row.length);
        EXPECT_EQ(placed->regions[i].pixels, pixels) << i;
    }
    EXPECT_EQ(placed->regions[0].pixels, 30000U);
    EXPECT_EQ(placing_lines(*placed).front(),
              "Region 'none' lies wholly outside the image of 3000×10: it has no pixels and no numbers.");
    EXPECT_THROW(refuse_outside(*placed), UsageError);
}

/// An image of 2¹³ × 2¹², with an outline that goes up and down through every second column.
TEST(RegionSpans, TooManySpansAreRefused) {
    Region comb{"comb", RegionShape::polygon, {}, "", false};
    for (int x = 0; x < 8192; x += 2) {
        comb.points.push_back({x + 0.0, -1});
        comb.points.push_back({x + 0.0, 4096});
    }
    std::vector<RowSpan> spans(kMaxSpans - 1000);
    try {
        region_spans(comb, 8192, 4096, spans);
        FAIL() << "not refused";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("more than 16777216 runs of pixels"), std::string::npos);
    }
}

/// 65536 corners far above and below a large image: two minutes of sorting for an outline without pixels.
TEST(RegionSpans, OutlinesThatCrossRowsTooOftenAreRefusedImmediately) {
    Region far{"far", RegionShape::polygon, {}, "", false};
    for (int i = 0; i < 65536; ++i)
        far.points.push_back({100.1 + i % 7 * 0.1, i % 2 == 0 ? -kMaxCoordinate : kMaxCoordinate});
    std::vector<RowSpan> spans;
    try {
        region_spans(far, 65536, 65536, spans);
        FAIL() << "not refused";
    } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "Region 'far' has an outline that crosses rows of the image 4294967296 times; allowed: up "
                  "to 33554432, take one with fewer corners.");
    }
    EXPECT_TRUE(spans.empty());
    EXPECT_EQ(region_spans(far, 65536, 512, spans), RegionFit::outside)
        << "of a picture of 512 rows it is none";
}

TEST(Regions, RefusesInvalidRegions) {
    const auto refused = [](Region region, const std::string& part) {
        try {
            check_region(region);
            ADD_FAILURE() << "not refused: " << part;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    };
    const Region good{"a", RegionShape::polygon, {{0, 0}, {1, 0}, {0, 1}}, "#a0B1c2", true};
    EXPECT_NO_THROW(check_region(good));
    Region bad = good;
    bad.name = "";
    refused(bad, "empty name");
    bad.name = std::string(257, 'x');
    refused(bad, "257 bytes");
    bad.name = "a\x01";
    refused(bad, "control character");
    bad = good;
    bad.points.pop_back();
    refused(bad, "has 2 points; polygon allows: 3…65536.");
    bad.points.assign(65537, {1, 1});
    refused(bad, "65537 points");
    bad = good;
    bad.shape = RegionShape::line;
    refused(bad, "line allows: 2.");
    for (const double coordinate : {std::nan(""), HUGE_VAL, 131073.0, -1e300}) {
        bad = good;
        bad.points[1].y = coordinate;
        refused(bad, "allowed: −131072…131072 px");
    }
    bad = good;
    bad.colour = "red";
    refused(bad, "#rrggbb");
    EXPECT_THROW(check_regions({good, good}), UsageError);
    std::vector<Region> many(4097, good);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i].name = std::to_string(i);
    EXPECT_THROW(check_regions(many), UsageError);
    many.pop_back();
    EXPECT_NO_THROW(check_regions(many));
}

} // namespace specklescope::region_spans_test
