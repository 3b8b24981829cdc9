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
