// Known widths of simulated vessels: from images made by numpy, through the real program.
#include "analysis/vessel_width.hpp"

#include "recording/table.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace specklescope::width_test {

double below(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// A box of `width` around `centre` with a blur of `sigma`, of depth 1 in the limit of σ → 0.
double blurred_box(double at, double centre, double width, double sigma) {
    return below((at - centre + width / 2) / sigma) - below((at - centre - width / 2) / sigma);
}

/// Positions of half depth of the blurred box, by bisection.
double width_at_half(double width, double sigma) {
    double low = 0, high = width + 10 * sigma;
    for (int i = 0; i < 200; ++i)
        (blurred_box((low + high) / 2, 0, width, sigma) > blurred_box(0, 0, width, sigma) / 2 ? low : high) =
            (low + high) / 2;
    return 2 * low;
}

TEST(Width, OfACurveWithoutNoiseIsExact) {
    auto random = test::test_random(15301);
    for (const double width : {3.0, 5.5, 12.0, 40.0})
        for (const double sigma : {0.6, 1.5, 3.0})
            for (const double depth : {-0.8, 2.5}) {
                const double spacing = 0.97,
                             centre = 50 + std::uniform_real_distribution<double>(-5, 5)(random);
                std::vector<double> values;
                for (int i = 0; i < 110; ++i)
                    values.push_back(7 + depth * blurred_box(i * spacing, centre, width, sigma));
                values[3] = values[60] = std::numeric_limits<double>::quiet_NaN(); // omitted
                values[90] = std::numeric_limits<double>::infinity();
                const VesselWidth fit = fit_vessel_width(values, spacing);
                ASSERT_EQ(fit.fit, WidthFit::ok) << width << ' ' << sigma;
                EXPECT_NEAR(fit.width, width_at_half(width, sigma), 1e-3) << width << ' ' << sigma;
                EXPECT_NEAR(fit.centre, centre, 1e-3);
                EXPECT_NEAR(fit.baseline, 7, 1e-3);
                EXPECT_NEAR(fit.depth, depth * blurred_box(0, 0, width, sigma), 2e-3);
                EXPECT_LT(fit.width_std, 1e-2);
                EXPECT_GT(fit.r2, 0.9999);
            }
}

struct Spread {
    double bias = 0, std = 0, reported = 0;
    int ok = 0;
};

/// `together`: samples in the noise's sliding mean, like a contrast window.
Spread spread_of(double width, double sigma, double noise, std::size_t together, std::mt19937_64& random) {
    constexpr int kRuns = 600;
    std::normal_distribution<double> normal;
    Spread spread;
    double sum = 0, squares = 0, reported = 0;
    for (int run = 0; run < kRuns; ++run) {
        const std::size_t count = 40 + static_cast<std::size_t>(2 * width);
        const double centre =
            static_cast<double>(count) / 2 + std::uniform_real_distribution<double>(-2, 2)(random);
        std::vector<double> values(count), noises(count + together);
        for (double& n : noises)
            n = normal(random) * noise / std::sqrt(static_cast<double>(together));
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = 1 - blurred_box(static_cast<double>(i), centre, width, sigma);
            for (std::size_t k = 0; k < together; ++k)
                values[i] += noises[i + k];
        }
        const VesselWidth fit = fit_vessel_width(values, 1);
        if (fit.fit != WidthFit::ok)
            continue;
        ++spread.ok;
        const double off = fit.width - width_at_half(width, sigma);
        sum += off;
        squares += off * off;
        reported += fit.width_std * fit.width_std;
    }
    spread.bias = sum / spread.ok;
    spread.std = std::sqrt(squares / spread.ok - spread.bias * spread.bias);
    spread.reported = std::sqrt(reported / spread.ok);
    return spread;
}

