// Kymographs written by the real program, compared with scipy's profiles of the recorded map and opened by
// tifffile, for every kind of end of the run.
#include "analysis/region.hpp"
#include "recording/lines/lines.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/refused.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace specklescope::kymograph_test {

constexpr const char* kLines = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},
{"name":"artery","shape":"line","points":[[10.5,8.25],[90,70]]},
{"name":"a/b","shape":"line","points":[[60,20],[60,50]]},
{"name":"beyond","shape":"line","points":[[100,40],[140,45]]}]})";

class Kymographs : public testing::Test {
protected:
    void SetUp() override {
        test::write_file(folder / "r.json", kLines);
        std::filesystem::create_directory(folder / "out");
    }
    ChildResult run(std::vector<std::string> arguments) const {
        return run_program(std::move(arguments), folder.path().string());
    }
    TemporaryFolder folder;
};

/// Independent of the program's code.
constexpr const char* kOracle = R"py(
import csv, json
import numpy as np, tifffile
from scipy.ndimage import map_coordinates

BAND = 4
with tifffile.TiffFile("flow.tiff") as f:
    maps = np.stack([p.asarray() for p in f.pages]).astype(np.float64)
    frames = [json.loads(p.description[p.description.index("{"):]) for p in f.pages]
frames[0] = frames[0]["frame"]
assert np.isinf(maps).sum() == 0 and len(maps) == 25
names = {"artery": "artery", "a/b": "a_b", "beyond": "beyond"}
for region in json.load(open("r.json"))["regions"]:
    if region["shape"] != "line":
        continue
    path = "out/k-" + names[region["name"]] + ".tiff"
    with tifffile.TiffFile(path) as f:
        assert len(f.pages) == 1
        page = f.pages[0]
        is_, text = page.asarray(), page.description
        x, y = page.tags["XResolution"].value, page.tags["YResolution"].value
    about = json.loads(text[text.index("{"):])
    (x0, y0), (x1, y1) = region["points"]
    length = np.hypot(x1 - x0, y1 - y0)
    steps = round(length)
    assert is_.shape == (25, steps + 1) and is_.dtype == np.float32, is_.shape
    assert text.startswith("ImageJ=") and "\nunit=pixel\nyunit=s\n" in text
    assert abs(x[1] / x[0] - length / steps) < 1e-8 and abs(y[0] / y[1] - 60) < 1e-6, (x, y)
    assert about["finished"] and about["rows"] == 25 and about["dropped"] == 0, about
    assert about["region"] == region["name"] and about["line"] == region["points"] and about["band_px"] == BAND
    assert abs(about["spacing_px"] - length / steps) < 1e-12 and abs(about["row_period_s"] - 1 / 60) < 1e-8
    assert about["symbol"] == "SFI" and about["unit"] == "1/s" and "radius=2" in about["parameters"], about
    along = np.arange(steps + 1) / steps
    nx, ny = -(y1 - y0) / length, (x1 - x0) / length
    for row, map_ in zip(is_, maps):
        top = bottom = 0
        for k in range(BAND):
            off = k - (BAND - 1) / 2
            at = np.array([y0 + along * (y1 - y0) + off * ny, x0 + along * (x1 - x0) + off * nx])
            inside = np.all((at >= -0.5) & (at < np.array(map_.shape)[:, None] - 0.5), axis=0)
            top = top + inside * map_coordinates(1 / map_, at, order=1, mode="nearest")
            bottom = bottom + inside
        with np.errstate(all="ignore"):
            wanted = np.where(bottom > 0, bottom / top, np.nan)
        assert (np.isnan(row) == np.isnan(wanted)).all()
        good = ~np.isnan(wanted)
        assert good.any() and good.all() == (region["name"] != "beyond")
        assert (np.abs(row - wanted)[good] / wanted[good]).max() < 1e-6
    rows = list(csv.DictReader(l for l in open(path + ".csv") if l[0] != "#"))
    assert len(rows) == 25
    for i, (row, frame) in enumerate(zip(rows, frames)):
        assert int(row["row"]) == i and int(row["sequence"]) == frame["sequence"] and row["version"] == "0"
        assert round(float(row["capture_s"]) * 1e9) == frame["capture_ns"], (row, frame)
)py";

