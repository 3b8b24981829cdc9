// ImageJ regions: its own files with the pixels it measures (tests/reference/imagej_regions.java), and
// invalid files.
#include "analysis/regions_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/places.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace specklescope::imagej_test {

const std::string kData = test::source_folder() + "/tests/data/";

/// "y:first-last " for each run, as written by the ImageJ program.
std::string runs_of(const Region& region) {
    std::vector<RowSpan> spans;
    region_spans(region, 65536, 65536, spans);
    std::string text;
    for (const RowSpan& span : spans)
        text += std::to_string(span.y) + ":" + std::to_string(span.x) + "-" +
                std::to_string(span.x + span.length - 1) + " ";
    return text;
}

using Pixels = std::set<std::pair<int, int>>;

Pixels pixels_of(const std::string& runs) {
    Pixels pixels;
    std::istringstream text(runs);
    int y = 0, first = 0, last = 0;
    char colon = 0;
    while (text >> y >> colon >> first) {
        text >> last; // "-9" as a negative number
        for (int x = first; x <= -last; ++x)
            pixels.emplace(x, y);
    }
    return pixels;
}

double distance(const RegionPoint& a, const RegionPoint& b, double x, double y) {
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const double t = length2 > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / length2, 0.0, 1.0) : 0;
    return std::hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/// Requires the same pixels, except centres closer to the outline than the grid of 1/1024 px.
void check_but_for_the_outline(const Region& region, const std::string& truth) {
    const Pixels here = pixels_of(runs_of(region)), there = pixels_of(truth);
    EXPECT_GT(there.size(), 0U);
    std::vector<std::pair<int, int>> differ;
    std::set_symmetric_difference(here.begin(), here.end(), there.begin(), there.end(),
                                  std::back_inserter(differ));
    EXPECT_LE(differ.size(), 4U) << region.name;
    for (const auto& [x, y] : differ) {
        double nearest = HUGE_VAL;
        for (std::size_t i = 0; i < region.points.size(); ++i)
            nearest = std::min(
                nearest, distance(region.points[i], region.points[(i + 1) % region.points.size()], x, y));
        EXPECT_LT(nearest, 2.0 / 1024) << region.name << " at " << x << ", " << y;
    }
}

TEST(Imagej, RegionsContainTheSamePixelsAsInImagej) {
    const std::vector<Region> regions = load_regions(kData + "imagej_regions.zip");
    std::istringstream truth(test::read_file(kData + "imagej_regions.txt"));
    std::size_t compared = 0;
    for (std::string line; std::getline(truth, line); ++compared) {
        const std::size_t bar = line.find('|');
        ASSERT_LT(compared, regions.size());
        EXPECT_EQ(regions[compared].name, line.substr(0, bar));
        EXPECT_EQ(regions[compared].colour, "#12abef");
        const Region& region = regions[compared];
        if (region.name.starts_with("polygon ") || region.name == "ellipse" || region.name == "rotated")
            check_but_for_the_outline(region, line.substr(bar + 1));
        else
            EXPECT_EQ(runs_of(region), line.substr(bar + 1)) << region.name;
    }
    EXPECT_EQ(compared, 46U);
    ASSERT_EQ(regions.size(), 47U);
    EXPECT_EQ(regions.back(), (Region{"line", RegionShape::line, {{3, 4}, {20, 9}}, "", false}));
    const auto shape = [&](const std::string& name) {
        for (const Region& region : regions)
            if (region.name == name)
                return region.shape;
        return RegionShape::line;
    };
    EXPECT_EQ(shape("box"), RegionShape::rectangle);
    EXPECT_EQ(shape("oval"), RegionShape::ellipse);
    EXPECT_EQ(shape("star"), RegionShape::polygon);
    EXPECT_EQ(shape("traced"), RegionShape::freehand);
}

/// The error for a refused file; empty if it is read.
std::string refused(const std::string& path) {
    try {
        (void)load_regions(path);
    } catch (const UsageError& error) {
        EXPECT_EQ(one_line(error.what()), error.what());
        return error.what();
    }
    return "";
}

