// Films of other programs, written here from their public descriptions: `run` has their pixels, times,
// exposure, scale and contrast. The reference is the array that was written.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace specklescope::film_formats_test {

class FilmFormats : public test::WrittenByPython<FilmFormats> {
public:
    static const char* script() {
        return R"py(
import json, struct
import numpy as np
rng = np.random.default_rng(7)
u1 = rng.integers(0, 256, (5, 24, 40)).astype("<u1")
u2 = rng.integers(0, 4096, (5, 24, 40)).astype("<u2")
K = rng.uniform(.05, .4, (5, 24, 40)).astype("<f4")
for name, film in (("u1", u1), ("u2", u2), ("K", K)):
    np.save(name, film)
stamps = np.array([1000, 6000, 11500, 16000, 21250], "<u8") + 7_000_000

def rls(name, film, version, period=5, stamps=stamps):
    t, h, w = film.shape
    head = struct.pack("<4Q", w, h, t, period)
    if version:
        head += b"Ver." + struct.pack("<Q", version)
    if version > 1:
        head += struct.pack("<Q", film.itemsize)
    with open(name, "wb") as file:
        file.write(head.ljust(30 * 1024, b"\0"))
        for stamp, frame in zip(stamps, film):
            file.write(stamp.tobytes() + frame.tobytes(order="F"))

def foil(name, film):
    t, h, w = film.shape
    open(name, "wb").write(struct.pack("<4H", h, w, t, 5) + film.tobytes())

def holo(name, film, order, footer=b"", version=4, total=None):
    t, h, w = film.shape
    head = b"HOLO" + struct.pack("<HHIIIQB", version, 8 * film.itemsize, w, h, t, total or film.nbytes, order)
    open(name, "wb").write(head.ljust(64, b"\0") + film.tobytes() + footer)

rls("old.rls", u1, 0)
rls("one.rls", u1, 1)
rls("two.rls", u2, 2)
rls("three.rls", u2, 3)
rls("still.rls", u1, 1, stamps=stamps * 0)
foil("film.raw", u1)
(np.arange(5, dtype="<f4") * 0.25 + 3).tofile("film.timing")
foil("part.00000.raw", u1[:2])
foil("part.00001.raw", u1[2:])
open("k.sc", "wb").write(struct.pack("<3H", 24, 40, 5) + K.tobytes())
holo("u1.holo", u1, 0, json.dumps({"info": {"pixel_pitch": {"x": 12.5, "y": 12.5}, "input_fps": 200}}).encode())
holo("u2.holo", u2.astype(">u2"), 1)
holo("k.holo", K, 0, b"{ damaged")

# refused
whole = open("three.rls", "rb").read()
open("unknown.rls", "wb").write(whole + b"x")
open("huge.rls", "wb").write(struct.pack("<4Q", 1 << 40, 1 << 40, 1 << 60, 5).ljust(40000, b"\0"))
open("short.rls", "wb").write(whole[:20])
open("empty.rls", "wb").write(struct.pack("<4Q", 4, 4, 0, 5).ljust(40000, b"\0"))
holo("unknown.holo", K, 0, version=99)
holo("total.holo", K, 0, total=7)
open("cut.rls", "wb").write(open("two.rls", "rb").read()[:-100])
open("cut.sc", "wb").write(open("k.sc", "rb").read()[:-100])
json.dump({"regions": [{"name": "a", "shape": "rectangle", "points": [[10, 8], [30, 16]]}]}, open("r.json", "w"))
)py";
    }

protected:
    static ChildResult run(const std::vector<std::string>& arguments) {
        std::vector<std::string> words = {"run"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return run_program(words, folder_->path().string());
    }
    static bool holds(const std::string& check) {
        return test::python(*folder_, "import numpy as np, json\n" + check);
    }
    static std::string log() { return test::read_file(file("python.log")); }
};

TEST_F(FilmFormats, GiveThePixelsAndTimesThatWereWritten) {
    struct Case {
        std::string name, array, times;
    };
    const std::string stamps = "[7.001, 7.006, 7.0115, 7.016, 7.02125]";
    const std::string steady = "[0, .005, .01, .015, .02]";
    for (const Case& one :
         {Case{"old.rls", "u1", stamps}, Case{"one.rls", "u1", stamps}, Case{"two.rls", "u2", stamps},
          Case{"three.rls", "u2", stamps}, Case{"still.rls", "u1", steady},
          Case{"film.raw", "u1", "[3, 3.25, 3.5, 3.75, 4]"}, Case{"part.%05d.raw", "u1", ""},
          Case{"k.sc", "K", ""}, Case{"u1.holo", "u1", steady}, Case{"u2.holo", "u2", ""},
          Case{"k.holo", "K", ""}}) {
        const ChildResult done =
            run({one.name, "--record-raw", one.array + "_" + one.name.substr(0, 4) + ".tiff", "--regions",
                 "r.json", "--traces", "t.csv", "--stats", "s.json"});
        EXPECT_EQ(done.status, 0) << one.name << done.all();
        EXPECT_TRUE(holds("import tifffile, glob, os\nfilm = np.load('" + one.array + ".npy')\n" +
                          "name = glob.glob('" + one.array + "_*.tiff')[0]\n" +
                          "got = tifffile.imread(name)\n" + "os.remove(name)\n" +
                          "assert got.dtype == film.dtype and np.array_equal(got, film)\n" +
                          "times = [line.split(',')[1] for line in open('t.csv') if line[0].isdigit()]\n" +
                          "os.remove('t.csv')\nos.remove('s.json')\n" +
                          (one.times.empty() ? "assert times == [''] * 5, times\n"
                                             : "assert np.allclose([float(t) for t in times], " + one.times +
                                                   ", rtol=0, atol=1e-9), times\n")))
            << one.name << log();
    }
}

