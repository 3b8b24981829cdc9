// The baseline without a window: F₀ from an image, from a recording, or from the beginning of the source; in
// traces, recordings and reports, compared with NumPy.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <thread>

namespace specklescope::baseline_test {

constexpr const char* kScene = "synthetic:vessels?width=64&height=48&live=false&rate=50";
constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},
{"name":"tri","shape":"polygon","points":[[2,2],[40,4],[20,40]]}]})";

class BaselineRun : public testing::Test {
protected:
    BaselineRun() {
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); // NOLINT(concurrency-mt-unsafe)
        write_text(folder_ / "r.json", kRegions);
    }
    ChildResult run(std::vector<std::string> words) const {
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--backend", "cpu"});
        return run_program(std::move(words), folder_.path().string());
    }
    void good(std::vector<std::string> words) const {
        const ChildResult result = run(std::move(words));
        ASSERT_EQ(result.status, 0) << result.all();
    }
    std::vector<std::string> measured(std::vector<std::string> words, const std::string& output,
                                      const std::string& traces) const {
        words.insert(words.end(), {"--stage", "speckle:radius=2,output=" + output, "--regions", "r.json",
                                   "--traces", traces});
        return words;
    }
    void check(const std::string& script) const {
        EXPECT_TRUE(test::python(folder_, script)) << read_text(folder_ / "python.log");
    }
    void refused(std::vector<std::string> words, const std::string& part, int status = 2) const {
        const ChildResult result = run(std::move(words));
        EXPECT_EQ(result.status, status) << result.all();
        EXPECT_NE(result.err.find(part), std::string::npos) << result.all();
    }
    TemporaryFolder folder_;
};

/// rest.tiff: 12 frames of results; now.tiff: the results of the traces and the change.
constexpr const char* kTruth = R"py(
import csv, json, numpy as np, tifffile
def rule(output):
    return {"contrast": (np.square, np.sqrt), "sfi": (np.reciprocal, np.reciprocal),
            "contrast2": (np.positive, np.positive)}[output]
def stack(name):
    with tifffile.TiffFile(name) as t:
        texts = [json.JSONDecoder().raw_decode(p.description[p.description.index("{"):])[0] for p in t.pages]
        times = [text.get("frame", text)["capture_ns"] for text in texts]
        return np.stack([p.asarray() for p in t.pages]).astype(float), np.array(times), texts[0]
def table(name):
    with open(name) as f: return list(csv.DictReader(l for l in f if l[0] != "#"))
def box(a): return a[..., 8:28, 10:30]
def mean(a, output, axis=None):
    to, back = rule(output)
    return back(to(a).mean(axis))
)py";

TEST_F(BaselineRun, OfARecordingIsTheMeanOfWhatMayBeAveraged) {
    for (const std::string output : {"contrast", "sfi", "contrast2"}) {
        const std::string stage = "speckle:radius=2,output=" + output;
        good({kScene, "--frames", "12", "--stage", stage, "--record", output + "_rest.tiff"});
        good({kScene, "--from", "3", "--frames", "9", "--record-raw", output + "_raw.tiff", "--stage", stage,
              "--record", output + "_now.tiff"});
        good(measured({output + "_raw.tiff", "--baseline", output + "_rest.tiff", "--baseline-seconds", "0.1",
                       "--change", "--record", output + "_change.tiff", "--record", output + "_change.mkv"},
                      output, output + ".csv"));
        check(std::string(kTruth) + "output = '" + output + R"py('
rest, times, _ = stack(output + "_rest.tiff")
first = times < times[0] + 100_000_000
assert first.sum() == 5, times
f0 = mean(rest[first], output, 0).astype(np.float32).astype(float)
now, _, _ = stack(output + "_now.tiff")
change, _, said = stack(output + "_change.tiff")
assert said["unit"] == "%" and said["quantity"] == "change against the baseline", said
assert "mean of 5 frames" in said["baseline"], said["baseline"]
assert change.shape == (9, 48, 64)
assert np.abs(change - 100 * (now / f0 - 1)).max() < 2e-4 * np.abs(change).max()
rows = [r for r in table(output + ".csv") if r["region"] == "box"]
assert len(rows) == 9
truth = mean(box(f0), output)
for frame, row in zip(now, rows):
    assert abs(float(row["baseline"]) / truth - 1) < 1e-6, (row, truth)
    m = mean(box(frame), output)
    assert abs(float(row["mean"]) / m - 1) < 1e-6
    assert abs(float(row["change_percent"]) - 100 * (m / truth - 1)) < 1e-3, row
with open(output + ".csv") as f: text = f.read()
assert "baseline: " + output + "_rest.tiff: mean of 5 frames" in text, text[:2000]
)py");
    }
}

