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

def cine(name, film, packing=0, bits=16, real=12, version=1):
    t, h, w = film.shape
    setup = bytearray(5740)
    def put(at, form, value):
        struct.pack_into(form, setup, at, value)
    put(140, "2s", b"ST")
    put(142, "<H", 5740)
    put(768, "<I", 100)
    put(896, "<I", real)
    put(1568, "<I", 2_500_000)
    seconds = 1_600_000_000
    times = b"".join(struct.pack("<II", int(f * 2**32), seconds) for f in (0, .25, .375, .5, .625))
    exposures = struct.pack("<5I", *(int(e * 2**32) for e in (.001, .002, .003, .004, .005)))
    blocks = b"".join(struct.pack("<IHH", 8 + len(b), kind, 0) + b
                      for kind, b in ((1002, times), (1007, b"other"), (1003, exposures)))
    if packing == 256:
        bits10 = ((film.reshape(t, -1, 1) >> np.arange(9, -1, -1)) & 1).astype("u1")
        pixels = [np.packbits(frame).tobytes() for frame in bits10]
    else:
        pixels = [frame[::-1].tobytes() for frame in film]  # the lowest row first
    offsets_at = 84 + len(setup) + len(blocks)
    note = struct.pack("<I", 12) + b"note"
    first = offsets_at + 8 * t
    each = len(note) + 4 + len(pixels[0])
    head = b"CI" + struct.pack("<HHHiIiIIIIQ", 44, 0, version, -3, 9, -3, t, 44, 84, offsets_at, seconds << 32)
    bitmap = struct.pack("<IiiHHIIiiII", 40, w, h, 1, bits, packing, len(pixels[0]), 0, 0, 0, 0)
    with open(name, "wb") as file:
        file.write(head + bitmap + setup + blocks + struct.pack(f"<{t}Q", *(first + i * each for i in range(t))))
        for frame in pixels:
            file.write(note + struct.pack("<I", len(frame)) + frame)

def moor(name, film, version):
    t, h, w = film.shape
    head = bytearray(0x10000)
    head[:38] = (b"Moor FLPI Live Image Data file V2.0" if version == 2 else b"moorFLPI Live Image Data File V3.0").ljust(38)
    at, form, dt = (0x8000, "<I", 40) if version == 2 else (0x1000, "<q", 40_000)
    for place, value in ((0, t), (8, w), (16, h), (24, dt)):
        struct.pack_into(form, head, at + place, value)
    open(name, "wb").write(bytes(head) + np.stack([film, film[::-1]], 1).astype("<u2").tobytes())

cine("u1.cine", u1, bits=8, real=8)
cine("u2.cine", u2)
codes = rng.integers(0, 1024, (5, 24, 40)).astype("<u2")
cine("packed.cine", codes, packing=256, bits=16, real=10)
np.save("codes", codes)
moor("v2.mlf", u2, 2)
moor("v3.mlf", u2, 3)
# refused
cine("unknown.cine", u2, version=2)
cine("jpeg.cine", u2, packing=1234)
moor("unknown.mlf", u2, 2)
with open("unknown.mlf", "r+b") as file:
    file.write(b"Moor FLPI Live Image Data file V9.0")
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
    const std::string steady = "[0, .005, .01, .015, .02]", slow = "[0, .04, .08, .12, .16]";
    const std::string cine = "1600000000 + np.array([0, .25, .375, .5, .625])";
    for (const Case& one :
         {Case{"old.rls", "u1", stamps}, Case{"one.rls", "u1", stamps}, Case{"two.rls", "u2", stamps},
          Case{"three.rls", "u2", stamps}, Case{"still.rls", "u1", steady},
          Case{"film.raw", "u1", "[3, 3.25, 3.5, 3.75, 4]"}, Case{"part.%05d.raw", "u1", ""},
          Case{"k.sc", "K", ""}, Case{"u1.holo", "u1", steady}, Case{"u2.holo", "u2", ""},
          Case{"k.holo", "K", ""}, Case{"u1.cine", "u1", cine}, Case{"u2.cine", "u2", cine},
          Case{"v2.mlf", "u2", slow}, Case{"v3.mlf", "u2", slow}}) {
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
    const ChildResult stated = run({"k.sc", "--stage", "flow:input=contrast", "--record", "stated.tiff"});
    ASSERT_EQ(stated.status, 0) << stated.all();
    EXPECT_TRUE(holds("import tifffile\na, b = tifffile.imread('flow.tiff'), tifffile.imread('stated.tiff')\n"
                      "assert np.array_equal(a, b)\nK = np.load('K.npy').astype(float)\n"
                      "order = np.argsort(K.ravel())\nassert (np.diff(a.ravel()[order]) <= 0).all()\n"))
        << log();
}

TEST_F(FilmFormats, StateExposureAndPixelSize) {
    ASSERT_EQ(run({"film.raw", "--stats", "raw.json"}).status, 0);
    ASSERT_EQ(run({"u1.holo", "--stats", "holo.json"}).status, 0);
    EXPECT_TRUE(holds(
        "raw = json.dumps(json.load(open('raw.json')))\nholo = json.dumps(json.load(open('holo.json')))\n"
        "assert '\"exposure_used_ms\": 5' in raw, raw\nassert '\"um_per_px\": 12.5' in holo, holo\n"))
        << log();
}

TEST_F(FilmFormats, RefuseWhatIsUnknownOrDamaged) {
    struct Case {
        const char* name;
        const char* named;
    };
    for (const Case& one :
         {Case{"unknown.rls", "byte 36"}, Case{"huge.rls", ""}, Case{"short.rls", "20 bytes"},
          Case{"empty.rls", ""}, Case{"unknown.holo", "99"}, Case{"total.holo", "byte 20"},
          Case{"unknown.cine", "byte 6"}, Case{"jpeg.cine", "1234"}, Case{"unknown.mlf", "byte 0"}}) {
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

/// The public readers have a table; these are its values at every 64th code, and where it ends.
TEST_F(FilmFormats, MakeLightOfPackedCodes) {
    ASSERT_EQ(run({"packed.cine", "--record-raw", "packed.tiff"}).status, 0);
    EXPECT_TRUE(holds(R"py(
import tifffile
got, codes = tifffile.imread("packed.tiff"), np.load("codes.npy")
assert got.dtype == np.uint16 and got.shape == codes.shape
table = dict(zip(range(64, 1024, 64), (64, 125, 193, 290, 418, 578, 771, 998, 1260, 1559, 1894, 2267, 2679, 3130, 3620)))
table |= {1008: 4014, 1014: 4064, 1015: 4095, 1023: 4095}
seen = 0
for code, value in table.items():
    found = got[codes == code].astype(int)
    assert (abs(found - value) <= 1 + 3 * (code == 1014)).all(), (code, value, found)
    seen += found.size
assert seen > 20
order = np.argsort(codes.ravel(), kind="stable")
assert (np.diff(got.ravel()[order].astype(int)) >= 0).all()
)py")) << log();
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