TEST_F(Kymographs, MatchScipysProfilesOfTheRecordedMap) {
    const ChildResult ran = run({"run",         "synthetic:vessels?width=128&height=96&live=false",
                                 "--frames",    "25",
                                 "--stage",     "speckle:radius=2,output=contrast2",
                                 "--stage",     "average:frames=3",
                                 "--stage",     "flow",
                                 "--record",    "flow.tiff",
                                 "--regions",   "r.json",
                                 "--kymograph", "out/k.tiff",
                                 "--band",      "4",
                                 "--backend",   "cpu"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_NE(ran.out.find("out/k-*.tiff: 25 frames"), std::string::npos) << ran.out;
    EXPECT_TRUE(test::python(folder, kOracle)) << test::read_file(folder / "python.log");
}

/// Checks that the file agrees with its description and has at least `sys.argv[1]` rows.
constexpr const char* kReadCut = R"py(
import csv, json
import numpy as np, tifffile
raw = None
for name in ("artery", "a_b", "beyond"):
    with tifffile.TiffFile(f"out/k-{name}.tiff") as f:
        values, text = f.pages[0].asarray(), f.pages[0].description
    about = json.loads(text[text.index("{"):])
    assert not about["finished"] and 50 < about["rows"] <= len(values), (about["rows"], len(values))
    assert np.isfinite(values).any(axis=1).all() and (np.nan_to_num(values) != 0).any(axis=1).all()
    text = open(f"out/k-{name}.tiff.csv").read()
    text = text[:text.rfind("\n") + 1] # a kill may cut the last row
    rows = list(csv.DictReader(l for l in text.splitlines(True) if l[0] != "#"))
    assert len(rows) >= len(values)
    assert [int(r["row"]) for r in rows] == list(range(len(rows)))
)py";

TEST_F(Kymographs, OfAKilledRunContainWhatTheyClaim) {
    for (int round = 0; round < 3; ++round) {
        Child child({test::program_path(), "run",
                     "synthetic:vessels?width=128&height=96&live=false&rate=100000", "--regions", "r.json",
                     "--kymograph", "out/k.tiff"},
                    folder.path().string());
        const auto says_rows = [&](const std::string& name) { // in its header, which is written last
            const std::string text = test::read_file(folder / ("out/k-" + name + ".tiff"));
            const std::size_t at = text.find("\"rows\": ");
            return at != std::string::npos && std::strtoul(text.c_str() + at + 8, nullptr, 10) > 50;
        };
        ASSERT_TRUE(
            test::eventually([&] { return says_rows("artery") && says_rows("a_b") && says_rows("beyond"); }));
        const auto bytes = [&] { return std::filesystem::file_size(folder / "out/k-beyond.tiff"); };
        const std::size_t wanted = bytes() + 40000U * static_cast<unsigned>(round);
        ASSERT_TRUE(test::eventually([&] { return bytes() > wanted; }));
        child.signal(SIGKILL);
        EXPECT_EQ(child.finish().status, 128 + SIGKILL);
        EXPECT_TRUE(test::python(folder, kReadCut)) << test::read_file(folder / "python.log");
        std::filesystem::remove_all(folder / "out");
        std::filesystem::create_directory(folder / "out");
    }
}

TEST_F(Kymographs, OnAFullDiskReportAnErrorAndStayReadable) {
    const ChildResult ran =
        run_child({"sh", "-c",
                   "ulimit -f 256; exec '" + test::program_path() +
                       "' run 'synthetic:vessels?width=128&height=96&live=false&rate=100000' --frames 3000 "
                       "--regions r.json --kymograph out/k.tiff"},
                  folder.path().string());
    EXPECT_EQ(ran.status, 1) << ran.all();
    EXPECT_NE(ran.err.find(".tiff stopped: File too large"), std::string::npos) << ran.all();
    EXPECT_TRUE(test::python(folder, kReadCut)) << test::read_file(folder / "python.log");
}

/// Each offered frame is in the file or counted. A row of a line represents it.
constexpr const char* kBalance = R"py(
import collections, csv, json, re
import tifffile

def whole(path, lines): # frames of which every row is there
    seen = collections.Counter(r["sequence"] for r in csv.DictReader(l for l in open(path) if l[0] != "#"))
    return sum(n == lines for n in seen.values())

said = " ".join(open("said.txt").read().split())
sinks = {path: {"written": int(written), "dropped": int(dropped)} for path, written, dropped in
         re.findall(r"wrote (\S+): (\d+) frames, [^,]*, (\d+) dropped; stopped: ", said)}
assert len(sinks) == 3, said
offered = int(re.search(r"frames (\d+) in, \1 processed", said).group(1)) # when all have stopped, the run ends
for path, sink in sinks.items():
    assert 0 < sink["written"] < offered and sink["written"] + sink["dropped"] == offered, (sinks, offered)
assert whole("w.csv", 3) == sinks["w.csv"]["written"], (whole("w.csv", 3), sinks["w.csv"])
assert whole("t.csv", 4) == sinks["t.csv"]["written"], (whole("t.csv", 4), sinks["t.csv"])
least = offered
for name in ("artery", "a_b", "beyond"):
    with tifffile.TiffFile(f"out/k-{name}.tiff") as f:
        values, text = f.pages[0].asarray(), f.pages[0].description
    about = json.loads(text[text.index("{"):])
    assert about["rows"] == len(values) and about["rows"] + about["dropped"] == offered, (about, offered)
    times = [r for r in csv.DictReader(l for l in open(f"out/k-{name}.tiff.csv") if l[0] != "#")]
    assert len(times) == about["rows"]
    assert round(float(times[-1]["capture_s"]) * 1e9) == about["last_capture_ns"], about
    least = min(least, about["rows"])
assert sinks["out/k-*.tiff"]["written"] == least, (least, sinks)
)py";

