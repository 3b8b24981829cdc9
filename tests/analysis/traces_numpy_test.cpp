// Regions from a file through the program into a table, compared with numpy: every pixel type, chains that
// move pixels, images that change their size, a thousand regions.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace specklescope::traces_numpy_test {

/// Images, and the regions measured on them.
constexpr const char* kPictures = R"py(
import json, os
import numpy as np, tifffile
random = np.random.default_rng(15)
def speckle(shape, top):
    return np.minimum(random.exponential(top / 4, shape), top)
tifffile.imwrite("u8.tif", speckle((61, 90), 255).astype(np.uint8))
tifffile.imwrite("u16.tif", speckle((61, 90), 65535).astype(np.uint16))
reals = random.normal(3, 1, (61, 90)).astype(np.float32)
reals[10:14, 20:30] = np.nan
reals[30, 5:9] = np.inf
reals[31, 5] = -np.inf
tifffile.imwrite("f32.tif", reals)
tifffile.imwrite("rgb.tif", random.integers(0, 256, (61, 90, 3)).astype(np.uint8), photometric="rgb")
os.mkdir("sizes")
for i, (h, w) in enumerate([(61, 90)] * 3 + [(40, 50)] * 3 + [(61, 90)] * 2):
    tifffile.imwrite(f"sizes/{i}.tif", speckle((h, w), 65535).astype(np.uint16))

def save(name, regions):
    json.dump({"regions": [dict(name=n, shape=s, points=p) for n, s, p in regions]}, open(name, "w"))
save("r.json", [("box", "rectangle", [[4, 3], [23, 17]]), ("pixel", "rectangle", [[7, 5], [7, 5]]),
                ("#1", "polygon", [[2, 20], [25.25, 2], [28, 27.5]]), ("disk", "ellipse", [[5, 4], [20.5, 24]]),
                ("edge", "rectangle", [[-9, -9], [3.5, 2]]), ("cut", "line", [[1, 1], [26, 14]])])
save("sizes.json", [("in both", "rectangle", [[4, 3], [23, 17]]), ("cut off", "rectangle", [[40, 30], [59, 49]]),
                    ("lost", "rectangle", [[60, 45], [80, 55]])])
save("many.json", [(f"r{i}", "rectangle", [[int(x), int(y)], [int(x + w), int(y + h)]]) for i, (x, y, w, h) in
                   enumerate(zip(random.integers(0, 90, 1000), random.integers(0, 61, 1000),
                                 random.integers(0, 40, 1000), random.integers(0, 40, 1000)))])
)py";

/// read(name): the rows; check(row, map, mask, raw): each number, from the map's pixels in the mask.
constexpr const char* kOracle = R"py(
import csv, io, json, math
import numpy as np, tifffile

def read(name):
    lines = open(name, newline="").read().splitlines(True)
    return list(csv.DictReader(io.StringIO("".join(l for l in lines if not l.startswith("#")))))

def in_polygon(p, x, y):
    odd = False
    for (ax, ay), (bx, by) in zip(p, p[1:] + p[:1]):
        cross = (bx-ax)*(y-ay) - (by-ay)*(x-ax)
        if cross == 0 and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by):
            return True
        odd ^= (ay > y) != (by > y) and ax + (y-ay)*(bx-ax)/(by-ay) > x
    return odd

def mask(region, shape):
    p, kind = region["points"], region["shape"]
    y, x = np.indices(shape)
    (x0, y0), (x1, y1) = p[0], p[1]
    if kind == "rectangle":
        return (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
    if kind == "ellipse":
        return ((x - (x0+x1)/2) / ((x1-x0)/2))**2 + ((y - (y0+y1)/2) / ((y1-y0)/2))**2 <= 1
    if kind == "line": # flatter than 45°, from left to right
        return (x >= x0) & (x <= x1) & (y == np.floor(y0 + (x-x0)*(y1-y0)/(x1-x0) + 0.5))
    return np.array([[in_polygon([tuple(q) for q in p], i, j) for i in range(shape[1])] for j in range(shape[0])])

def close(a, b, what):
    a = float(a)
    assert (math.isnan(a) and math.isnan(b)) or a == b or abs(a-b) <= 2e-6*abs(b), (what, a, b)

def check(row, picture, m, mean=None, saturated=None):
    v = picture[m].astype(np.float64)
    good = v[np.isfinite(v)]
    some = lambda f, least=1: f(good) if good.size >= least else math.nan
    assert int(row["pixels"]) == v.size and int(row["valid"]) == good.size, (row, v.size, good.size)
    assert int(row["infinite"]) == np.isinf(v).sum(), row
    close(row["mean_of_map"], some(np.mean), row)
    close(row["mean"], some(np.mean) if mean is None else mean, row)
    close(row["std"], some(lambda g: np.std(g, ddof=1), 2), row)
    close(row["min"], some(np.min), row)
    close(row["max"], some(np.max), row)
    close(row["median"], some(np.median), row)
    assert row["saturated"] == ("" if saturated is None else str(int(saturated))), (row, saturated)

def check_all(name, regions, picture, saturated=None, mean=None):
    rows, regions = read(name), json.load(open(regions))["regions"]
    assert len(rows) == len(regions) > 0, (name, len(rows))
    for row, region in zip(rows, regions):
        m = mask(region, picture.shape)
        assert row["region"] == region["name"] and row["sequence"] == "0" and row["version"] == "0", row
        check(row, picture, m, None if mean is None else mean(picture[m].astype(np.float64)),
              None if saturated is None else saturated[m].sum())
)py";