TEST_F(FilmFormats, HaveTheContrastOfNumpy) {
    for (const std::string name : {"two.rls", "u2.holo"}) {
        const ChildResult done = run(
            {name, "--stage", "speckle:radius=3,output=contrast", "--frames", "1", "--record", "K.npy.tiff"});
        ASSERT_EQ(done.status, 0) << done.all();
        EXPECT_TRUE(
            holds("import tifffile, os\n"
                  "got = tifffile.imread('K.npy.tiff').squeeze()[3:-3, 3:-3]\nos.remove('K.npy.tiff')\n"
                  "x = np.load('u2.npy')[0].astype(float)\n"
                  "w = np.lib.stride_tricks.sliding_window_view(x, (7, 7)).reshape(18, 34, 49)\n"
                  "K = w.std(-1, ddof=1) / w.mean(-1)\n"
                  "assert abs(got / K - 1).max() < 3e-7, abs(got / K - 1).max()\n"))
            << name << log();
    }
    // A film of contrast goes into flow without a contrast stage.
    const ChildResult done = run({"k.sc", "--stage", "flow", "--record", "flow.tiff"});
    ASSERT_EQ(done.status, 0) << done.all();
    const ChildResult told = run({"k.sc", "--stage", "flow:input=contrast", "--record", "told.tiff"});
    ASSERT_EQ(told.status, 0) << told.all();
    EXPECT_TRUE(holds("import tifffile\na, b = tifffile.imread('flow.tiff'), tifffile.imread('told.tiff')\n"
                      "assert np.array_equal(a, b)\nK = np.load('K.npy').astype(float)\n"
                      "order = np.argsort(K.ravel())\nassert (np.diff(a.ravel()[order]) <= 0).all()\n"))
        << log();
}

TEST_F(FilmFormats, StateExposureAndPixelSize) {
    ASSERT_EQ(run({"film.raw", "--stats", "raw.json"}).status, 0);
    ASSERT_EQ(run({"u1.holo", "--stats", "holo.json"}).status, 0);
    EXPECT_TRUE(holds(
        "raw = json.dumps(json.load(open('raw.json')))\nholo = json.dumps(json.load(open('holo.json')))\n"
        "assert '\"exposure_ms\": 5' in raw, raw\nassert '\"um_per_px\": 12.5' in holo, holo\n"))
        << log();
}

TEST_F(FilmFormats, RefuseWhatIsUnknownOrDamaged) {
    struct Case {
        const char* name;
        const char* named;
    };
    for (const Case& one :
         {Case{"unknown.rls", "byte 36"}, Case{"huge.rls", ""}, Case{"short.rls", "20 bytes"},
          Case{"empty.rls", ""}, Case{"unknown.holo", "99"}, Case{"total.holo", "byte 20"}}) {
        const ChildResult done = run({one.name});
        EXPECT_EQ(done.status, 1) << one.name;
        EXPECT_NE(done.all().find(one.named), std::string::npos) << done.all();
    }
    for (const std::string name : {"cut.rls", "cut.sc"}) { // whole frames before the cut count
        const ChildResult done = run({name, "--traces", "cut.csv", "--regions", "r.json"});
        EXPECT_EQ(done.status, 1) << name;
        EXPECT_TRUE(holds("import os\nlines = [line for line in open('cut.csv') if line[0].isdigit()]\n"
                          "os.remove('cut.csv')\nassert len(lines) == 4, len(lines)\n"))
            << name << log();
    }
}

/// A .raw file is FOIL's only if its header and size agree; one of ours is never taken for it.
TEST_F(FilmFormats, TellFoilRawFromHeaderlessFrames) {
    ASSERT_TRUE(holds("whole = open('film.raw', 'rb').read()\nopen('longer.raw', 'wb').write(whole + b'x')\n"
                      "open('ours.raw', 'wb').write(whole)\nopen('ours.raw.jsonl', 'w').write('{}')\n"));
    EXPECT_NE(run({"longer.raw"}).status, 0);
    EXPECT_NE(run({"image:" + file("longer.raw")}).status, 0);
    EXPECT_NE(run({"ours.raw"}).status, 0);
    EXPECT_EQ(run({"image:" + file("ours.raw")}).status, 0);
    EXPECT_EQ(run({"raw:" + file("film.raw") + "?width=40&height=24&header=8"}).status, 0);
}

} // namespace specklescope::film_formats_test