TEST_F(Kymographs, TracesAndWidthsCountEachFrameOnceOnAFullDisk) {
    const ChildResult ran =
        run_child({"sh", "-c",
                   "ulimit -f 256; exec '" + test::program_path() +
                       "' run 'synthetic:vessels?width=128&height=96&live=false&rate=100000' --frames 3000 "
                       "--regions r.json --kymograph out/k.tiff --traces t.csv --widths w.csv"},
                  folder.path().string());
    EXPECT_EQ(ran.status, 1) << ran.all();
    test::write_file(folder / "said.txt", ran.out);
    EXPECT_TRUE(test::python(folder, kBalance)) << test::read_file(folder / "python.log");
}

TEST_F(Kymographs, ReportOneErrorIfTheyCannotBeCreated) {
    const ChildResult ran = run({"run", "synthetic:vessels?width=128&height=96&live=false", "--frames", "5",
                                 "--regions", "r.json", "--kymograph", std::string(255, 'k') + ".tiff"});
    EXPECT_EQ(ran.status, 1) << ran.all();
    EXPECT_NE(ran.err.find("is too long"), std::string::npos) << ran.all();
}

constexpr const char* kTold = R"py(
import json, re
import tifffile
def told(path, what):
    return re.findall(rf"^# version (\d+), {what}: (.*)$", open(path).read(), re.M)
exposure = told("t.csv", "exposure")
assert len(exposure) == 1 and exposure[0][1].startswith("4 ms"), exposure
for path in ("w.csv", "out/k-artery.tiff.csv"):
    assert told(path, "exposure") == exposure, (told(path, "exposure"), exposure)
    assert told(path, "chain") == told("t.csv", "chain")
with tifffile.TiffFile("out/k-artery.tiff") as f:
    text = f.pages[0].description
about = json.loads(text[text.index("{"):])
assert about["exposure_used_ms"] == 4 and about["settings_changed"] == 0, about
)py";

