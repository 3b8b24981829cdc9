// Arrays of HDF5, MATLAB and NPZ files, written by h5py, scipy and numpy: `run` has their pixels, also after
// a seek, and the times that a file of neurophysiology states.
#include "have_hdf5.hpp"
#include "have_matio.hpp"
#include "sources/registry.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace specklescope::film_arrays_test {

class FilmArrays : public test::WrittenByPython<FilmArrays> {
public:
    static const char* script() {
        return R"py(
import h5py, os, scipy.io
import numpy as np
rng = np.random.default_rng(9)
u1 = rng.integers(0, 256, (6, 24, 40)).astype("<u1")
u2 = rng.integers(0, 4096, (6, 24, 40)).astype("<u2")
f4 = rng.uniform(.05, .4, (6, 24, 40)).astype("<f4")
for name, film in (("u1", u1), ("u2", u2), ("f4", f4)):
    np.save(name, film)
def h5(name, **arrays):
    with h5py.File(name, "w") as file:
        for key, value in arrays.items():
            file.create_dataset(key.replace("__", "/"), data=value)
h5("one.h5", raw=u2)
with h5py.File("packed.h5", "w") as file:
    file.create_dataset("raw", data=u2, chunks=(2, 7, 40), compression="gzip", shuffle=True)
h5("big_endian.h5", raw=u2.astype(">u2"))
h5("double.h5", raw=f4.astype("<f8"))
h5("several.h5", a__raw=u1, b__raw=u2, image=u1[0], line=u1[0, 0])
h5("hwt.h5", raw=np.ascontiguousarray(np.moveaxis(u2, 0, 2)))
h5("twh.h5", raw=np.ascontiguousarray(np.swapaxes(u2, 1, 2)))
h5("narrow.h5", raw=np.zeros((64, 64, 7), "u1"))
h5("none.h5", line=u1[0, 0])
h5("four.h5", raw=u1[None])
with h5py.File("matlab.mat", "w", userblock_size=512) as file: # a (24, 40, 6) array of MATLAB: axes reversed
    file.create_dataset("film", data=np.ascontiguousarray(np.swapaxes(u2, 1, 2))).attrs["MATLAB_class"] = np.bytes_("uint16")
    file.create_dataset("#refs#/a", data=u1)
with open("matlab.mat", "r+b") as file:
    file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
with h5py.File("stamps.nwb", "w") as file:
    file.create_dataset("acquisition/speckle/data", data=u2)
    file.create_dataset("acquisition/speckle/timestamps", data=np.array([1, 1.5, 2.25, 3, 4, 5.125]))
for name, times in (("nan", [1, 1.5, np.nan, 3, 4, 5]), ("fall", [1, 1.5, 1.25, 3, 4, 5]), ("still", [2] * 6)):
    with h5py.File(name + ".nwb", "w") as file:
        file.create_dataset("acquisition/speckle/data", data=u2)
        file.create_dataset("acquisition/speckle/timestamps", data=times)
with h5py.File("rate.nwb", "w") as file:
    file.create_dataset("acquisition/speckle/data", data=u2)
    file.create_dataset("acquisition/speckle/starting_time", data=0.0).attrs["rate"] = 50.0
with h5py.File("link.h5", "w") as file:
    file["raw"] = h5py.ExternalLink("one.h5", "/raw")
with h5py.File("outside.h5", "w") as file:
    file.create_dataset("raw", (6, 24, 40), "u1", external=[("u1.npy", 0, 6 * 24 * 40)])
open("cut.h5", "wb").write(open("packed.h5", "rb").read()[:4000])
open("shortest.h5", "wb").write(b"\x89HDF\r\n\x1a\n")
np.savez("stored.npz", u2)
np.savez_compressed("packed.npz", u2)
np.savez_compressed("several.npz", a=u1, film=u2)
np.savez_compressed("fortran.npz", np.asfortranarray(u2))
hwt = np.moveaxis(u2, 0, 2) # as MATLAB shows a film
np.save("hwt", np.ascontiguousarray(hwt.astype(">u2")))
np.save("fortran_hwt", np.asfortranarray(hwt))
np.save("twh", np.ascontiguousarray(np.swapaxes(f4, 1, 2)))
np.savez_compressed("hwt.npz", np.ascontiguousarray(hwt))
np.save("one", u2[:1].transpose(1, 2, 0))
np.save("square", np.zeros((64, 64, 48), "u1"))
np.save("vga", np.zeros((48, 64, 100), "u1"))
np.save("usual", np.zeros((100, 48, 64), "u1"))
np.save("rgb", np.zeros((24, 40, 3), "u1"))
scipy.io.savemat("time_first.mat", {"film": np.zeros((100, 48, 64), "u1")})
scipy.io.savemat("wide.mat", {"film": u2})
scipy.io.savemat("five.mat", {"film": hwt, "text": "x"})
scipy.io.savemat("packed.mat", {"film": hwt, "one": u1[0]}, do_compression=True)
scipy.io.savemat("double.mat", {"a": np.moveaxis(f4, 0, 2).astype("f8"), "b": hwt})
open("cut.mat", "wb").write(open("packed.mat", "rb").read()[:2000])
open("cut.npz", "wb").write(open("packed.npz", "rb").read()[:-400])
)py";
    }

