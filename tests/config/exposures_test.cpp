// Six exposures of one target, the longest saturated: the program's saturation counts for each frame, in the
// summary, the statistics, the tags of both recordings and in playback, equal numpy's counts.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace specklescope::exposures_test {

/// Gamma-distributed speckle (Goodman 2007, eq. 4.42) of 12 bit, brighter with the exposure and clipped at
/// full scale. counts.json contains for each exposure the number of samples of each frame at full scale, and
/// the number of 7×7 windows with such a sample.
constexpr const char* kScript = R"py(
import json, numpy, scipy.ndimage
random = numpy.random.default_rng(20111)
found = {}
for exposure in (1, 2, 4, 8, 16, 32):
    frames = random.gamma(4, 30 * exposure, (3, 48, 64)).clip(0, 4095).astype("<u2")
    frames.tofile(f"{exposure}.raw")
    full = frames == 4095
    seen = [scipy.ndimage.maximum_filter(f, 7, mode="nearest") for f in full]
    found[exposure] = {"samples": [int(f.sum()) for f in full], "windows": [int(s.sum()) for s in seen],
                       "averaged": [int((s | seen[max(i - 1, 0)]).sum()) for i, s in enumerate(seen)]}
json.dump(found, open("counts.json", "w"))
)py";

TEST(Exposures, SaturationIsTheSameFactOnTheWholeWay) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kScript)) << read_text(folder / "python.log");
    const auto counts = nlohmann::json::parse(read_text(folder / "counts.json"));
    int warned = 0;
    for (const auto& [exposure, truth] : counts.items()) {
        SCOPED_TRACE(exposure + " ms");
        const std::string source =
            "raw:" + folder / (exposure + ".raw?width=64&height=48&format=gray16le&full_scale=4095");
        // The last stage must not matter: use a stage after the contrast that counts nothing, and one that
        // moves pixels.
        const ChildResult run = run_program(
            {"run", source, "--stage", "speckle:output=contrast2", "--stage", "average:frames=2", "--stage",
             "flow:exposure=" + exposure, "--stage", "flip", "--record", exposure + "-flow.tiff",
             "--record-raw", exposure + "-raw.tiff", "--stats", exposure + ".json"},
            folder.path().string());
        ASSERT_EQ(run.status, 0) << run.all();
        const ChildResult again =
            run_program({"run", exposure + "-raw.tiff", "--stage", "speckle:output=contrast2", "--stage",
                         "flow:exposure=" + exposure, "--stats", exposure + "-again.json"},
                        folder.path().string());
        ASSERT_EQ(again.status, 0) << again.all();
        const auto sum = [](const nlohmann::json& three) {
            return three[0].get<std::uint64_t>() + three[1].get<std::uint64_t>() +
                   three[2].get<std::uint64_t>();
        };
        const std::uint64_t samples = sum(truth.at("samples"));
        for (const auto& [name, windows] : {std::pair{".json", "averaged"}, {"-again.json", "windows"}}) {
            const auto stats = nlohmann::json::parse(read_text(folder / (exposure + name)));
            EXPECT_EQ(stats.at("exposure_used_ms"), std::stod(exposure)) << name;
            const auto& pixels = stats.at("pixels");
            EXPECT_EQ(pixels.at("last").at("raw_saturated"), truth.at("samples")[2]) << name;
            EXPECT_EQ(pixels.at("last").at("saturated"), truth.at(windows)[2]) << name;
            EXPECT_EQ(pixels.at("total").at("raw_saturated"), samples) << name;
            EXPECT_EQ(pixels.at("total").at("saturated"), sum(truth.at(windows))) << name;
            EXPECT_EQ(pixels.at("total").at("raw_samples"), 3U * 64 * 48) << name;
        }
        ASSERT_TRUE(test::python(folder, R"py(
import json, tifffile
truth = json.load(open("counts.json"))[")py" +
                                             exposure + R"py("]
for kind in ("raw", "flow"):
    pages = tifffile.TiffFile(")py" + exposure +
                                             R"py(-" + kind + ".tiff").pages
    assert len(pages) == 3
    for i, page in enumerate(pages):
        text = page.description[page.description.index("{"):]
        tags = json.loads(text)
        tags = tags.get("frame", tags)
        assert tags["raw_saturated"] == truth["samples"][i], (kind, i, tags)
        if kind == "flow":
            assert tags["saturated"] == truth["averaged"][i], (i, tags)
)py")) << read_text(folder / "python.log");
        const bool most = std::any_of(truth.at("samples").begin(), truth.at("samples").end(),
                                      [](const auto& count) { return count > 0.01 * 64 * 48; });
        warned += most ? 1 : 0;
        EXPECT_EQ(run.err.find("are at full scale") != std::string::npos, most) << run.all();
    }
    EXPECT_GT(warned, 0);
    EXPECT_LT(warned, 6);
}

/// Their own samples are independent of the raw ones: smoothed integers are hardly ever at full scale.
TEST(Exposures, SaturationStaysWhereResultsOfIntegersArePlayed) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kScript)) << read_text(folder / "python.log");
    const auto truth = nlohmann::json::parse(read_text(folder / "counts.json")).at("16").at("samples");
    ASSERT_GT(truth[2], 0U);
    const ChildResult run = run_program(
        {"run", "raw:" + folder / "16.raw?width=64&height=48&format=gray16le&full_scale=4095", "--stage",
         "gaussian", "--record", "soft.tiff", "--record", "soft.raw", "--record", "soft.mkv"},
        folder.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    for (const char* name : {"soft.tiff", "soft.raw", "soft.mkv"}) {
        SCOPED_TRACE(name);
        const ChildResult again =
            run_program({"run", name, "--stage", "flip", "--stats", "again.json", "--record", "again.tiff"},
                        folder.path().string());
        ASSERT_EQ(again.status, 0) << again.all();
        const auto pixels = nlohmann::json::parse(read_text(folder / "again.json")).at("pixels");
        EXPECT_EQ(pixels.at("last").at("raw_saturated"), truth[2]);
        EXPECT_EQ(pixels.at("last").at("raw_samples"), 64U * 48);
        EXPECT_EQ(pixels.at("total").at("raw_saturated"),
                  truth[0].get<int>() + truth[1].get<int>() + truth[2].get<int>());
        EXPECT_TRUE(test::python(folder, R"py(
import tifffile
assert tifffile.imread("again.tiff").dtype == "uint16"
)py")) << read_text(folder / "python.log");
    }
}

} // namespace specklescope::exposures_test