TEST_F(Kymographs, AndWidthsHaveTheExposureOfTraces) {
    const ChildResult ran =
        run({"run", "synthetic:vessels?width=128&height=96&live=false&exposure=4", "--frames", "5",
             "--regions", "r.json", "--kymograph", "out/k.tiff", "--traces", "t.csv", "--widths", "w.csv",
             "--stage", "speckle:exposure=10,output=sfi"});
    ASSERT_EQ(ran.status, 0) << ran.all();
    EXPECT_TRUE(test::python(folder, kTold)) << test::read_file(folder / "python.log");
}

TEST_F(Kymographs, OverwriteNothing) {
    const std::vector<std::string> arguments = {
        "run",         "synthetic:vessels?width=128&height=96&live=false",
        "--frames",    "2",
        "--regions",   "r.json",
        "--kymograph", "out/k.tiff",
        "--quiet"};
    test::write_file(folder / "out/k-artery.tiff", "mine");
    test::write_file(folder / "out/k-a_b.tiff.csv", "mine too");
    ASSERT_EQ(run(arguments).status, 0);
    EXPECT_EQ(test::read_file(folder / "out/k-artery.tiff"), "mine");
    EXPECT_EQ(test::read_file(folder / "out/k-a_b.tiff.csv"), "mine too");
    EXPECT_EQ(names_in(folder / "out"),
              (std::vector<std::string>{"k-a_b-1.tiff", "k-a_b-1.tiff.csv", "k-a_b.tiff.csv",
                                        "k-artery-1.tiff", "k-artery-1.tiff.csv", "k-artery.tiff",
                                        "k-beyond.tiff", "k-beyond.tiff.csv"}));
}

std::shared_ptr<const RegionOutlines> line(double x1) {
    return make_outlines({{"one", RegionShape::line, {{1, 2}, {x1, 9}}, "", false}});
}

constexpr const char* kMoved = R"py(
import csv, numpy as np, tifffile
first, second = (tifffile.imread(f"out/k-{n}.tiff") for n in ("one", "one-1"))
assert first.shape[1] == 15 and second.shape[1] == 13, (first.shape, second.shape) # 13.9 and 12.2 px
rows = [list(csv.DictReader(l for l in open(f"out/k-{n}.tiff.csv") if l[0] != "#")) for n in ("one", "one-1")]
assert len(rows[0]) == len(first) and len(rows[1]) == len(second)
all_ = [int(r["sequence"]) for r in rows[0] + rows[1]]
assert all_ == list(range(len(all_))), all_[:20]
assert {r["version"] for r in rows[0]} == {"0"} and "0" not in {r["version"] for r in rows[1]}
)py";

TEST_F(Kymographs, ContinueInANewFileAfterALineMoves) {
    Pipeline pipeline(test::file_of(std::numeric_limits<std::uint64_t>::max()), Chain(), [] {
        PipelineOptions made = test::options();
        made.regions = line(13);
        return made;
    }());
    const auto sink = make_kymograph(folder / "out/k.tiff", 1);
    const auto watch = std::make_shared<test::WatchingSink>();
    std::atomic<std::uint64_t> newest{0};
    watch->on_push = [&](const Result& result) { newest = result.regions->placed->version; };
    pipeline.add_sink(sink);
    pipeline.add_sink(watch);
    pipeline.start();
    ASSERT_TRUE(test::eventually([&] { return watch->count() > 10; }));
    const std::uint64_t version = pipeline.set_regions(line(11));
    ASSERT_TRUE(test::eventually([&] { return newest == version; }));
    const auto before = watch->count();
    ASSERT_TRUE(test::eventually([&] { return watch->count() > before + 10; }));
    pipeline.stop();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().dropped, 0U);
    EXPECT_TRUE(test::python(folder, kMoved)) << test::read_file(folder / "python.log");
}

constexpr const char* kEdited = R"py(
import csv, json, re
import tifffile
with tifffile.TiffFile("out/k-one.tiff") as f:
    text = f.pages[0].description