TEST(Width, StandardDeviationIsRight) {
    std::mt19937_64 random(15302); // constant seed: the bounds are statistical
    for (const double width : {6.0, 14.0, 30.0})
        for (const double sigma : {1.0, 2.0}) {
            const Spread white = spread_of(width, sigma, 0.04, 1, random);
            EXPECT_GT(white.ok, 590);
            EXPECT_LT(std::abs(white.bias), 0.1) << width << ' ' << sigma;
            EXPECT_NEAR(white.reported / white.std, 1, 0.25) << width << ' ' << sigma;
            // Neighbours with common pixels.
            const Spread shared = spread_of(width, sigma, 0.03, 7, random);
            EXPECT_GT(shared.ok, 500);
            EXPECT_NEAR(shared.reported / shared.std, 1, 0.4) << width << ' ' << sigma;
        }
}

TEST(Width, OfNoiseIsUndefined) {
    std::mt19937_64 random(15303); // constant seed: the bounds are statistical
    std::normal_distribution<double> normal;
    constexpr int kRuns = 1000;
    for (const std::size_t count : {16U, 24U, 40U, 60U, 90U})
        for (const std::size_t together : {1U, 3U, 5U, 7U}) { // neighbours with common pixels
            int vessels = 0;
            for (int run = 0; run < kRuns; ++run) {
                std::vector<double> values(count, 5), noises(count + together);
                for (double& n : noises)
                    n = normal(random);
                for (std::size_t i = 0; i < count; ++i)
                    for (std::size_t k = 0; k < together; ++k)
                        values[i] += noises[i + k];
                const VesselWidth fit = fit_vessel_width(values, 1);
                if (fit.fit == WidthFit::ok)
                    ++vessels;
                else
                    EXPECT_TRUE(std::isnan(fit.width) && std::isnan(fit.width_std) && std::isnan(fit.depth));
            }
            EXPECT_LE(vessels, together == 1 ? kRuns / 100 : kRuns / 20) << count << ' ' << together;
        }
}

TEST(Width, IsUndefinedWithAReason) {
    EXPECT_EQ(fit_vessel_width(std::vector<double>(50, 3.25), 1).fit, WidthFit::no_vessel);
    EXPECT_EQ(fit_vessel_width(std::vector<double>(7, 1), 1).fit, WidthFit::too_few);
    EXPECT_EQ(fit_vessel_width(std::vector<double>{}, 1).fit, WidthFit::too_few);
    EXPECT_EQ(fit_vessel_width(std::vector<double>(50, VesselWidth::kNone), 1).fit, WidthFit::too_few);
    std::vector<double> half(60); // a vessel that starts and does not end
    for (int i = 0; i < 60; ++i)
        half[static_cast<std::size_t>(i)] = blurred_box(i, 60, 40, 1.5);
    EXPECT_NE(fit_vessel_width(half, 1).fit, WidthFit::ok);
}

/// 12 images, each with a vessel of known width, at an angle; noise like a contrast map's: a sliding mean
/// over 5×5 pixels. The camera's pixel is the mean over its square, the optics blur by 0.7 px.
constexpr const char* kMake = R"py(
import json
import numpy as np, tifffile
from scipy.ndimage import uniform_filter
from scipy.special import erf

rng = np.random.default_rng(SEED)
H, W, FRAMES, SIGMA = 100, 140, 60, np.hypot(0.7, 1 / np.sqrt(12))
phi = lambda z: (1 + erf(z / np.sqrt(2))) / 2
y, x = np.mgrid[0:H, 0:W].astype(float)
known = []
for i, width in enumerate([3, 3, 4.5, 6, 8, 11, 15, 20, 26, 32, 40, 40]):
    angle = rng.uniform(0, np.pi)
    bright = i % 2 == 1
    nx, ny = np.cos(angle), np.sin(angle) # across the vessel
    cx, cy = W / 2 + rng.uniform(-3, 3), H / 2 + rng.uniform(-3, 3)
    s = (x - cx) * nx + (y - cy) * ny
    vessel = phi((s + width / 2) / SIGMA) - phi((s - width / 2) / SIGMA)
    clean = 0.3 + (0.25 if bright else -0.2) * vessel
    noise = uniform_filter(rng.normal(size=(FRAMES, H, W)), (0, 5, 5)) * 5 * 0.02
    tifffile.imwrite(f"v{i}.tiff", (clean + noise).astype(np.float32), photometric="minisblack")
    half = min(width / 2 + 20, 44)
    line = [[cx - half * nx, cy - half * ny], [cx + half * nx, cy + half * ny]]
    json.dump({"regions": [{"name": "across", "shape": "line", "points": line}]}, open(f"v{i}.json", "w"))
    known.append({"width": width, "bright": bright, "centre": half})
