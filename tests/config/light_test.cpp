// Intensities through the whole pipeline: a grey wedge and lamps, coded in sRGB, through decode, glare and
// encode, compared with an independent numpy computation; the same values in recordings, tags, statistics
// and playback.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace specklescope::light_test {

/// wedge.png, an sRGB colour image of 97×61 with a lamp in the middle and one at the edge, and wedge.npz.
constexpr const char* kWedge = R"py(
import numpy as np
from PIL import Image, PngImagePlugin

rng = np.random.default_rng(2012)
code = np.zeros((61, 97, 3), np.uint8)
code[...] = (np.arange(97) // 8 * 18).clip(0, 216)[None, :, None]
code[40:] = code[40:] * np.array([1.0, 0.8, 0.5])
code[10:40, 40:56] = rng.integers(0, 200, (30, 16, 3))
code[28:31, 60:63] = 255
code[5:8, 0:2] = (255, 255, 180)
image = Image.fromarray(code)
chunks = PngImagePlugin.PngInfo()
chunks.add(b"sRGB", b"\0")
image.save("wedge.png", pnginfo=chunks)
np.save("code.npy", code)
)py";

/// Expected results of the program, from code.npy only.
constexpr const char* kTruth = R"py(
import json
import numpy as np
import tifffile
from PIL import Image
from scipy import signal

AGE, PIGMENT, DEGREES, CATARACT = 60, 0.5, 0.05, float(open("cataract.txt").read())

def srgb(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)

def encoded(v):
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 1e-9) ** (1 / 2.4) - 0.055)

def veil(theta):
    theta = np.maximum(theta, 0.1)
    lens = (1 + (AGE / 62.5) ** 4) * 10**CATARACT
    return 10 / theta**3 + (5 / theta**2 + 0.1 * PIGMENT / theta) * lens + 0.0025 * PIGMENT

def kernel(width, height):
    """Light from the middle pixel to each of the others, averaged over 32 × 32 points of each pixel."""
    y, x = np.mgrid[-(height - 1) : height, -(width - 1) : width].astype(np.float64)
    sums = np.zeros_like(x)
    points = (np.arange(32) + 0.5) / 32 - 0.5
    for dy in points:
        for dx in points:
            theta = np.hypot(x + dx, y + dy) * DEGREES
            angle = np.radians(theta)
            sums += veil(theta) * np.sin(angle) / angle
    sums *= np.radians(DEGREES) ** 2 / 1024
    sums[height - 1, width - 1] = 0
    return sums

def description(path):
    text = tifffile.TiffFile(path).pages[0].description
    return json.loads(text[text.index("{"):])

code = np.load("code.npy")
light = srgb(code / 255)
spread = kernel(code.shape[1], code.shape[0])
rows, columns = code.shape[:2]
middle = np.s_[rows - 1 : 2 * rows - 1, columns - 1 : 2 * columns - 1]
veils = np.stack([signal.fftconvolve(light[..., c], spread)[middle] for c in range(3)], -1)
truth = light * (1 - spread.sum()) + veils
# The program's integral over a pixel is good to 0.5 % of the veil (convolve_kernel.hpp).
bound = 0.006 * (veils + light * spread.sum()) + 2e-6
)py";

void prepare(const TemporaryFolder& folder, const std::string& cataract) {
    ASSERT_TRUE(test::python(folder, kWedge)) << read_text(folder / "python.log");
    write_text(folder / "cataract.txt", cataract);
}

void check(const TemporaryFolder& folder, const std::string& script) {
    EXPECT_TRUE(test::python(folder, kTruth + script)) << read_text(folder / "python.log");
}

