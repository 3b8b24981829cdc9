// One frame of another program's stack, with its scale, regions and a baseline: the values on the screen, in
// statistics, tags, tables, report and replay are the same.
#include "have_cairo.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

namespace specklescope::viewer_numbers_test {

constexpr const char* kFilm = R"py(
import numpy as np, tifffile
rng = np.random.default_rng(7)
frames = rng.gamma(4, 900, (30, 48, 64)).clip(0, 65535).astype(np.uint16)
frames[:, 10:16, 10:18] = 0       # no mean: undefined
frames[:, 30:36, 30:40] = 1200    # no contrast: infinite
frames[12, 20:24, 44:50] = 65535  # at full scale
tifffile.imwrite("film.tif", frames, imagej=True, resolution=(0.4, 0.4), metadata={"unit": "micron"})
)py";

constexpr const char* kCompare = R"py(
import csv, glob, json, numpy as np, tifffile
def table(name):
    with open(name, encoding="utf-8") as f: return [r for r in csv.DictReader(l for l in f if l[0] != "#")]
def near(a, b, by=1e-6): assert abs(float(a) / float(b) - 1) < by, (a, b)
rows = {r["region"]: r for r in table("t.csv") if r["position"] == "12"}
with tifffile.TiffFile("flow.tiff") as t:
    pages = [p.asarray().astype(float) for p in t.pages]
    said = []
    for p in t.pages: said.append(json.JSONDecoder().raw_decode(p.description[p.description.index("{"):])[0])
    n, d = t.pages[0].tags["XResolution"].value
    near(d / n, 2.5)
    assert t.imagej_metadata["unit"] == "micron"
about, last = said[0], said[12]
assert about["um_per_px"] == 2.5 and about["um_per_px_origin"] == "file", about
stats = json.load(open("s.json"))
assert stats["um_per_px"] == 2.5 and stats["um_per_px_origin"] == "file", stats
for key in "undefined", "infinite", "saturated", "windows", "raw_saturated", "raw_samples":
    assert stats["pixels"]["last"][key] == last[key], (key, stats["pixels"]["last"], last)
picture = pages[12]
assert last["undefined"] == np.isnan(picture).sum() > 0 and last["infinite"] == np.isinf(picture).sum() > 0
assert last["raw_saturated"] == 24
# Rectangles of whole pixels; K² of an infinite index is 0, of an undefined one unknown.
boxes = {"box": np.s_[4:40, 6:46], "corner": np.s_[16:28, 40:56]}
f0 = np.zeros_like(picture)
with np.errstate(divide="ignore"):
    for y in np.ndindex(picture.shape):
        values = np.array([p[y] for p in pages[:10]])
        values = values[~np.isnan(values)]
        f0[y] = 1 / (1 / values).mean() if values.size else np.nan
    mean = lambda a: 1 / (1 / a[~np.isnan(a)]).mean()
    truth = {name: (mean(picture[at]), mean(f0[at]), picture[at].size) for name, at in boxes.items()}
report = {r["region"]: r for r in table("page.csv")} if glob.glob("page.csv") else {}
replay = {r["region"]: r for r in table("replay.csv") if r["sequence"] == "12"}
for name, (m, base, pixels) in truth.items():
    row = rows[name]
    near(row["mean"], m); near(row["baseline"], base); near(row["area_um2"], pixels * 6.25)
    assert abs(float(row["change_percent"]) - 100 * (m / base - 1)) < 1e-3, (row, m, base)
    for key in ("mean", "std", "min", "max", "baseline", "area_um2") if name in report else ():
        near(report[name][key], row[key], 6e-7)  # seven digits
    for key in "mean", "std", "min", "max", "valid", "infinite", "mean_of_map", "pixels", "area_um2":
        assert replay[name][key] == row[key], (key, replay[name], row)