json.dump(known, open("known.json", "w"))
)py";

constexpr const char* kCompare = R"py(
import csv, io, json
import numpy as np
known = json.load(open("known.json"))
for i, vessel in enumerate(known):
    text = open(f"v{i}.csv").read()
    assert text.startswith("# Specklescope widths, version 1\n") and "fitted to: the map" in text
    rows = list(csv.DictReader(io.StringIO("".join(l for l in text.splitlines(True) if l[0] != "#"))))
    assert len(rows) == 60 and [int(r["sequence"]) for r in rows] == list(range(60))
    ok = [r for r in rows if r["fit"] == "ok"]
    assert len(ok) >= 57, (vessel, [r["fit"] for r in rows])
    widths = np.array([float(r["width"]) for r in ok])
    said = np.array([float(r["width_std"]) for r in ok])
    bias, std = widths.mean() - vessel["width"], widths.std(ddof=1)
    print(f'{vessel["width"]:5.1f} px: bias {bias:+.3f}, std {std:.3f}, said {np.sqrt((said**2).mean()):.3f}')
    # Blur and interpolation alone make 0.17 of so narrow a box.
    assert abs(bias) < (0.2 if vessel["width"] > 4 else 0.25) and std < 0.2, (vessel, bias, std)
    assert 0.5 < np.sqrt((said**2).mean()) / std < 2, (vessel, said.mean(), std)
    depth = np.mean([float(r["depth"]) for r in ok])
    assert (depth > 0) == vessel["bright"] and 0.15 < abs(depth) < 0.3, depth
    centre = np.mean([float(r["centre"]) for r in ok])
    assert abs(centre - vessel["centre"]) < 0.1, (centre, vessel)
)py";

std::string with_seed(std::string script) {
    const std::string word = "SEED";
    return script.replace(script.find(word), word.size(),
                          "15304"); // constant seed: the bounds are statistical
}

TEST(Width, OfSimulatedVesselsIsWithinAFifthOfAPixel) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, with_seed(kMake))) << test::read_file(folder / "python.log");
    for (int i = 0; i < 12; ++i) {
        const std::string name = "v" + std::to_string(i);
        const ChildResult ran =
            run_program({"run", name + ".tiff", "--stage", "none", "--regions", name + ".json", "--widths",
                         name + ".csv", "--band", "41", "--backend", "cpu", "--quiet"},
                        folder.path().string());
        ASSERT_EQ(ran.status, 0) << ran.all();
    }
    EXPECT_TRUE(test::python(folder, kCompare)) << test::read_file(folder / "python.log");
    std::printf("%s", test::read_file(folder / "python.log").c_str());
}

/// Raw speckle of 2 px, 64 frames: within a vessel 17 px wide, at an angle, K² is 1/3 of the surrounding.
constexpr const char* kSpeckle = R"py(
import json
import numpy as np, tifffile
from scipy.ndimage import gaussian_filter
rng = np.random.default_rng(SEED)
H, W, FRAMES, WIDTH, ANGLE = 120, 160, 64, 17.0, 0.4
y, x = np.mgrid[0:H, 0:W].astype(float)
s = (x - 80.3) * np.cos(ANGLE) + (y - 60.1) * np.sin(ANGLE)
inside = np.abs(s) <= WIDTH / 2 # the centre of a pixel: at an angle the edge is where it should be
def pattern():
    field = gaussian_filter(rng.normal(size=(H, W)), 0.85, mode="wrap") + 1j * gaussian_filter(
        rng.normal(size=(H, W)), 0.85, mode="wrap")
    i = np.abs(field) ** 2
    return i / i.mean()
