// Pixel size: from the command line into every file, as other programs read it, and back.
#include "config/cli.hpp"
#include "config/last_window.hpp"
#include "config/settings.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::scale_test {

constexpr const char* kScene = "synthetic:vessels?width=64&height=48&live=false";
constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[2,2],[11,6]]},
{"name":"across","shape":"line","points":[[2,10],[28,10]]}]})";

class Scale : public testing::Test {
protected:
    Scale() {
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
        write_text(folder_ / "r.json", kRegions);
    }
    ChildResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), "run");
        return run_program(std::move(words), folder_.path().string());
    }
    /// Frames of a chain with pixels of 5 µm, twice as large as the raw pixels of 2.5 µm.
    void record() const {
        const ChildResult result = run({kScene,
                                        "--frames",
                                        "8",
                                        "--stage",
                                        "downsample:factor=2",
                                        "--stage",
                                        "speckle",
                                        "--um-per-px",
                                        "5",
                                        "--record",
                                        "flow.tiff",
                                        "--record",
                                        "flow.raw",
                                        "--record",
                                        "flow.ome.tiff",
                                        "--record-raw",
                                        "raw.tiff",
                                        "--record-raw",
                                        "raw.mkv",
                                        "--record-raw",
                                        "raw.raw",
                                        "--regions",
                                        "r.json",
                                        "--traces",
                                        "t.csv",
                                        "--widths",
                                        "w.csv",
                                        "--kymograph",
                                        "k.tiff",
                                        "--note",
                                        "]]> & <b>",
                                        "--save-config",
                                        "s.toml"});
        ASSERT_EQ(result.status, 0) << result.all();
        std::vector<std::string> again = {"--config", "s.toml", "--trust"};
        const ChildResult made = run(again);
        ASSERT_EQ(made.status, 0) << made.all();
    }
    static Settings parse(std::vector<std::string> words) {
        words.insert(words.begin(), "specklescope");
        std::vector<const char*> argv;
        for (const std::string& word : words)
            argv.push_back(word.c_str());
        return parse_command_line(static_cast<int>(argv.size()), argv.data()).settings;
    }
    TemporaryFolder folder_;
};

constexpr const char* kCheck = R"py(
import csv, math, tifffile, xml.etree.ElementTree as tree
def table(name):
    with open(name) as f: return list(csv.DictReader(l for l in f if l[0] != "#"))
def resolution(name):
    with tifffile.TiffFile(name) as t:
        for page in t.pages:
            for tag in ("XResolution", "YResolution"):
                n, d = page.tags[tag].value
                yield d / n
for name, um in ("flow.tiff", 5), ("raw.tiff", 2.5):
    with tifffile.TiffFile(name) as t:
        assert t.is_imagej and not t.is_ome
        assert t.imagej_metadata["unit"] == "micron", t.imagej_metadata
    assert set(resolution(name)) == {um}, list(resolution(name))
with tifffile.TiffFile("flow.ome.tiff") as t:
    assert t.is_ome and not t.is_imagej
    assert len(t.series) == 1 and t.series[0].axes == "TYX" and t.series[0].shape == (8, 24, 32), t.series
    root = tree.fromstring(t.ome_metadata)
    ns = {"o": "http://www.openmicroscopy.org/Schemas/OME/2016-06"}
    pixels = root.find("o:Image/o:Pixels", ns)
    assert float(pixels.get("PhysicalSizeX")) == float(pixels.get("PhysicalSizeY")) == 5
    assert pixels.get("PhysicalSizeXUnit") == pixels.get("PhysicalSizeYUnit") == "\u00b5m"
    assert int(pixels.get("SizeT")) == 8 and pixels.get("Type") == "float"
    assert (t.asarray() == tifffile.imread("flow.tiff")).all()
    import json
    said = json.loads(root.find("o:StructuredAnnotations/o:CommentAnnotation/o:Value", ns).text)
    assert said["um_per_px"] == 5 and said["note"] == "]]> & <b>" and said["finished"]