protected:
    static ChildResult run(const std::string& source, const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = {"run", source};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words, folder_->path().string());
    }
    /// Pixels of these frames, read in this order.
    static std::string pixels(const std::string& text, const std::vector<std::uint64_t>& frames) {
        const auto source = make_source(SourceArgument(text), {});
        (void)source->open();
        std::string bytes;
        for (const std::uint64_t frame : frames) {
            source->seek(frame, 0);
            test::TestPort port;
            while (port.frames.empty() && source->next(port) != Source::Status::end) {
            }
            const auto& found = port.frames.at(0).pixels;
            bytes.append(reinterpret_cast<const char*>(found.data()), found.size());
        }
        return bytes;
    }
    static std::string expected(const std::string& array, const std::vector<std::uint64_t>& frames) {
        const std::string all = test::read_file(file(array + ".npy")).substr(128);
        std::string bytes;
        for (const std::uint64_t frame : frames)
            bytes += all.substr(frame * all.size() / 6, all.size() / 6);
        return bytes;
    }
};

TEST_F(FilmArrays, GiveEveryFrameInAnyOrder) {
    struct Case {
        std::string source, array;
    };
    std::vector<Case> cases = {{"stored.npz", "u2"},
                               {"packed.npz", "u2"},
                               {"fortran.npz?axes=thw", "u2"},
                               {"hwt.npy?axes=hwt", "u2"},
                               {"fortran_hwt.npy?axes=hwt", "u2"},
                               {"twh.npy?axes=twh", "f4"},
                               {"hwt.npz?axes=hwt", "u2"},
                               {"u2.npy?axes=thw", "u2"},
                               {"several.npz?path=film", "u2"},
                               {"several.npz?path=a", "u1"}};
#ifdef SPECKLESCOPE_HAVE_HDF5
    for (const Case& one :
         {Case{"one.h5", "u2"}, Case{"packed.h5", "u2"}, Case{"big_endian.h5", "u2"}, Case{"double.h5", "f4"},
          Case{"several.h5?path=/a/raw", "u1"}, Case{"several.h5?path=b/raw", "u2"},
          Case{"hwt.h5?axes=hwt", "u2"}, Case{"twh.h5?axes=twh", "u2"}, Case{"matlab.mat", "u2"},
          Case{"stamps.nwb", "u2"}})
        cases.push_back(one);
#endif
#ifdef SPECKLESCOPE_HAVE_MATIO
    for (const Case& one : {Case{"five.mat", "u2"}, Case{"packed.mat", "u2"}, Case{"wide.mat?axes=wht", "u2"},
                            Case{"double.mat?path=a", "f4"}, Case{"double.mat?path=b", "u2"}})
        cases.push_back(one);
#endif
    const std::vector<std::uint64_t> order = {4, 0, 5, 1, 2, 3};
    for (const Case& one : cases) {
        EXPECT_EQ(pixels(file(one.source), order) == expected(one.array, order), true) << one.source;
    }
}

