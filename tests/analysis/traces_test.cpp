// Traces written by the real program, compared with numpy on the recorded maps, and complete lines for every
// kind of end of the run.
#include "analysis/pulse_table.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/refused.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace specklescope::traces_test {

constexpr const char* kColumns = "sequence,capture_s,arrival_s,region,mean,std,min,max,valid,infinite,"
                                 "saturated,version,mean_of_map,median,pixels,position,area_um2,warming_up";
constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},
{"name":"a, \"b\" c","shape":"polygon","points":[[2,2],[40,4],[20,40]]},
{"name":"disk","shape":"ellipse","points":[[60,20],[90,50.5]]},
{"name":"edge","shape":"rectangle","points":[[120,90],[140,120]]}]})";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

class Traces : public testing::Test {
protected:
    void SetUp() override { test::write_file(folder / "r.json", kRegions); }
    ChildResult run(std::vector<std::string> arguments) const {
        return run_program(std::move(arguments), folder.path().string());
    }
    TemporaryFolder folder;
};

/// Independent of the program's code: its own test of every pixel, its own means, the maps from TIFF.
constexpr const char* kOracle = R"py(
import csv, io, json, math
import numpy as np, tifffile

def inside(points, x, y):
    odd = False
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
        cross = (bx-ax)*(y-ay) - (by-ay)*(x-ax)
        if cross == 0 and min(ax,bx) <= x <= max(ax,bx) and min(ay,by) <= y <= max(ay,by):
            return True
        if (ay > y) != (by > y) and ax + (y-ay)*(bx-ax)/(by-ay) > x:
            odd = not odd
    return odd

def mask(region, shape):
    p, (h, w) = region["points"], shape
    m = np.zeros(shape, bool)
    for y in range(h):
        for x in range(w):
            if region["shape"] == "rectangle":
                m[y, x] = p[0][0] <= x <= p[1][0] and p[0][1] <= y <= p[1][1]
            elif region["shape"] == "ellipse":
                a, b = (p[1][0]-p[0][0])/2, (p[1][1]-p[0][1])/2
                m[y, x] = ((x-p[0][0]-a)/a)**2 + ((y-p[0][1]-b)/b)**2 <= 1
            else:
                m[y, x] = inside([tuple(q) for q in p], x, y)
    return m

def maps(name):
    with tifffile.TiffFile(name) as f:
        about = json.loads(f.pages[0].description[f.pages[0].description.index("{"):])
        return np.stack([p.asarray() for p in f.pages]).astype(np.float64), about

def close(a, b, what):
    assert (math.isnan(a) and math.isnan(b)) or a == b or abs(a-b) <= 1e-6*abs(b), (what, a, b)

k2, about = maps("k2.tiff")
flow, about_flow = maps("flow.tiff")
T = about_flow["exposure_used_ms"] / 1e3
raw, _ = maps("raw.tiff")
h, w = raw[0].shape
edge = (h - k2[0].shape[0]) // 2 # what the chain crops of each side
assert (raw >= 4095).sum() > 50, raw.max()
regions = json.load(open("r.json"))["regions"]
text = open("flow.csv", newline="").read()
assert text.startswith("# Specklescope traces, version 1\n"), text[:80]
assert "chain: gaussian:" in text and "speckle flow index" in text and "clipped" in text, text[:2000]
rows = list(csv.DictReader(io.StringIO("".join(l for l in text.splitlines(True) if not l.startswith("#")))))
assert len(rows) == len(regions) * len(k2) and len(k2) == 9, (len(rows), len(k2))
masks = [mask(r, k2[0].shape) for r in regions]
for i, row in enumerate(rows):
    frame, which = divmod(i, len(regions))
    m = masks[which]
    assert int(row["sequence"]) == frame and row["region"] == regions[which]["name"], row
    v, squares = flow[frame][m], k2[frame][m]
    close(float(row["mean"]), 1/(2*T*np.mean(squares)), "mean")
    good = v[np.isfinite(v)]
    close(float(row["mean_of_map"]), np.mean(good), "mean_of_map")
    close(float(row["std"]), np.std(good, ddof=1), "std")
    close(float(row["min"]), good.min(), "min")
    close(float(row["max"]), good.max(), "max")
    close(float(row["median"]), np.median(good), "median")
    assert int(row["valid"]) == good.size and int(row["pixels"]) == v.size == m.sum(), row
    assert int(row["infinite"]) == np.isinf(v).sum() and row["version"] == "0", row
    assert int(row["saturated"]) == (raw[frame][edge:h-edge, edge:w-edge][m] >= 4095).sum(), row
assert masks[0].sum() == 400
)py";

/// Three times brighter: some samples reach full scale.
constexpr const char* kBrighter = R"py(
import numpy as np, tifffile
with tifffile.TiffFile("raw.tiff") as f:
    strips = [s for p in f.pages for s in zip(p.dataoffsets, p.databytecounts)]
    order = f.byteorder