TEST_F(BaselineRun, AReportHasTheSameNumbers) {
    good({kScene, "--frames", "8", "--stage", "speckle:radius=2,output=sfi", "--record", "rest.tiff"});
    good(measured({kScene, "--frames", "8", "--baseline", "rest.tiff", "--report", "page.pdf"}, "sfi",
                  "t.csv"));
    check(std::string(kTruth) + R"py(
last = {r["region"]: r for r in table("t.csv")}
for row in table("page.csv"):
    for key in "baseline", "change_percent", "mean":
        assert abs(float(row[key]) - float(last[row["region"]][key])) <= 6e-7 * abs(float(row[key])) + 1e-9, (row, last)
with open("page.csv") as f: assert "# Baseline: rest.tiff: mean of 8 frames" in f.read()
)py");
}

TEST_F(BaselineRun, APictureOfAnotherProgramIsF0AsItIs) {
    good({kScene, "--frames", "6", "--stage", "speckle:radius=2,output=contrast", "--record", "now.tiff"});
    check(R"py(
import numpy as np, tifffile
f0 = np.linspace(0.1, 0.4, 48 * 64).reshape(48, 64).astype(np.float32)
np.save("f0.npy", f0)
tifffile.imwrite("f0.tif", f0)
np.save("wide.npy", np.ones((48, 65), np.float32))
np.save("cube.npy", np.ones((2, 48, 64), np.float32))
)py");
    for (const std::string picture : {"f0.npy", "f0.tif"})
        good(measured({kScene, "--frames", "6", "--baseline", picture}, "contrast", picture + ".csv"));
    check(std::string(kTruth) + R"py(
f0 = np.load("f0.npy").astype(float)
now, _, _ = stack("now.tiff")
for name in "f0.npy.csv", "f0.tif.csv":
    rows = [r for r in table(name) if r["region"] == "box"]
    for frame, row in zip(now, rows, strict=True):
        truth = mean(box(f0), "contrast")
        assert abs(float(row["baseline"]) / truth - 1) < 1e-6, (row, truth)
        assert abs(float(row["change_percent"]) - 100 * (mean(box(frame), "contrast") / truth - 1)) < 1e-3
)py");
    const std::vector<std::string> some = {kScene, "--frames", "3", "--baseline"};
    const auto with = [&](const std::string& file) {
        std::vector<std::string> words = some;
        words.push_back(file);
        return words;
    };
    refused(with("wide.npy"), "65×48");
    refused(with("cube.npy"), "3 axes");
}