class TracesBesideNumpy : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(test::python(folder, kPictures)) << test::read_file(folder / "python.log");
    }
    ChildResult trace(std::vector<std::string> arguments, const std::string& regions,
                      const std::string& table) {
        arguments.insert(arguments.begin(), "run");
        arguments.insert(arguments.end(),
                         {"--regions", regions, "--traces", table, "--medians", "--backend", "cpu"});
        const ChildResult ran = run_program(arguments, folder.path().string());
        EXPECT_EQ(ran.status, 0) << ran.all();
        return ran;
    }
    void agree(const std::string& script) {
        EXPECT_TRUE(test::python(folder, kOracle + script)) << test::read_file(folder / "python.log");
    }
    TemporaryFolder folder;
};

TEST_F(TracesBesideNumpy, EveryPixelType) {
    for (const std::string type : {"u8", "u16", "f32"})
        trace({type + ".tif", "--stage", "none"}, "r.json", type + ".csv");
    trace({"rgb.tif", "--stage", "none", "--channel", "green"}, "r.json", "rgb.csv");
    trace({"rgb.tif", "--stage", "none", "--channel", "mean"}, "r.json", "mean.csv");
    agree(R"py(
for kind, top in (("u8", 255), ("u16", 65535), ("f32", None)):
    picture = tifffile.imread(kind + ".tif")
    check_all(kind + ".csv", "r.json", picture, None if top is None else picture >= top)
rgb = tifffile.imread("rgb.tif")
full = (rgb == 255).any(axis=2)
check_all("rgb.csv", "r.json", rgb[:, :, 1], full)
check_all("mean.csv", "r.json", rgb.astype(np.float32).sum(axis=2) / np.float32(3), full)
)py");
}

/// Coordinates refer to the chain's output.
TEST_F(TracesBesideNumpy, ChainsThatMovePixels) {
    trace({"u16.tif", "--stage", "crop:x=7,y=5,width=60,height=50"}, "r.json", "crop.csv");
    trace({"u16.tif", "--stage", "flip:direction=horizontal", "--stage", "rotate90:turns=1"}, "r.json",
          "turned.csv");
    trace({"u8.tif", "--stage", "downsample:factor=2,method=nearest"}, "r.json", "half.csv");
    trace({"u16.tif", "--stage", "crop:x=7,y=5,width=60,height=50", "--stage",
           "speckle:radius=2,output=contrast,border=crop"},
          "r.json", "contrast.csv");
    agree(R"py(
u16, u8 = tifffile.imread("u16.tif"), tifffile.imread("u8.tif")
crop = u16[5:55, 7:67]
check_all("crop.csv", "r.json", crop, crop == 65535)
turned = np.rot90(u16[:, ::-1], -1)
check_all("turned.csv", "r.json", turned, turned == 65535)
half = u8[0:60:2, 0:90:2]
check_all("half.csv", "r.json", half, half == 255)
windows = np.lib.stride_tricks.sliding_window_view(crop.astype(np.float64), (5, 5))
k = windows.std(axis=(2, 3), ddof=1) / windows.mean(axis=(2, 3))
check_all("contrast.csv", "r.json", k, mean=lambda v: np.sqrt(np.mean(v**2)))
)py");
}

TEST_F(TracesBesideNumpy, AThousandRegions) {
    trace({"f32.tif", "--stage", "none"}, "many.json", "many.csv");
    agree("check_all('many.csv', 'many.json', tifffile.imread('f32.tif'))\n");
}

TEST_F(TracesBesideNumpy, ImagesOfAnotherSizeMarkRegionsAndDropNone) {
    const ChildResult ran = trace({"sizes/", "--stage", "none"}, "sizes.json", "sizes.csv");
    EXPECT_NE(ran.err.find("Region 'lost' lies wholly outside the image of 50×40: it has no pixels and no "
                           "numbers."),
              std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("Region 'cut off' lies partly outside the image of 50×40: its 100 pixels"),
              std::string::npos)
        << ran.err;
    agree(R"py(
rows, regions = read("sizes.csv"), json.load(open("sizes.json"))["regions"]
assert len(rows) == 8 * 3, len(rows)
for i, row in enumerate(rows):
    picture, region = tifffile.imread(f"sizes/{i // 3}.tif"), regions[i % 3]
    assert (row["sequence"], row["region"]) == (str(i // 3), region["name"]), row
    m = mask(region, picture.shape)
    check(row, picture, m, saturated=(picture[m] == 65535).sum())
lost = [row for row in rows if row["region"] == "lost" and row["sequence"] in "345"]
assert all(row["pixels"] == row["valid"] == "0" and row["mean"] == "nan" for row in lost) and len(lost) == 3
said = [l for l in open("sizes.csv") if "of 50×40 pixels" in l or "of 90×61 pixels" in l]
assert ["50×40" in l for l in said] == [False, True, False], said
assert sum("region: lost: rectangle, 0 pixels, outside the image" in l for l in open("sizes.csv")) == 1
assert sum("region: cut off: rectangle, 100 pixels, clipped at the edge of the image" in l for l in open("sizes.csv")) == 1
)py");
}

} // namespace specklescope::traces_numpy_test