TEST(Imagej, RefusesOtherRoiTypes) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, "import zipfile; zipfile.ZipFile('" + kData +
                                         "imagej_refused.zip').extractall('.')"))
        << test::read_file(folder / "python.log");
    const std::vector<std::string> sentences = {
        "byte 36: it is put together of several outlines; allowed: one, as rectangle, oval, polygon, "
        "freehand, "
        "traced or straight line.",
        "byte 48: it is a text or an image, not an outline.",
        "byte 48: it is a text or an image, not an outline.",
        "byte 6: its type is points; allowed: rectangle, oval, polygon, freehand, traced, straight line.",
        "byte 6: its type is polyline;",
        "byte 6: its type is freehand line;",
        "byte 6: its type is angle;",
        "byte 54: its corners are round; allowed: a rectangle with sharp ones.",
        "byte 50: its outline is a fitted spline; store it as a polygon (Interpolate).",
        "byte 34: its line is 7 pixels wide; allowed: 1; for a wider one draw a polygon."};
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        const std::string path = folder / ("0" + std::to_string(i) + ".roi");
        EXPECT_NE(refused(path).find(path + ", " + sentences[i]), std::string::npos) << refused(path);
    }
    EXPECT_NE(refused(kData + "imagej_refused.zip").find("imagej_refused.zip, entry 00.roi, byte 36: "),
              std::string::npos);
}

/// Writes a file of the published layout, field by field.
class RoiBytes {
public:
    RoiBytes(int type, int top, int left, int bottom, int right, std::size_t corners = 0) : bytes_(64, '\0') {
        bytes_.replace(0, 4, "Iout");
        put(4, 228, 2);
        put(6, type, 1);
        put(8, top, 2);
        put(10, left, 2);
        put(12, bottom, 2);
        put(14, right, 2);
        put(16, static_cast<std::int64_t>(corners), 2);
    }
    RoiBytes& put(std::size_t at, std::int64_t value, int bytes) {
        if (bytes_.size() < at + static_cast<std::size_t>(bytes))
            bytes_.resize(at + static_cast<std::size_t>(bytes), '\0');
        for (int i = 0; i < bytes; ++i)
            bytes_[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * (bytes - 1 - i) & 255);
        return *this;
    }
    RoiBytes& put_real(std::size_t at, float value) { return put(at, std::bit_cast<std::int32_t>(value), 4); }
    RoiBytes& put_name(const std::u16string& name) {
        const std::size_t second = bytes_.size(), text = second + 64;
        put(60, static_cast<std::int64_t>(second), 4);
        put(second + 16, static_cast<std::int64_t>(text), 4);
        put(second + 20, static_cast<std::int64_t>(name.size()), 4);
        put(second + 63, 0, 1);
        for (std::size_t i = 0; i < name.size(); ++i)
            put(text + 2 * i, name[i], 2);
        return *this;
    }
    const std::string& text() const { return bytes_; }
    Region read() const { return read_imagej_roi(std::as_bytes(std::span(bytes_)), "r.roi", "fallback"); }
    std::string sentence() const {
        try {
            (void)read();
        } catch (const UsageError& error) {
            return error.what();
        }
        return "";
    }

private:
    std::string bytes_;
};

constexpr int kPolygon = 0, kRectangle = 1, kOval = 2, kLine = 3;

RoiBytes triangle() {
    RoiBytes roi(kPolygon, 20, 30, 60, 90, 3);
    const int xy[] = {0, 60, 10, 0, 5, 40};
    for (std::size_t i = 0; i < 6; ++i)
        roi.put(64 + 2 * i, xy[i], 2);
    return roi;
}

TEST(Imagej, FieldsAreReadAsTheyAreWritten) {
    EXPECT_EQ(RoiBytes(kRectangle, 8, 10, 28, 30).read(),
              (Region{"fallback", RegionShape::rectangle, {{10, 8}, {29, 27}}, "", false}));
    EXPECT_EQ(RoiBytes(kRectangle, -3, -5000, 1, 2).read().points,
              (std::vector<RegionPoint>{{-5000, -3}, {1, 0}}));
    EXPECT_EQ(RoiBytes(kRectangle, 40000, 33000, 40001, 60000).read().points,
              (std::vector<RegionPoint>{{33000, 40000}, {59999, 40000}}));
    EXPECT_EQ(RoiBytes(kOval, 8, 10, 28, 30).read().points,
              (std::vector<RegionPoint>{{9.5, 7.5}, {29.5, 27.5}}));
    EXPECT_EQ(triangle().put_name(u"Gef\u00e4\u00df \U0001F600").put(40, 0xff0080ff, 4).read().name,
              "Gefäß 😀");
    EXPECT_EQ(triangle().put(40, 0xff0080ff, 4).read().colour, "#0080ff");
    EXPECT_EQ(triangle().put_name({0xD800, u'a'}).read().name, "\xEF\xBF\xBD"
                                                               "a"); // half a pair
    EXPECT_EQ(RoiBytes(kLine, 0, 0, 9, 9)
                  .put_real(18, 1.5F)
                  .put_real(22, 2)
                  .put_real(26, 7)
                  .put_real(30, 9.25F)
                  .read(),
              (Region{"fallback", RegionShape::line, {{1.5, 2}, {7, 9.25}}, "", false}));
    // With a stroke colour the width is drawn and not measured.
    EXPECT_EQ(RoiBytes(kLine, 0, 0, 9, 9).put_real(26, 7).put(34, 9, 2).put(40, 0xff0080ff, 4).sentence(),
              "");
    // For many corners the count is in another field.
    RoiBytes many(kPolygon, 0, 0, 9, 9);
    many.put(18, 65536, 4).put(64 + 4 * 65536 - 1, 0, 1);
    EXPECT_EQ(many.read().points.size(), 65536U);
}