TEST_F(FilmArrays, RefuseWhatCannotBeChosenOrRead) {
    struct Case {
        std::string source;
        int status;
        std::string named;
    };
    std::vector<Case> cases = {{"several.npz", 2, "film"},
                               {"several.npz?path=b", 2, "film"},
                               {"stored.npz?axes=hw", 2, ""},
                               {"rgb.npy?axes=chw", 2, ""},
                               {"fortran_hwt.npy", 2, "axes=hwt"},
                               {"fortran.npz", 2, "axes=thw"},
                               {"one.npy", 2, "axes=hwt"},
                               {"square.npy", 2, "axes=hwt"},
                               {"vga.npy", 2, "axes=hwt"},
                               {"usual.npy", 0, "thw"},
                               {"rgb.npy", 0, "hwc"},
                               {"u1.npy?path=a", 2, ""},
                               {"cut.npz", 1, ""}};
#ifdef SPECKLESCOPE_HAVE_HDF5
    for (const Case& one :
         {Case{"several.h5", 2, "/b/raw (6×24×40)"}, Case{"several.h5?path=/c", 2, "/a/raw"},
          Case{"one.h5?axes=tww", 2, "6×24×40"}, Case{"narrow.h5", 2, "axes=hwt"}, Case{"none.h5", 1, ""},
          Case{"four.h5", 1, ""}, Case{"link.h5", 1, ""}, Case{"outside.h5", 1, "other files"},
          Case{"cut.h5", 1, ""}, Case{"shortest.h5", 1, ""}})
        cases.push_back(one);
#endif
#ifdef SPECKLESCOPE_HAVE_MATIO
    for (const Case& one : {Case{"double.mat", 2, "b (6×40×24)"}, Case{"packed.mat?path=none", 2, "film"},
                            Case{"time_first.mat", 2, "axes=wht"}, Case{"cut.mat", 1, ""}})
        cases.push_back(one);
#endif
    for (const Case& one : cases) {
        const ChildResult done = run(one.source);
        EXPECT_EQ(done.status, one.status) << one.source << done.all();
        EXPECT_NE(done.all().find(one.named), std::string::npos) << one.source << done.all();
    }
}

#ifdef SPECKLESCOPE_HAVE_HDF5
TEST_F(FilmArrays, HaveTheTimesAndTheContrastOfTheArray) {
    test::write_file(file("r.json"),
                     R"({"regions": [{"name": "a", "shape": "rectangle", "points": [[10, 8], [30, 16]]}]})");
    ASSERT_EQ(run("stamps.nwb", {"--regions", "r.json", "--traces", "stamps.csv"}).status, 0);
    ASSERT_EQ(run("rate.nwb", {"--regions", "r.json", "--traces", "rate.csv"}).status, 0);
    for (const std::string name : {"nan", "fall", "still"})
        ASSERT_EQ(run(name + ".nwb", {"--regions", "r.json", "--traces", name + ".csv"}).status, 0);
    for (const std::string name : {"packed.h5", "matlab.mat"})
        ASSERT_EQ(run("h5:" + name, {"--stage", "speckle:radius=3,output=contrast", "--frames", "1",
                                     "--record", name + ".tiff"})
                      .status,
                  0);
    EXPECT_TRUE(test::python(*folder_, R"py(
import numpy as np, tifffile
def times(name):
    return [float(line.split(",")[1]) for line in open(name) if line[0].isdigit()]
for name in ("nan", "fall", "still"): # no times are made up
    assert [line.split(",")[1] for line in open(name + ".csv") if line[0].isdigit()] == [""] * 6, name
assert np.allclose(times("stamps.csv"), [1, 1.5, 2.25, 3, 4, 5.125], rtol=0, atol=1e-9), times("stamps.csv")
assert np.allclose(times("rate.csv"), np.arange(6) / 50, rtol=0, atol=1e-9), times("rate.csv")
x = np.load("u2.npy")[0].astype(float)
w = np.lib.stride_tricks.sliding_window_view(x, (7, 7)).reshape(18, 34, 49)
K = w.std(-1, ddof=1) / w.mean(-1)
for name in ("packed.h5.tiff", "matlab.mat.tiff"):
    got = tifffile.imread(name).squeeze()[3:-3, 3:-3]
    assert abs(got / K - 1).max() < 3e-7, abs(got / K - 1).max()
)py")) << test::read_file(file("python.log"));
}
#endif

} // namespace specklescope::film_arrays_test