for at, size in strips:
    strip = np.memmap("raw.tiff", order + "u2", "r+", at, (size // 2,))
    strip[:] = np.minimum(strip.astype(int) * 3, 4095)
)py";

TEST_F(Traces, MatchNumpyOnTheRecordedMapOfK2) {
    const std::string scene = "synthetic:vessels?width=128&height=96&live=false";
    const ChildResult made =
        run({"run", scene, "--stage", "none", "--frames", "9", "--record-raw", "raw.tiff", "--quiet"});
    ASSERT_EQ(made.status, 0) << made.all();
    EXPECT_TRUE(test::python(folder, kBrighter)) << test::read_file(folder / "python.log");
    const std::vector<std::string> smooth = {
        "--stage", "gaussian:sigma=0.6", "--stage", "speckle:radius=2,output=contrast2",
        "--stage", "average:frames=3",   "--quiet", "--backend",
        "cpu"};
    std::vector<std::string> squares = {"run", "raw.tiff", "--record", "k2.tiff"};
    squares.insert(squares.end(), smooth.begin(), smooth.end());
    const ChildResult k2 = run(squares);
    ASSERT_EQ(k2.status, 0) << k2.all();
    std::vector<std::string> flow = {"run",    "raw.tiff", "--record", "flow.tiff", "--regions",
                                     "r.json", "--traces", "flow.csv", "--medians"};
    flow.insert(flow.end(), smooth.begin(), smooth.end());
    flow.insert(flow.end(), {"--stage", "flow"});
    const ChildResult traced = run(flow);
    ASSERT_EQ(traced.status, 0) << traced.all();
    EXPECT_TRUE(test::python(folder, kOracle)) << test::read_file(folder / "python.log");
}

TEST_F(Traces, TheHeaderNamesColumnsAndUnits) {
    const ChildResult ran = run({"run", "synthetic:vessels?width=128&height=96&live=false", "--frames", "2",
                                 "--regions", "r.json", "--traces", "t.csv"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_NE(ran.out.find("t.csv"), std::string::npos) << ran.out;
    EXPECT_NE(ran.err.find("Region 'edge' lies partly outside the image of 128×96: its 48 pixels inside are "
                           "measured."),
              std::string::npos)
        << ran.err;
    const std::string text = test::read_file(folder / "t.csv");
    EXPECT_NE(text.find(std::string("\n") + kColumns + "\n0,"), std::string::npos) << text;
    EXPECT_NE(text.find("# version 0, mean: of the mean of K², converted as the map is: 1/⟨1/value⟩\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(",\"a, \"\"b\"\" c\","), std::string::npos) << text;
    EXPECT_NE(text.find(",,"), std::string::npos); // no median was requested
}

std::size_t rows_in(const std::string& text) {
    const std::vector<std::string> lines = lines_of(text);
    return lines.size() -
           static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(),
                                                  [](const auto& line) { return line.starts_with('#'); }));
}

/// Lines after the header: as many fields as columns. Names contain no line ends here.
void expect_whole_lines(const std::string& text, std::size_t least) {
    const std::string_view columns = kColumns;
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    for (const std::string& line : lines_of(text))
        if (!line.starts_with('#')) {
            EXPECT_EQ(std::count(line.begin(), line.end(), ','),
                      std::count(columns.begin(), columns.end(), ','))
                << line;
        }
    EXPECT_GT(rows_in(text), least);
}

constexpr const char* kPlain = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},
{"name":"tri","shape":"polygon","points":[[2,2],[40,4],[20,40]]}]})";

/// So many that each write, five times per second, is hundreds of pages.
std::string many_regions(int count) {
    std::string text = "{\"regions\":[";
    for (int i = 0; i < count; ++i)
        text += std::string(i == 0 ? "" : ",") + "{\"name\":\"region " + std::to_string(i * i * i) +
                "\",\"shape\":\"rectangle\",\"points\":[[" + std::to_string(i % 60) + ",3],[63,40]]}";
    return text + "]}";
}

/// Killed as soon as the file grows, often in the middle of a write: two of twenty files end within a row.
TEST_F(Traces, OfAKilledRunHaveOneIncompleteRowAtMost) {
    test::write_file(folder / "r.json", many_regions(1000));
    for (int round = 0; round < 20; ++round) {
        Child child({test::program_path(), "run", "synthetic:vessels?width=64&height=48&rate=2000&live=true",
                     "--regions", "r.json", "--traces", "t.csv"},
                    folder.path().string());
        const auto bytes = [&] {
            std::error_code none;
            const auto size = std::filesystem::file_size(folder / "t.csv", none);
            return none ? 0 : size;
        };
        ASSERT_TRUE(test::eventually([&] { return rows_in(test::read_file(folder / "t.csv")) > 100; }));
        const std::size_t wanted = bytes() + 5000U * static_cast<unsigned>(round);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (bytes() <= wanted && std::chrono::steady_clock::now() < deadline) // polls continuously
            ;
        child.signal(SIGKILL);
        EXPECT_EQ(child.finish().status, 128 + SIGKILL);
        const std::string text = test::read_file(folder / "t.csv");
        const std::string whole = text.substr(0, text.rfind('\n') + 1);
        expect_whole_lines(whole, 100);
        std::size_t read = 1; // the column names
        for (const RegionTrace& trace : read_trace_table(folder / "t.csv").regions)
            read += trace.values.size();
        EXPECT_EQ(read, rows_in(whole)) << "the reader drops the incomplete row only";
        std::filesystem::remove(folder / "t.csv");
    }
}