/// File names are bytes: a region named after its file gets a UTF-8 name, which survives storing.
TEST(Imagej, FileNamesThatAreNotUtf8BecomeValidNames) {
    const TemporaryFolder folder;
    std::vector<Region> regions;
    for (const std::string& name : {std::string("caf\xe9"), std::string("a\nb"),
                                    std::string("Gef\u00e4\u00df"), std::string(100, '\xe9')}) {
        const std::string path = folder / (name + ".roi");
        test::write_file(path, triangle().text());
        regions.push_back(load_regions(path).at(0));
    }
    EXPECT_EQ(regions[0].name, "caf\uFFFD");
    EXPECT_EQ(regions[1].name, "a b");
    EXPECT_EQ(regions[2].name, "Gef\u00e4\u00df");
    EXPECT_EQ(regions[3].name.size(), 255U) << "what is not UTF-8 becomes longer";
    EXPECT_EQ(read_regions_json(to_json(regions), "again"), regions);
    regions[0].name = "caf\xe9";
    EXPECT_THROW(check_regions(regions), UsageError) << "a file of it would hold another name";
}

TEST(Imagej, RefusesInvalidFieldsWithTheirByte) {
    const std::vector<std::pair<RoiBytes, std::string>> cases = {
        {RoiBytes(kRectangle, 8, 10, 28, 10), "byte 10: it is empty or turned over."},
        {RoiBytes(kOval, 28, 10, 8, 30), "byte 10: it is empty or turned over."},
        {RoiBytes(kPolygon, 0, 0, 9, 9, 2), "byte 16: it has 2 corners; allowed: 3…65536."},
        {RoiBytes(kPolygon, 0, 0, 9, 9).put(18, 65537, 4), "byte 16: it has 65537 corners;"},
        {RoiBytes(kPolygon, 0, 0, 9, 9).put(18, -1, 4), "byte 16: it has -1 corners;"},
        {RoiBytes(kPolygon, 0, 0, 9, 9, 4), "byte 64: the file ends before the last of its 4 corners."},
        {RoiBytes(kPolygon, 0, 0, 9, 9).put(18, 65536, 4), "byte 64: the file ends before the last"},
        {triangle().put(50, 128, 2), "byte 76: the file ends before the last of its 3 corners."},
        {triangle().put(60, 60, 4), "byte 60: its second header lies beyond the end of the file."},
        {triangle().put(60, 0x7fffffff, 4), "byte 60: its second header lies beyond"},
        {triangle().put_name(std::u16string(257, u'a')),
         "its name is 257 characters long; allowed: up to 256."},
        {triangle().put_name(u"a\nb"), "Region 'a b' has a control character in its name"},
        {triangle().put(6, 6, 1), "byte 6: its type is no region;"},
        {triangle().put(6, 77, 1), "byte 6: its type is 77;"},
        {RoiBytes(kLine, 0, 0, 9, 9).put_real(18, NAN), "has a coordinate outside any image"},
        {RoiBytes(kLine, 0, 0, 9, 9).put_real(18, 1e9F), "has a coordinate outside any image"}};
    for (const auto& [roi, sentence] : cases) {
        EXPECT_TRUE(roi.sentence().starts_with("r.roi")) << roi.sentence();
        EXPECT_NE(roi.sentence().find(sentence), std::string::npos) << roi.sentence() << "\nnot " << sentence;
    }
}