json.dump({name: {"mean": float(rows[name]["mean"]), "std": float(rows[name]["std"]),
                  "f0": float(rows[name]["baseline"]), "um2": float(rows[name]["area_um2"])} for name in rows}
          | {"pixel": picture[20, 50], "change": 100 * (picture[20, 50] / np.float32(f0[20, 50]) - 1)},
          open("truth.json", "w"))
)py";

class ViewerNumbers : public ViewerTest {
protected:
    const std::vector<std::string> asked_ = {
        "film.tif",           "--rate", "25", "--stage", "speckle:radius=2,output=sfi", "--regions", "r.json",
        "--baseline-seconds", "0.4"};
};

TEST_F(ViewerNumbers, OfOneFrameAreTheSameEverywhere) {
    ASSERT_TRUE(test::python(folder_, kFilm)) << read_text(folder_ / "python.log");
    write_text(folder_ / "r.json", R"({"regions":[
{"name":"box","shape":"rectangle","points":[[6,4],[45,39]]},
{"name":"corner","shape":"rectangle","points":[[40,16],[55,27]]}]})");
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), asked_.begin(), asked_.end());
    words.insert(words.end(), {"--frames", "13", "--traces", "t.csv", "--record", "flow.tiff", "--stats",
                               "s.json", "--backend", "cpu"});
#ifdef SPECKLESCOPE_HAVE_CAIRO
    words.insert(words.end(), {"--report", "page.pdf"});
#endif
    const ChildResult made = run_program(words, folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    EXPECT_NE(made.out.find("2.5 µm per pixel, as the file says"), std::string::npos) << made.all();
    const ChildResult replayed = run_program(
        {"run", "flow.tiff", "--regions", "r.json", "--traces", "replay.csv"}, folder_.path().string());
    ASSERT_EQ(replayed.status, 0) << replayed.all();
    ASSERT_TRUE(test::python(folder_, kCompare)) << read_text(folder_ / "python.log");
    const auto truth = nlohmann::json::parse(read_text(folder_ / "truth.json"));

    std::vector<std::string> shown = asked_;
    shown.insert(shown.end(), {"--no-remember", "--loop", "--view", "traces=shown"});
    Viewer viewer(*desktop_, folder_, with(shown));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    EXPECT_EQ(viewer.number("scale.um_per_px"), 2.5);
    ASSERT_TRUE(viewer.until([&] { return viewer.number("change.shown") == 1; })) << viewer.log();
    viewer.key("space");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("film.state") == "paused"; })) << viewer.probe();
    viewer.key("ctrl+Home");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") == 0; })) << viewer.probe();
    viewer.key("shift+Right");
    ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") == 10; })) << viewer.probe();
    for (const double next : {11.0, 12.0}) {
        viewer.key("Right");
        ASSERT_TRUE(viewer.until([&] { return viewer.number("film.position") == next; })) << viewer.probe();
    }
    const auto same = [&](const std::string& probe, double value, double by) {
        EXPECT_TRUE(viewer.until([&] { return std::abs(viewer.number(probe) / value - 1) < by; }))
            << probe << ": " << viewer.number(probe) << ", and not " << value;
    };
    int region = 0;
    for (const char* name : {"box", "corner"}) {
        const std::string at = "." + std::to_string(region++);
        same("region.mean" + at, truth[name]["mean"], 1e-9);
        same("region.std" + at, truth[name]["std"], 1e-9);
        same("region.um2" + at, truth[name]["um2"], 1e-9);
        same("traces.f0." + std::string(name), truth[name]["f0"], 1e-9);
    }
    const double scale = viewer.number("image.scale");
    viewer.events({"mousemove", std::to_string(std::lround(viewer.number("image.x") + 50.5 * scale)),
                   std::to_string(std::lround(viewer.number("image.y") + 20.5 * scale))});
    ASSERT_TRUE(viewer.until([&] {
        return viewer.number("hover.x") == 50 && viewer.number("hover.y") == 20;
    })) << viewer.probe();
    same("hover.value", truth["pixel"], 1e-6);
    same("hover.change", truth["change"], 1e-4);
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::viewer_numbers_test