frames = []
for _ in range(FRAMES):
    few = sum(pattern() for _ in range(3)) / 3
    many = sum(pattern() for _ in range(9)) / 9
    frames.append(np.round(600 * np.where(inside, many, few)))
tifffile.imwrite("raw.tiff", np.clip(frames, 0, 4095).astype(np.uint16), photometric="minisblack")
nx, ny = np.cos(ANGLE), np.sin(ANGLE)
# On the map: a chain that crops 2 px of each side.
line = [[80.3 - 2 - 35 * nx, 60.1 - 2 - 35 * ny], [80.3 - 2 + 35 * nx, 60.1 - 2 + 35 * ny]]
json.dump({"regions": [{"name": "across", "shape": "line", "points": line}]}, open("line.json", "w"))
)py";

constexpr const char* kCompareChain = R"py(
import csv, io
import numpy as np
last = {}
for name in ("k2", "k", "flow"):
    text = open(name + ".csv").read()
    assert ("fitted to: K²" in text) == (name != "k2"), text[:900]
    rows = list(csv.DictReader(io.StringIO("".join(l for l in text.splitlines(True) if l[0] != "#"))))
    last[name] = rows[-1]
    assert rows[-1]["fit"] == "ok", rows[-1]
    print(name, rows[-1])
    assert abs(float(rows[-1]["width"]) - 17) < 0.2 + 2 * float(rows[-1]["width_std"]), rows[-1]
    assert float(rows[-1]["width_std"]) < 0.5, rows[-1]
widths = [float(last[n]["width"]) for n in last]
assert max(widths) - min(widths) < 0.02, widths # the same K², whatever the map
assert float(last["flow"]["depth"]) > 0 > float(last["k"]["depth"])
k2, k, flow = last["k2"], last["k"], last["flow"]
assert abs(float(k["baseline"]) ** 2 / float(k2["baseline"]) - 1) < 1e-3
middle = lambda row: float(row["baseline"]) + float(row["depth"])
assert abs(middle(flow) / float(flow["baseline"]) * middle(k2) / float(k2["baseline"]) - 1) < 1e-3
)py";

TEST(Width, ThroughTheWholeChainIsRightForEveryMap) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, with_seed(kSpeckle))) << test::read_file(folder / "python.log");
    for (const auto& [name, output] : {std::pair{"k2", "contrast2"}, {"k", "contrast"}, {"flow", "sfi"}}) {
        const ChildResult ran =
            run_program({"run", "raw.tiff", "--backend", "cpu", "--quiet", "--band", "45", "--regions",
                         "line.json", "--widths", std::string(name) + ".csv", "--stage",
                         "spatiotemporal:radius=2,frames=64,border=crop,output=" + std::string(output)},
                        folder.path().string());
        ASSERT_EQ(ran.status, 0) << ran.all();
    }
    EXPECT_TRUE(test::python(folder, kCompareChain)) << test::read_file(folder / "python.log");
}

/// Vessels whose K² falls to 0 at the centre: the fitted curve is above or below it.
constexpr const char* kNoContrast = R"py(
import numpy as np, tifffile
rng = np.random.default_rng(SEED)
x = np.arange(64)
k2 = np.empty((60, 9, 64), np.float32)
for page in k2:
    page[:] = np.maximum(0.04 * (1 - np.exp(-(x - 31.3) ** 2 / 18)) + rng.normal(0, 2e-4, 64), 0)
tifffile.imwrite("k2.tiff", k2, photometric="minisblack")
open("line.json", "w").write('{"regions":[{"name":"a","shape":"line","points":[[0,4],[63,4]]}]}')
)py";
constexpr const char* kDepths = R"py(
import csv
import numpy as np
def rows(name):
    return list(csv.DictReader(l for l in open(name) if not l.startswith("#")))
