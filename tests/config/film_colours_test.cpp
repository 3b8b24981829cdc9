// Values of films as ffmpeg decodes them: their range, their bits, and what is said where a file does not
// state them.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope {
namespace {

constexpr const char* kFilms = R"py(
import subprocess
import numpy as np

grey = np.random.default_rng(7).gamma(4, 30, (5, 48, 64)).clip(0, 255).astype(np.uint8)
grey.tofile("grey.raw")
deep = np.random.default_rng(8).gamma(4, 120, (5, 48, 64)).clip(0, 1023).astype("<u2")
deep.tofile("deep.raw")

def film(name, source, pixels, *options):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", pixels, "-s", "64x48", "-r", "25",
                    "-i", source, *options, name], check=True)

full = ["-vf", "scale=out_range=full", "-pix_fmt", "yuvj420p", "-color_range", "pc"]
film("full.mp4", "grey.raw", "gray", *full, "-c:v", "libx264", "-qp", "0")
film("full.mkv", "grey.raw", "gray", *full, "-c:v", "libx264", "-qp", "0")
film("full_709.mp4", "grey.raw", "gray", *full, "-c:v", "libx264", "-qp", "0", "-colorspace", "bt709",
     "-color_primaries", "bt709", "-color_trc", "bt709")
film("full_hevc.mkv", "grey.raw", "gray", *full, "-c:v", "libx265", "-x265-params", "lossless=1:log-level=none")
film("limited.mp4", "grey.raw", "gray", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "0")
film("deep.mkv", "deep.raw", "gray10le", "-pix_fmt", "yuv420p10le", "-c:v", "libx264", "-qp", "0")
film("deep_rgb.mkv", "deep.raw", "gray10le", "-pix_fmt", "gbrp10le", "-c:v", "ffv1")
film("grey_hevc.mkv", "deep.raw", "gray10le", "-pix_fmt", "gray10le", "-c:v", "libx265", "-x265-params",
     "lossless=1:log-level=none")
film("grey_h264.mkv", "deep.raw", "gray10le", "-pix_fmt", "gray10le", "-c:v", "libx264", "-qp", "0")
film("grey_ffv1.mkv", "deep.raw", "gray10le", "-pix_fmt", "gray10le", "-c:v", "ffv1")
subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", "limited.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90",
                "turned.mp4"], check=True)
)py";

TEST(FilmColours, AreThoseThatFfmpegDecodes) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kFilms));
    const auto run = [&](const std::string& film) {
        return run_program({"run", film, "--record-raw", film + ".tiff"}, folder.path().string());
    };
    for (const char* film : {"full.mp4", "full.mkv", "full_709.mp4", "full_hevc.mkv"}) {
        const ChildResult result = run(film);
        EXPECT_EQ(result.status, 0) << result.all();
        EXPECT_EQ(result.err.find("16…235"), std::string::npos) << result.err;
    }
    EXPECT_NE(run("limited.mp4").err.find("16…235 is assumed"), std::string::npos);
    EXPECT_EQ(run("deep.mkv").status, 0);
    EXPECT_EQ(run("deep_rgb.mkv").status, 0);
    EXPECT_NE(run("turned.mp4").err.find("rotate-"), std::string::npos);
    for (const char* film : {"grey_hevc.mkv", "grey_h264.mkv", "grey_ffv1.mkv"}) {
        const ChildResult result = run(film);
        EXPECT_EQ(result.status, 1) << result.all();
        EXPECT_NE(result.err.find("gray16le"), std::string::npos) << result.err;
    }
    EXPECT_TRUE(test::python(folder, R"py(
import subprocess
import numpy as np
import tifffile

def ours(film):
    return tifffile.imread(film + ".tiff").astype(int)

def theirs(film, pixels, type):
    out = subprocess.run(["ffmpeg", "-v", "error", "-i", film, "-f", "rawvideo", "-pix_fmt", pixels, "-"], check=True,
                         capture_output=True).stdout
    return np.frombuffer(out, type).reshape(5, 48, 64, -1).astype(int)

grey = np.fromfile("grey.raw", np.uint8).reshape(5, 48, 64)
for film in ("full.mp4", "full.mkv", "full_709.mp4", "full_hevc.mkv"):
    error = np.abs(ours(film)[..., 1] - grey).max()
    assert error <= 1, (film, error)
error = np.abs(ours("limited.mp4") - theirs("limited.mp4", "rgb24", np.uint8)).max()
assert error <= 3, error
assert np.abs(ours("deep_rgb.mkv") - theirs("deep_rgb.mkv", "rgb48le", "<u2")).max() == 0
deep = ours("deep.mkv")
reference = theirs("deep.mkv", "rgb48le", "<u2")
assert np.abs(deep - reference).max() < 0.005 * 65535, np.abs(deep - reference).max()
assert len(np.unique(deep)) > len(np.unique(reference)) - 4, "no level is lost but those beyond white"
)py"));
}

} // namespace
} // namespace specklescope