TEST_F(BaselineRun, OfTheBeginningOfTheSourceIsThatOfItsRecording) {
    good({kScene, "--frames", "20", "--record-raw", "raw.tiff"});
    good(measured({"raw.tiff", "--baseline-seconds", "0.2"}, "sfi", "own.csv"));
    good(measured({"raw.tiff", "--baseline", "raw.tiff", "--baseline-seconds", "0.2"}, "sfi", "named.csv"));
    good(measured({kScene, "--frames", "20", "--baseline-seconds", "0.2"}, "sfi", "scene.csv"));
    good(measured({"raw.tiff"}, "sfi", "without.csv"));
    check(std::string(kTruth) + R"py(
own, named, scene, without = (table(n + ".csv") for n in ("own", "named", "scene", "without"))
assert len(own) == 40 and "baseline" not in without[0]
for region in "box", "tri":
    means = np.array([float(r["mean"]) for r in without if r["region"] == region])
    f0 = 1 / (1 / means[:10]).mean()  # every pixel is valid: the mean over time and pixels
    for rows in own, named, scene:
        for row, m in zip((r for r in rows if r["region"] == region), means, strict=True):
            assert abs(float(row["baseline"]) / f0 - 1) < 1e-6, (row["baseline"], f0)
            assert abs(float(row["change_percent"]) - 100 * (m / f0 - 1)) < 1e-3
)py");
}

/// For a constant scene and a stage with history: the mean of complete frames only.
TEST_F(BaselineRun, WhatWasMadeInAWarmUpDoesNotGoIn) {
    const std::string stage = "temporal:frames=25,output=sfi";
    good({kScene, "--frames", "90", "--stage", stage, "--record", "now.tiff"});
    good({kScene, "--frames", "90", "--stage", stage, "--baseline-seconds", "0.5", "--change", "--record",
          "own.tiff"});
    good({kScene, "--frames", "90", "--stage", stage, "--baseline", "now.tiff", "--baseline-seconds", "0.5",
          "--change", "--record", "named.tiff"});
    check(std::string(kTruth) + R"py(
now, times, _ = stack("now.tiff")
complete = now[24:]
late = times[24:] < times[24] + 500_000_000
assert late.sum() == 25
f0 = mean(complete[late], "sfi", 0).astype(np.float32).astype(float)
for name in "own.tiff", "named.tiff":
    change, _, said = stack(name)
    assert "mean of 25 frames" in said["baseline"], said["baseline"]
    assert np.abs(change[24:] - 100 * (complete / f0 - 1)).max() < 2e-4 * np.abs(change[24:]).max()
)py");
    good({kScene, "--frames", "20", "--record-raw", "short.tiff"});
    refused({"short.tiff", "--stage", stage, "--baseline-seconds", "0.5"},
            "All frames were warm-up or capture frames", 1);
}

/// The frames of a capture do not belong to the scene, including the last one.
TEST_F(BaselineRun, ACaptureDoesNotGoIn) {
    check(R"py(
import numpy as np, tifffile
film = np.full((30, 48, 64), 1000, np.uint16)
film[:5] = 100
film[20:] = 1900
tifffile.imwrite("film.tif", film)
)py");
    for (const std::string frames : {"5", "1"})
        good({"film.tif", "--rate", "100", "--stage", "background:dark=capture,frames=" + frames,
              "--baseline-seconds", "0.09", "--change", "--record", "change" + frames + ".tiff"});
    check(std::string(kTruth) + R"py(
change, _, said = stack("change5.tiff")
assert "mean of 9 frames" in said["baseline"], said["baseline"]
assert np.abs(change[5:20]).max() < 1e-4 and np.abs(change[20:] - 100).max() < 1e-4, change[:, 0, 0]
f0 = (4 * 0 + 5 * 900) / 9  # of one dark frame the four behind it are dark as well
change, _, said = stack("change1.tiff")
assert np.abs(change[5:20] - 100 * (900 / f0 - 1)).max() < 1e-3, change[:, 0, 0]
)py");
}