/// Earlier versions filled pages of 4 KiB with such lines.
TEST_F(Traces, WithCommentsOfSpacesAreRead) {
    const ChildResult ran = run({"run", "synthetic:vessels?width=128&height=96&live=false", "--frames", "20",
                                 "--regions", "r.json", "--traces", "t.csv", "--quiet"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    std::string filled;
    for (const std::string& line : lines_of(test::read_file(folder / "t.csv")))
        filled += line + "\n#" + std::string(filled.size() % 97, ' ') + "\n";
    test::write_file(folder / "old.csv", filled);
    const TraceTable now = read_trace_table(folder / "t.csv"), old = read_trace_table(folder / "old.csv");
    ASSERT_EQ(old.regions.size(), now.regions.size());
    ASSERT_GT(now.regions.size(), 0U);
    for (std::size_t i = 0; i < now.regions.size(); ++i) {
        EXPECT_EQ(old.regions[i].region, now.regions[i].region);
        EXPECT_EQ(old.regions[i].sequences, now.regions[i].sequences);
        EXPECT_EQ(old.regions[i].values, now.regions[i].values);
    }
    EXPECT_EQ(old.map, now.map);
}

TEST_F(Traces, OnAFullDiskReportAnErrorAndKeepWholeLines) {
    test::write_file(folder / "r.json", kPlain);
    // A file limited to 64 kB, as in the recorders' tests.
    const ChildResult ran =
        run_child({"sh", "-c",
                   "ulimit -f 128; exec '" + test::program_path() +
                       "' run 'synthetic:vessels?width=64&height=48&live=false&rate=100000' --frames 3000 "
                       "--regions r.json --traces t.csv"},
                  folder.path().string());
    EXPECT_EQ(ran.status, 1) << ran.all();
    EXPECT_NE(ran.err.find("t.csv stopped: File too large"), std::string::npos) << ran.all();
    const std::string text = test::read_file(folder / "t.csv");
    EXPECT_LE(text.size(), 65536U);
    EXPECT_GT(text.size(), 60000U);
    expect_whole_lines(text, 100);
}

TEST_F(Traces, ReplaceOnlyFilesOfThisProgram) {
    const std::vector<std::string> arguments = {
        "run",       "synthetic:vessels?width=128&height=96&live=false",
        "--frames",  "2",
        "--regions", "r.json",
        "--traces",  "t.csv",
        "--quiet"};
    test::write_file(folder / "t.csv", "my,own\n1,2\n");
    const ChildResult refused = run(arguments);
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.err.find("'t.csv' exists"), std::string::npos);
    EXPECT_EQ(test::read_file(folder / "t.csv"), "my,own\n1,2\n");
    std::filesystem::remove(folder / "t.csv");
    EXPECT_EQ(run(arguments).status, 0);
    const std::string first = test::read_file(folder / "t.csv");
    EXPECT_EQ(run(arguments).status, 0);
    EXPECT_EQ(lines_of(test::read_file(folder / "t.csv")).size(), lines_of(first).size());
}

TEST_F(Traces, AndRegionsRefuseInvalidRequests) {
    test::write_file(folder / "far.json",
                     R"({"regions":[{"name":"far","shape":"line","points":[[500,0],[510,9]]}]})");
    test::write_file(folder / "bad.json", "{\"regions\":[\n{\"name\":\"a\"");
    test::write_file(folder / "s.toml", "traces = \"x.csv\"\nregions = \"r.json\"\n");
    const std::vector<Refused> cases = {
        {{"--traces", "t.csv"}, 2, "--traces = t.csv needs regions"},
        {{"--regions", "far.json", "--traces", "t.csv"},
         2,
         "Region 'far' has no pixel in the image of 128×96"},
        {{"--regions", "bad.json"}, 2, "bad.json, line 2, byte 25: it is not JSON."},
        {{"--regions", "none.json"}, 1, "There is no file 'none.json'"},
        {{"--regions", "r.json", "--traces", "missing/t.csv"}, 1, "There is no folder missing"},
        {{"--config", "s.toml"}, 2, "s.toml, line 1: traces writes the file 'x.csv'"}};
    expect_refused(folder.path().string(), cases,
                   [&] { EXPECT_FALSE(std::filesystem::exists(folder / "x.csv")); });
    const ChildResult trusted = run({"run", "synthetic:vessels?width=128&height=96&live=false", "--frames",
                                     "2", "--config", "s.toml", "--trust", "--quiet"});
    EXPECT_EQ(trusted.status, 0) << trusted.all();
    EXPECT_TRUE(std::filesystem::exists(folder / "x.csv"));
}

} // namespace specklescope::traces_test