about = json.loads(text[text.index("{"):])
assert about["settings_changed"] == 1, about
lines = open("out/k-one.tiff.csv").read().splitlines()
told = [i for i, line in enumerate(lines) if ", chain: " in line]
assert len(told) == 2 and "gamma=2" in lines[told[0]] and "gamma=3" in lines[told[1]], [lines[i] for i in told]
version = re.match(r"# version (\d+),", lines[told[1]])[1]
before = [l for l in lines[:told[1]] if l[0].isdigit()]
behind = [l for l in lines[told[1]:] if l[0].isdigit()]
assert before and behind and {l.split(",")[-1] for l in before} == {"0"}
assert {l.split(",")[-1] for l in behind} == {version} and version != "0", (version, behind[:3])
)py";

TEST_F(Kymographs, RecordEditsBetweenRows) {
    Chain chain;
    chain.add("gamma:gamma=2");
    Pipeline pipeline(test::file_of(std::numeric_limits<std::uint64_t>::max()), chain, [] {
        PipelineOptions made = test::options();
        made.regions = line(13);
        return made;
    }());
    const auto sink = make_kymograph(folder / "out/k.tiff", 1);
    const auto watch = std::make_shared<test::WatchingSink>();
    std::atomic<std::uint64_t> newest{0};
    watch->on_push = [&](const Result& result) { newest = result.info.version; };
    pipeline.add_sink(sink);
    pipeline.add_sink(watch);
    pipeline.start();
    ASSERT_TRUE(test::eventually([&] { return watch->count() > 10; }));
    const std::uint64_t version = pipeline.edit(0, "gamma", 3.0);
    ASSERT_TRUE(test::eventually([&] { return newest == version; }));
    pipeline.stop();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_TRUE(test::python(folder, kEdited)) << test::read_file(folder / "python.log");
}

TEST_F(Kymographs, AndWidthsRefuseInvalidRequests) {
    test::write_file(folder / "box.json",
                     R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    std::string many = R"({"regions":[)";
    for (int i = 0; i < 201; ++i)
        many += (i == 0 ? "" : ",") + std::string(R"({"name":"l)") + std::to_string(i) +
                R"(","shape":"line","points":[[1,1],[9,9]]})";
    test::write_file(folder / "many.json", many + "]}");
    test::write_file(folder / "s.toml", "kymograph = \"k.tiff\"\nregions = \"r.json\"\n");
    test::write_file(folder / "w.toml", "widths = \"w.csv\"\nregions = \"r.json\"\n");
    test::write_file(folder / "own.csv", "a,b\n");
    const std::vector<Refused> cases = {
        {{"--kymograph", "out/k.tiff"}, 2, "--kymograph = out/k.tiff needs regions"},
        {{"--widths", "w.csv"}, 2, "--widths = w.csv needs regions"},
        {{"--regions", "box.json", "--kymograph", "out/k.tiff"},
         2,
         "--kymograph needs a line region, but none of box.json"},
        {{"--regions", "box.json", "--widths", "w.csv"},
         2,
         "--widths needs a line region, but none of box.json"},
        {{"--regions", "many.json", "--kymograph", "out/k.tiff"}, 2, "--kymograph writes 200 files at most"},
        {{"--regions", "r.json", "--kymograph", "missing/k.tiff"}, 1, "There is no folder missing"},
        {{"--regions", "r.json", "--kymograph", "out/k.png"}, 2, "'out/k.png' cannot be a kymograph"},
        {{"--regions", "r.json", "--widths", "missing/w.csv"}, 1, "There is no folder missing"},
        {{"--regions", "r.json", "--widths", "own.csv"}, 1, "'own.csv' exists"},
        {{"--regions", "r.json", "--widths", "w.csv", "--band", "0"}, 2, "--band = 0 is not possible"},
        {{"--config", "s.toml"}, 2, "s.toml, line 1: kymograph writes the file 'k.tiff'"},
        {{"--config", "w.toml"}, 2, "w.toml, line 1: widths writes the file 'w.csv'"}};
    expect_refused(folder.path().string(), cases, [&] {
        EXPECT_TRUE(names_in(folder / "out").empty());
        EXPECT_FALSE(std::filesystem::exists(folder / "w.csv"));
    });
}

} // namespace specklescope::kymograph_test