TEST(Light, AWedgeAndLampsThroughDecodeGlareAndEncode) {
    const TemporaryFolder folder;
    prepare(folder, "0");
    const ChildResult run = run_program({"run", "wedge.png", "--preset", "glare", "--record", "glare.tiff",
                                         "--record-raw", "raw.tiff", "--snapshot", "glare.png", "--view",
                                         "low=0", "--view", "high=1", "--stats", "stats.json"},
                                        folder.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    EXPECT_NE(run.err.find("decoded to linear light"), std::string::npos) << run.all();
    EXPECT_NE(run.err.find("Lamps are clipped"), std::string::npos) << run.all();
    check(folder, R"py(
raw = tifffile.imread("raw.tiff")
assert raw.dtype == np.float32 and np.abs(raw - light).max() < 1e-7, np.abs(raw - light).max()
glare = tifffile.imread("glare.tiff").astype(np.float64)
assert (np.abs(glare - truth) <= bound).all(), (np.abs(glare - truth) / bound).max()
assert veils.max() > 0.02 # the lamps do veil
shown = np.asarray(Image.open("glare.png")).astype(int)
wanted = np.clip(np.floor(encoded(np.clip(glare, 0, 1)) * 256), 0, 255).astype(int)
assert (np.abs(shown - wanted) <= 1).all() and (shown != wanted).mean() < 1e-3
assert "srgb" in Image.open("glare.png").info
for name, content in (("raw.tiff", "raw"), ("glare.tiff", "processed")):
    tags = description(name)
    assert tags["content"] == content and tags["transfer"] == "linear" and tags["light"] == "decoded", tags
    assert tags["coding_of_source"] == "sRGB (its sRGB chunk)", tags
stats = json.load(open("stats.json"))["pixels"]["last"]
assert stats["raw_saturated"] == (code == 255).sum() and stats["raw_samples"] == code.size, stats
)py");
    const ChildResult again = run_program(
        {"run", "raw.tiff", "--preset", "glare", "--record", "again.tiff", "--stats", "again.json"},
        folder.path().string());
    ASSERT_EQ(again.status, 0) << again.all();
    check(folder, R"py(
assert (tifffile.imread("again.tiff") == tifffile.imread("glare.tiff")).all()
assert description("again.tiff")["light"] == "decoded"
assert json.load(open("again.json"))["pixels"]["last"]["raw_saturated"] == (code == 255).sum()
)py");
    const ChildResult twice =
        run_program({"run", "raw.tiff", "--preset", "glare", "--transfer", "srgb"}, folder.path().string());
    EXPECT_EQ(twice.status, 2) << twice.all();
    EXPECT_NE(twice.err.find("Remove transfer = srgb"), std::string::npos) << twice.all();
    // An encoded image means the same intensity: read again, it is decoded to the encoded values.
    const ChildResult shown = run_program({"run", "glare.png", "--stage", "none", "--record", "shown.tiff"},
                                          folder.path().string());
    ASSERT_EQ(shown.status, 0) << shown.all();
    check(folder, R"py(
shown, glare = tifffile.imread("shown.tiff"), np.clip(tifffile.imread("glare.tiff"), 0, 1)
assert (np.abs(encoded(shown) - encoded(glare)) <= 1.01 / 255).all()
)py");
}

TEST(Light, StaysTheSameThroughAChainOfThreeStages) {
    const TemporaryFolder folder;
    prepare(folder, "0.3");
    const std::vector<std::string> chain = {
        "--stage", "convolve:kernel=glare,age=60,cataract=0.3,border=zero",
        "--stage", "flip:direction=horizontal",
        "--stage", "downsample:factor=2"};
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.end(), chain.begin(), chain.end());
        const ChildResult result = run_program(words, folder.path().string());
        EXPECT_EQ(result.status, 0) << result.all();
    };
    run({"run", "wedge.png", "--record", "three.tiff", "--record-raw", "raw.tiff"});
    run({"run", "raw.tiff", "--record", "again.tiff"});
    check(folder, R"py(
three = tifffile.imread("three.tiff")
flipped, flipped_bound = truth[:, ::-1], bound[:, ::-1]
blocks = lambda v: v[:60, :96].reshape(30, 2, 48, 2, 3).mean((1, 3))
assert three.shape == (30, 48, 3), three.shape
assert (np.abs(three - blocks(flipped)) <= blocks(flipped_bound)).all()
assert (tifffile.imread("again.tiff") == three).all()
tags = description("three.tiff")
assert tags["light"] == "decoded" and tags["transfer"] == "linear" and "cataract=0.3" in tags["parameters"], tags
)py");
}

TEST(Light, OfACameraIsTakenAsItCame) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, R"py(
import numpy as np, tifffile
tifffile.imwrite("camera.tif", np.random.default_rng(1).integers(0, 4096, (20, 30)).astype(np.uint16), photometric="minisblack")
)py")) << read_text(folder / "python.log");
    const ChildResult run = run_program({"run", "camera.tif", "--stage", "speckle:radius=2,output=contrast",
                                         "--record", "k.tiff", "--record-raw", "raw.tiff"},
                                        folder.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    ASSERT_TRUE(test::python(folder, R"py(
import json, tifffile
def description(path):
    text = tifffile.TiffFile(path).pages[0].description
    return json.loads(text[text.index("{"):])
assert (tifffile.imread("raw.tiff") == tifffile.imread("camera.tif")).all()
assert description("raw.tiff")["light"] == "counts"
assert "light" not in description("k.tiff") # a contrast is no light
)py")) << read_text(folder / "python.log");
}

} // namespace specklescope::light_test
