// Pixel values of films as ffmpeg decodes them: their range, their bits, and the assumption if a file does
// not state them.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope::film_colours_test {

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
np.random.default_rng(9).integers(0, 256, (5, 3, 48, 64)).astype(np.uint8).tofile("yuv8.raw")
for bits in (10, 12):
    np.random.default_rng(bits).integers(0, 1 << bits, (5, 3, 48, 64)).astype("<u2").tofile(f"yuv{bits}.raw")
for name, bits, range, matrix in (("bare8", 8, "", ""), ("tv8", 8, "tv", "bt709"), ("pc8", 8, "pc", "smpte170m"),
                                  ("tv10", 10, "tv", "smpte170m"), ("pc10", 10, "pc", "bt709"), ("tv12", 12, "tv", "bt709")):
    pixels = "yuv444p" if bits == 8 else f"yuv444p{bits}le"
    said = ["-color_range", range, "-colorspace", matrix] if range else []
    film(name + ".mkv", f"yuv{bits}.raw", pixels, *said, "-c:v", "ffv1")
film("deep.mkv", "deep.raw", "gray10le", "-pix_fmt", "yuv420p10le", "-c:v", "libx264", "-qp", "0")
film("deep_rgb.mkv", "deep.raw", "gray10le", "-pix_fmt", "gbrp10le", "-c:v", "ffv1")
film("grey_hevc.mkv", "deep.raw", "gray10le", "-pix_fmt", "gray10le", "-c:v", "libx265", "-x265-params",
     "lossless=1:log-level=none")
film("grey_h264.mkv", "deep.raw", "gray10le", "-pix_fmt", "gray10le", "-c:v", "libx264", "-qp", "0")
film("grey_av1.mkv", "grey.raw", "gray", "-pix_fmt", "gray", "-c:v", "libaom-av1", "-cpu-used", "8")
film("shifted.mov", "deep.raw", "gray10le", "-pix_fmt", "rgb48be", "-c:v", "png")
film("deep.y4m", "deep.raw", "gray10le", "-pix_fmt", "yuv420p10le", "-frames:v", "1", "-strict", "-1")
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
    for (const char* film : {"bare8.mkv", "tv8.mkv", "pc8.mkv", "tv10.mkv", "pc10.mkv", "tv12.mkv"})
        EXPECT_EQ(run(film).status, 0) << film;
    EXPECT_NE(run("limited.mp4").err.find("16…235 is assumed"), std::string::npos);
    EXPECT_EQ(run("deep.mkv").status, 0);
    EXPECT_EQ(run("deep_rgb.mkv").status, 0);
    EXPECT_NE(run("turned.mp4").err.find("rotate-"), std::string::npos);
    for (const char* film :
         {"grey_hevc.mkv", "grey_h264.mkv", "grey_ffv1.mkv", "grey_av1.mkv", "shifted.mov", "deep.y4m"}) {
        const ChildResult result = run(film);
        EXPECT_EQ(result.status, 1) << result.all();
        EXPECT_NE(result.err.find("ffmpeg -i FILE"), std::string::npos) << result.err;
        EXPECT_FALSE(std::filesystem::exists(folder / (film + std::string(".tiff")))) << film;
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
def rgb(yuv, bits, full, red, blue):
    """By ITU-R BT.601 and BT.709, from the weights of red and blue in luma."""
    step, top = 1 << (bits - 8), (1 << bits) - 1
    y, u, v = (yuv[:, i].astype(float) for i in range(3))
    y = y / top if full else (y - 16 * step) / (219 * step)
    u, v = ((c - 128 * step) / (top if full else 224 * step) for c in (u, v))
    r, b = y + 2 * (1 - red) * v, y + 2 * (1 - blue) * u
    g = (y - red * r - blue * b) / (1 - red - blue)
    return np.stack([r, g, b], -1).clip(0, 1) * (255 if bits == 8 else 65535)

bt601, bt709 = (0.299, 0.114), (0.2126, 0.0722)
for name, bits, full, weights in (("bare8", 8, False, bt601), ("tv8", 8, False, bt709), ("pc8", 8, True, bt601),
                                  ("tv10", 10, False, bt601), ("pc10", 10, True, bt709), ("tv12", 12, False, bt709)):
    yuv = np.fromfile(f"yuv{bits}.raw", np.uint8 if bits == 8 else "<u2").reshape(5, 3, 48, 64)
    error = np.abs(ours(name + ".mkv") - rgb(yuv, bits, full, *weights)).max()
    assert error <= 0.51, (name, error)
luma = theirs("limited.mp4", "yuv444p", np.uint8).reshape(5, 3, 48, 64)
error = np.abs(ours("limited.mp4") - rgb(luma, 8, False, *bt601)).max()
assert error <= 0.51, error
assert np.abs(ours("deep_rgb.mkv") - theirs("deep_rgb.mkv", "rgb48le", "<u2")).max() == 0
deep = ours("deep.mkv")
reference = theirs("deep.mkv", "rgb48le", "<u2")
assert np.abs(deep - reference).max() < 0.005 * 65535, np.abs(deep - reference).max()
assert len(np.unique(deep)) > len(np.unique(reference)) - 4, "no level is lost but those beyond white"
)py"));
}