k2, flow = rows("k2.csv"), rows("flow.csv")
assert len(k2) == len(flow) == 60 and all(r["fit"] == "ok" for r in k2 + flow)
middle, is_ = (np.array([float(r["baseline"]) + float(r["depth"]) for r in of]) for of in (k2, flow))
below = middle < 0
assert 5 < below.sum() < 55, below.sum() # no K², but a curve
assert np.isinf(is_[below]).all() and (is_[below] > 0).all(), is_[below]
assert np.isfinite(is_[~below]).all() and (is_[~below] > 0).all(), is_[~below]
)py";

TEST(Width, FitOfAVesselWithoutContrastHasNoNegativeFlow) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, with_seed(kNoContrast))) << test::read_file(folder / "python.log");
    for (const auto& [name, stage] : {std::pair{"k2", "none"}, {"flow", "flow:input=contrast2,output=bfi"}}) {
        const ChildResult ran =
            run_program({"run", "k2.tiff", "--backend", "cpu", "--quiet", "--band", "3", "--regions",
                         "line.json", "--widths", std::string(name) + ".csv", "--stage", stage},
                        folder.path().string());
        ASSERT_EQ(ran.status, 0) << ran.all();
    }
    EXPECT_TRUE(test::python(folder, kDepths)) << test::read_file(folder / "python.log");
}

TEST(Width, TableMayStayEmpty) {
    const TemporaryFolder folder;
    TableFile table(folder / "t.csv", "# mark\n");
    table.append("");
    table.append("1,2\n");
    table.append("");
    EXPECT_EQ(table.bytes(), 11U);
    table.close();
    EXPECT_EQ(test::read_file(folder / "t.csv"), "# mark\n1,2\n");
}

constexpr const char* kOneLine = R"({"regions":[{"name":"a","shape":"line","points":[[5,5],[60,40]]}]})";

/// Rows of a table; each has all fields.
int rows_of(const std::string& text) {
    std::istringstream lines(text);
    int rows = 0;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#')) {
            EXPECT_EQ(std::count(line.begin(), line.end(), ','), 15) << line;
            ++rows;
        }
    return rows;
}

TEST(Width, TableOfAKilledRunHasOneIncompleteRowAtMost) {
    const TemporaryFolder folder;
    test::write_file(folder / "r.json", kOneLine);
    Child child({test::program_path(), "run", "synthetic:vessels?width=64&height=48&rate=2000&live=true",
                 "--regions", "r.json", "--widths", "w.csv"},
                folder.path().string());
    ASSERT_TRUE(test::eventually([&] {
        std::error_code none;
        const auto bytes = std::filesystem::file_size(folder / "w.csv", none);
        return !none && bytes > 20000;
    }));
    child.signal(SIGKILL);
    EXPECT_EQ(child.finish().status, 128 + SIGKILL);
    const std::string text = test::read_file(folder / "w.csv");
    EXPECT_GT(rows_of(text.substr(0, text.rfind('\n') + 1)), 50);
}

TEST(Width, TableOnAFullDiskReportsAnErrorAndKeepsWholeLines) {
    const TemporaryFolder folder;
    test::write_file(folder / "r.json", kOneLine);
    const ChildResult ran = run_child({"sh", "-c",
                                       "ulimit -f 32; exec '" + test::program_path() +
                                           "' run 'synthetic:vessels?width=64&height=48&live=false' "
                                           "--frames 2000 --regions r.json --widths w.csv"},
                                      folder.path().string());
    EXPECT_EQ(ran.status, 1) << ran.all();
    EXPECT_NE(ran.err.find("w.csv stopped: File too large"), std::string::npos) << ran.all();
    const std::string text = test::read_file(folder / "w.csv");
    EXPECT_EQ(text.back(), '\n');
    EXPECT_GT(rows_of(text), 50);
}

} // namespace specklescope::width_test