TEST(Imagej, TruncatedFilesAreRefusedOrLoseOnlyTheName) {
    RoiBytes whole = triangle();
    whole.put_name(u"name");
    const std::string& bytes = whole.text();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        SCOPED_TRACE(size);
        const std::string part = bytes.substr(0, size);
        try {
            (void)read_imagej_roi(std::as_bytes(std::span(part)), "r.roi", "fallback");
            ADD_FAILURE() << "read";
        } catch (const UsageError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("r.roi, byte ")) << error.what();
        }
    }
}

constexpr const char* kArchives = R"py(
import struct, zipfile

def roi(top, left, bottom, right):
    return b"Iout" + struct.pack(">hBxhhhh", 228, 1, top, left, bottom, right).ljust(60, b"\0")

def archive(name, *entries, how=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name, "w", how) as z:
        for entry, data in entries:
            z.writestr(entry, data)
    return open(name, "rb").read()

box = roi(8, 10, 28, 30)
archive("twice.zip", ("a.roi", box), ("b/a.ROI", box), ("a-1.roi", box), ("notes.txt", b"x"), ("__MACOSX/._a.roi", b"\0\5"))
whole = archive("good.zip", ("a.roi", box))
archive("none.zip")
archive("other.zip", ("a.txt", b"x"), ("roi", box))
archive("bomb.zip", ("a.roi", bytes(64 << 20)))
archive("bombs.zip", *((f"{i}.roi", box + bytes((2 << 20) - 64)) for i in range(40)))
archive("many.zip", *((f"{i}.roi", box) for i in range(4097)))
archive("bad.zip", ("a.roi", box), ("b.roi", box[:40]))
archive("empty.zip", ("a.roi", b""))
archive("nameless.zip", (".roi", box))
open("cut.zip", "wb").write(whole[:-30])
open("text.zip", "w").write("no archive")
open("nothing.zip", "w")
head = whole.index(b"PK\1\2")
def changed(name, at, pack, value):
    b = bytearray(whole)
    struct.pack_into(pack, b, at, value)
    open(name, "wb").write(b)
changed("more.zip", head + 24, "<I", 99) # claims more than there is
changed("less.zip", head + 24, "<I", 5)
changed("damaged.zip", 30 + len("a.roi") + 3, "<B", 0x5a)
b = bytearray(whole)
for at in 6, head + 8: # the flag in both headers
    b[at] |= 1
open("locked.zip", "wb").write(b)
)py";

TEST(Imagej, ArchivesNameEachRegionAndAreReadCompletely) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kArchives)) << test::read_file(folder / "python.log");
    const std::vector<Region> twice = load_regions(folder / "twice.zip");
    ASSERT_EQ(twice.size(), 3U);
    EXPECT_EQ(twice[0].name, "a");
    EXPECT_EQ(twice[1].name, "a-1");
    EXPECT_EQ(twice[2].name, "a-1-1");
    EXPECT_EQ(load_regions(folder / "good.zip").size(), 1U);
    const std::map<std::string, std::string> cases = {
        {"none", "holds no region: no entry ends in .roi."},
        {"other", "holds no region: no entry ends in .roi."},
        {"bomb", "entry a.roi claims 67108864 bytes; allowed for a region: up to 2097152."},
        {"bombs", "unpacks to more than 64 MiB; no set of regions does."},
        {"many", "holds more than 4096 regions; take some of them out."},
        {"bad", "entry b.roi, byte 40: the file ends within its header of 64 bytes."},
        {"empty", "entry a.roi, byte 0: it is not a region of ImageJ, which begins with Iout."},
        {"nameless", "entry .roi: A region has an empty name"},
        {"cut", "is not a readable archive ("},
        {"text", "is not a readable archive ("},
        {"nothing", "holds no region: no entry ends in .roi."},
        {"more", "entry a.roi cannot be unpacked; store the regions again."},
        {"less", "entry a.roi"},
        {"damaged", "entry a.roi cannot be unpacked; store the regions again."},
        {"locked", "entry a.roi is encrypted; store the regions without a password."}};
    for (const auto& [name, sentence] : cases) {
        const std::string path = folder / (name + ".zip"), said = refused(path);
        EXPECT_TRUE(said.starts_with(path)) << name << ": " << said;
        EXPECT_NE(said.find(sentence), std::string::npos) << said << "\nnot " << sentence;
    }
}

} // namespace specklescope::imagej_test