/// Data from a pipe can be read only once: all of it belongs to the run.
TEST_F(BaselineRun, OfAPipeNothingIsTakenAway) {
    good({kScene, "--frames", "40", "--record-raw", "rest.raw", "--stage", "speckle:radius=2"});
    const std::string source = "raw:pipe?width=64&height=48&format=gray16le&full_scale=4095";
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    refused({source, "--stage", "speckle:radius=2", "--baseline-seconds", "0.2", "--record", "a.tiff"},
            "can be read only once");
    refused({"raw:/dev/stdin?width=64&height=48&format=gray16le", "--stage", "speckle:radius=2",
             "--baseline-seconds", "0.2", "--record", "a.tiff"},
            "can be read only once");
    refused({"rest.raw", "--stage", "speckle:radius=2", "--baseline", source}, "can be read only once");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.tiff"));
    // A recording of the rest besides: all frames of the pipe belong to the run.
    const std::string write =
        "timeout 60 cat '" + (folder_ / "rest.raw") + "' > '" + (folder_ / "pipe") + "'";
    std::thread writer([&] { EXPECT_EQ(std::system(write.c_str()), 0); });
    const ChildResult result = run({source, "--stage", "speckle:radius=2,exposure=5", "--baseline",
                                    "rest.raw", "--change", "--record", "b.tiff"});
    writer.join();
    EXPECT_EQ(result.status, 0) << result.all();
    check(std::string(kTruth) + "assert len(stack('b.tiff')[0]) == 40\n");
}

TEST_F(BaselineRun, WhatDoesNotFitIsRefused) {
    good({kScene, "--frames", "4", "--stage", "speckle:output=sfi", "--record", "sfi.tiff", "--record-raw",
          "raw.tiff"});
    good({"synthetic:vessels?width=32&height=48&live=false", "--frames", "4", "--record-raw", "small.tiff"});
    refused({"raw.tiff", "--stage", "speckle:output=contrast", "--baseline", "sfi.tiff"}, "take it again");
    // Results contain the chain that made them.
    good({"raw.tiff", "--stage", "speckle:radius=5,output=sfi", "--record", "five.tiff"});
    good({"raw.tiff", "--stage", "speckle:radius=5,output=sfi", "--baseline", "five.tiff"});
    refused({"raw.tiff", "--stage", "speckle:radius=6,output=sfi", "--baseline", "five.tiff"},
            "radius 5, now 6");
    refused({"raw.tiff", "--stage", "speckle", "--baseline", "small.tiff"}, "32×48");
    refused({kScene, "--frames", "4", "--stage", "speckle", "--baseline", "small.tiff"}, "32×48");
    const std::string longer = std::string(kScene) + "&exposure=10";
    good({longer, "--frames", "4", "--stage", "speckle:output=sfi", "--record", "long.tiff", "--record-raw",
          "longraw.tiff"});
    for (const char* rest : {"long.tiff", "longraw.tiff"}) // halving the exposure does not change the flow
        refused({"raw.tiff", "--stage", "speckle:output=sfi", "--baseline", rest},
                "exposure 10 ms, now 5 ms");
    good({"longraw.tiff", "--stage", "speckle:output=sfi", "--baseline", "long.tiff"});
    refused({"raw.tiff", "--baseline", "none.tiff"}, "none.tiff", 1);
    good({"raw.tiff", "--frames", "1", "--snapshot", "cut.png"});
    std::filesystem::resize_file(folder_ / "cut.png", std::filesystem::file_size(folder_ / "cut.png") / 2);
    const ChildResult damaged = run({"raw.tiff", "--baseline", "cut.png"});
    EXPECT_EQ(damaged.status, 1) << damaged.all();
    const std::size_t first = damaged.err.find("cut short");
    EXPECT_NE(first, std::string::npos) << damaged.err;
    EXPECT_EQ(damaged.err.find("cut short", first + 1), std::string::npos) << damaged.err;
    refused({"raw.tiff", "--baseline", "synthetic:vessels"}, "'synthetic:vessels' is not a file");
    refused({"raw.tiff", "--change", "--record", "c.tiff"}, "--change = true needs a baseline");
    refused({"raw.tiff", "--baseline-seconds", "-1"}, "--baseline-seconds");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "c.tiff"));
}

} // namespace specklescope::baseline_test