/// As written by ffmpeg and this program, with odd sizes; frames after a seek equal those of the run.
TEST(FilmColours, GreyYuv4MpegIsReadBitByBit) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, R"py(
import os, subprocess
for name, pixels, size in (("a.y4m", "gray", 1), ("b.y4m", "gray10le", 2), ("c.y4m", "gray16le", 2)):
    samples = bytearray(os.urandom(7 * 33 * 61 * size))
    if pixels == "gray10le":
        samples[1::2] = bytes(b & 3 for b in samples[1::2])
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", pixels, "-s", "61x33", "-r", "25", "-i",
                    "-", "-strict", "-1", name], check=True, input=bytes(samples))
    open(name + ".raw", "wb").write(samples)
film = open("a.y4m", "rb").read()
second = film.index(b"FRAME", film.index(b"FRAME") + 61)
open("other.y4m", "wb").write(film[:second] + b"FRAME Ip\n" + film[second + 6:])
open("cut.y4m", "wb").write(film[:-5])
end = film.index(b"\n")
for name, head in (("it.y4m", film[:end].replace(b" Ip", b"") + b" It"), ("m8.y4m", film[:end].replace(b"Cmono", b"Cmono8"))):
    open(name, "wb").write(head + film[end:])
)py"));
    const auto run = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "run");
        return run_program(arguments, folder.path().string());
    };
    for (const std::string film : {"a.y4m", "b.y4m", "c.y4m"}) {
        EXPECT_EQ(run({film, "--record-raw", film + ".tiff"}).status, 0);
        EXPECT_EQ(run({film, "--from", "3", "--frames", "2", "--record-raw", film + "-3.tiff"}).status, 0);
    }
    test::write_file(folder / "own.y4m", run({"a.y4m", "--record-raw", "y4m:-"}).out);
    EXPECT_EQ(run({"own.y4m", "--record-raw", "own.tiff"}).status, 0);
    EXPECT_EQ(run({"other.y4m", "--record-raw", "other.tiff"}).status, 1);
    EXPECT_EQ(run({"cut.y4m", "--record-raw", "cut.tiff"}).status, 1);
    for (const char* film : {"it.y4m", "m8.y4m"})
        EXPECT_EQ(run({film}).status, 1) << film;
    EXPECT_TRUE(test::python(folder, R"py(
import json
import numpy as np
import tifffile

for name, type, full_scale in (("a.y4m", np.uint8, 255), ("b.y4m", "<u2", 1023), ("c.y4m", "<u2", 65535)):
    truth = np.fromfile(name + ".raw", type).reshape(7, 33, 61)
    page = tifffile.TiffFile(name + ".tiff").pages[0]
    assert (tifffile.imread(name + ".tiff") == truth).all(), name
    assert (tifffile.imread(name + "-3.tiff") == truth[3:5]).all(), name
    said = json.loads(page.description[page.description.index("{"):])
    assert said["full_scale"] == full_scale and said["rate"] == 25, said
assert (tifffile.imread("own.tiff") == tifffile.imread("a.y4m.tiff")).all()
assert len(tifffile.TiffFile("other.tiff").pages) == 1 and len(tifffile.TiffFile("cut.tiff").pages) == 6
)py"));
}

} // namespace specklescope::film_colours_test