assert set(resolution("flow.ome.tiff")) == {5}
rows = [r for r in table("t.csv") if r["region"] == "box"]
assert len(rows) == 8 and all(float(r["area_um2"]) == 50 * 25 == int(r["pixels"]) * 25 for r in rows)
for r in table("w.csv"):
    for a, b in ("width", "width_um"), ("width_std", "width_std_um"):
        a, b = float(r[a]), float(r[b])
        assert (math.isnan(a) and math.isnan(b)) or abs(b - 5 * a) <= 1e-6 * abs(b), r
with tifffile.TiffFile("k-across.tiff") as t:
    assert t.imagej_metadata["unit"] == "micron"
    n, d = t.pages[0].tags["XResolution"].value
    assert abs(d / n - 5) < 1e-6, d / n  # samples are 1 px apart
)py";

TEST_F(Scale, IsInEveryFileAsOthersReadIt) {
    record();
    EXPECT_TRUE(test::python(folder_, kCheck)) << read_text(folder_ / "python.log");
}

TEST_F(Scale, ComesBackWithARecording) {
    record();
    const auto said = [&](const std::string& what, std::vector<std::string> words) {
        words.insert(words.end(), {"--regions", "r.json", "--traces", "again.csv"});
        const ChildResult result = run(words);
        EXPECT_EQ(result.status, 0) << result.all();
        const std::string text = read_text(folder_ / "again.csv");
        std::filesystem::remove(folder_ / "again.csv");
        EXPECT_NE(text.find(", scale: " + what + " µm per pixel"), std::string::npos) << text.substr(0, 1500);
    };
    for (const char* raw : {"raw.tiff", "raw.mkv", "raw.raw"}) {
        said("2.5", {raw, "--stage", "speckle"});
        said("7.5", {raw, "--stage", "downsample:factor=3"});
        said("4", {raw, "--stage", "speckle", "--um-per-px", "4"});
    }
    for (const char* raw : {"raw.tiff", "raw.mkv", "raw.raw"}) // with the chain that processed them
        said("5", {kScene, "--frames", "3", "--config", std::string("from:") + raw});
    for (const char* flow : {"flow.tiff", "flow.raw", "flow.ome.tiff"}) {
        said("5", {flow, "--stage", "none"});
        const std::string from = std::string("from:") + flow;
        said("5", {kScene, "--frames", "3", "--config", from});
        said("2.5", {kScene, "--frames", "3", "--config", from, "--stage", "speckle"}); // raw pixels
    }
    const ChildResult none = run(
        {kScene, "--frames", "3", "--regions", "r.json", "--traces", "none.csv", "--record", "none.tiff"});
    ASSERT_EQ(none.status, 0) << none.all();
    EXPECT_EQ(read_text(folder_ / "none.csv").find(", scale:"), std::string::npos);
    EXPECT_EQ(read_text(folder_ / "none.tiff").find("micron"), std::string::npos);
    EXPECT_TRUE(test::python(folder_, "import tifffile\n"
                                      "with tifffile.TiffFile('none.tiff') as t:\n"
                                      "    assert t.imagej_metadata['unit'] == 'pixel'\n"))
        << read_text(folder_ / "python.log");
}

TEST_F(Scale, IsRefusedOutsideItsRange) {
    for (const char* wrong : {"-1", "nan", "1e7", "x"}) {
        const ChildResult result = run({kScene, "--um-per-px", wrong});
        EXPECT_EQ(result.status, 2) << wrong;
        EXPECT_NE(result.err.find("--um-per-px"), std::string::npos) << result.err;
    }
}

TEST_F(Scale, OfTheLastWindowStaysWithItsSource) {
    Settings last;
    last.chain.add("downsample:factor=2");
    last.source = SourceArgument("synthetic:vessels");
    last.um_per_source_px = 1.5;
    last.remember = true;
    save_remembered(last);
    EXPECT_EQ(um_per_source_px(parse({})), 1.5);
    EXPECT_EQ(um_per_source_px(parse({"--stage", "speckle"})), 1.5);
    EXPECT_EQ(um_per_source_px(parse({"--um-per-px", "8"})), 4) << "of what the chain gives";
    const Settings other = parse({"synthetic:uniform"});
    EXPECT_EQ(um_per_source_px(other), 0);
    ASSERT_FALSE(other.remarks.empty());
    EXPECT_NE(other.remarks.back().find("pixels of 3 µm"), std::string::npos) << other.remarks.back();
}

} // namespace specklescope::scale_test
