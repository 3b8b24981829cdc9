// --mean: the mean of the results without warm-up, taken as a baseline is; compared with the recorded
// results.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

namespace specklescope::mean_map_test {

constexpr const char* kScene = "synthetic:vessels?width=64&height=48&live=false&rate=50";

TEST(MeanMap, IsTheMeanOfTheRecordedResults) {
    const TemporaryFolder folder;
    for (const std::string output : {"contrast", "sfi", "tau"}) {
        const ChildResult result =
            run_program({"run", kScene, "--frames", "20", "--stage", "temporal:frames=5,output=" + output,
                         "--backend", "cpu", "--record", output + ".raw", "--mean", output + ".tiff",
                         "--mean", output + ".png", "--mean", output + "_again.tiff"},
                        folder.path().string());
        ASSERT_EQ(result.status, 0) << result.all();
    }
    EXPECT_TRUE(test::python(folder, R"py(
import json, numpy as np, tifffile
rules = {"contrast": (np.square, np.sqrt), "sfi": (np.reciprocal, np.reciprocal), "tau": (np.positive, np.positive)}
for name, (to, back) in rules.items():
    frames = np.fromfile(name + ".raw", "<f4").reshape(-1, 48, 64).astype(float)
    assert len(frames) == 20
    warm = json.loads(open(name + ".raw.jsonl").readline())["made_in_warmup"]
    assert warm == 4
    mean = tifffile.imread(name + ".tiff")
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean, back(to(frames[warm:]).mean(0)), rtol=1e-6)
    assert (tifffile.imread(name + "_again.tiff") == mean).all()
)py")) << read_text(folder / "python.log");
}

/// Results of two exposures have no common mean: the file holds the last ones, and a message counts them.
TEST(MeanMap, ResultsBeforeAChangeAreNamed) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, R"py(
import numpy as np
np.random.default_rng(4).integers(100, 4000, (20, 24, 32)).astype("<u2").tofile("film.raw")
)py"));
    const auto run = [&](const std::string& exposures) {
        return run_program({"run",
                            "raw:film.raw?width=32&height=24&format=gray16le&rate=50&exposures=" + exposures,
                            "--stage", "speckle:output=contrast2", "--backend", "cpu", "--record",
                            exposures + ".raw", "--mean", exposures + ".tiff"},
                           folder.path().string());
    };
    const ChildResult changed = run("2,4");
    EXPECT_NE(changed.err.find("last 1 of 20 results"), std::string::npos) << changed.all();
    const ChildResult same = run("2");
    EXPECT_EQ(same.err.find("of 20 results"), std::string::npos) << same.all();
    EXPECT_TRUE(test::python(folder, R"py(
import numpy as np, tifffile
for name, first in (("2,4", 19), ("2", 0)):
    frames = np.fromfile(name + ".raw", "<f4").reshape(20, 24, 32).astype(float)
    np.testing.assert_allclose(tifffile.imread(name + ".tiff"), frames[first:].mean(0), rtol=1e-6)
)py")) << read_text(folder / "python.log");
}

TEST(MeanMap, NoFileWithoutACompleteResult) {
    const TemporaryFolder folder;
    const auto run = [&](const char* frames, const char* file) {
        return run_program(
            {"run", kScene, "--frames", frames, "--stage", "temporal", "--mean", file, "--log", "quiet"},
            folder.path().string());
    };
    const ChildResult short_one = run("2", "mean.tiff");
    EXPECT_EQ(short_one.status, 1);
    EXPECT_NE(short_one.err.find("mean.tiff"), std::string::npos) << short_one.all();
    EXPECT_EQ(run("20", "mean.mkv").status, 2);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace specklescope::mean_map_test
