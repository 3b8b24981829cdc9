// HDF5 recordings, read by h5py: the numbers of a TIFF of the same run, and a file that is read while it
// grows.
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

#include "have_hdf5.hpp"

#include <chrono>

namespace specklescope::h5_test {
using namespace test;
using namespace std::chrono_literals;

#ifdef SPECKLESCOPE_HAVE_HDF5

/// The frames and what the TIFF states about them.
constexpr const char* kCompare = R"(
import csv, json, h5py, numpy as np, tifffile
def facts(name):
    with tifffile.TiffFile(name) as tiff:
        texts = [page.description for page in tiff.pages]
        frames = np.stack([page.asarray() for page in tiff.pages])
    texts = [json.JSONDecoder().raw_decode(t[t.index("{"):])[0] for t in texts]
    return frames, texts[0], [texts[0]["frame"]] + texts[1:]
def check(name, group, array, kind):
    frames, first, lines = facts(name + ".tiff")
    with h5py.File(name + ".h5") as file:
        own = file[group][array]
        assert own.dtype == kind and own.shape == (12, 48, 64), own
        assert own[:].tobytes() == frames.astype(kind).tobytes(), array
        assert own.attrs["unit"].decode() == first["unit"] and own.attrs["quantity"].decode() == first["quantity"]
        assert own.attrs["um_per_px"] == 5, dict(own.attrs)
        zero = lines[0]["capture_ns"]
        assert np.array_equal(file[group]["timestamps"][:], [(l["capture_ns"] - zero) / 1e9 for l in lines])
        assert file[group]["timestamps"].attrs["unit"] == b"s"
        assert file[group]["timestamps"].attrs["started"].decode()[:10] == first["started"][:10]
        assert np.array_equal(file[group]["sequence"][:], [l["sequence"] for l in lines])
        assert np.array_equal(file[group]["dropped_before"][:], [l["dropped_before"] for l in lines])
        assert np.array_equal(file[group]["exposure"][:], [l["exposure_used_ms"] for l in lines])
        assert file[group]["exposure"].attrs["unit"] == b"ms"
        text = json.loads(file["settings/description"][()])
        clocks = ("started", "started_arrival_ns", "clock")
        assert {k: v for k, v in text.items() if k not in clocks} == \
            {k: v for k, v in first.items() if k not in (*clocks, "frame")}, text
        assert file["settings"].attrs["parameters"].decode() == first["parameters"]
        assert file["settings"].attrs["width"] == 64
        ends = file["settings/frame_ends"][:]
        own = [json.loads(file["settings/frames"][a:b].tobytes()) for a, b in zip([0, *ends], ends)]
        assert own == lines, own
        return {k: v[:] for k, v in file["traces"].items()} if group == "maps" else None
check("raw", "raw", "frames", "<u2")
traces = check("flow", "maps", "speckle_flow_index", "<f4")
rows = [row for row in csv.DictReader(l for l in open("t.csv") if not l.startswith("#"))]
assert [name.decode() for name in traces["regions"]] == ["box", "dot \u00b5"], traces["regions"]
for i, name in enumerate(["box", "dot \u00b5"]):
    for key in "mean", "std":
        want = np.array([float(row[key]) for row in rows if row["region"] == name])
        assert np.allclose(traces[key][:, i], want, rtol=1e-6, atol=0) and len(want) == 12, (key, want, traces[key])
assert np.allclose(traces["timestamps"], np.arange(12) / 37)
)";

TEST(Hdf5Recording, HoldsWhatTheTiffHolds) {
    const TemporaryFolder folder;
    write_file(folder / "r.json", R"({"regions":[
        {"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},
        {"name":"dot µ","shape":"ellipse","points":[[20,10],[29,27]]}]})");
    const ChildResult run =
        run_program({"run",          "synthetic:vessels?width=64&height=48&live=false&rate=37",
                     "--frames",     "12",
                     "--stage",      "speckle:radius=2,output=sfi",
                     "--regions",    "r.json",
                     "--traces",     "t.csv",
                     "--um-per-px",  "5",
                     "--record",     "flow.tiff",
                     "--record",     "flow.h5",
                     "--record-raw", "raw.tiff",
                     "--record-raw", "raw.h5",
                     "--backend",    "cpu",
                     "--quiet"},
                    folder.path().string());
    ASSERT_EQ(run.status, 0) << run.all();
    EXPECT_TRUE(python(folder, kCompare));
}

/// Regions that come later have columns from there on, and marks are rows.
TEST(Hdf5Recording, KeepsEventsAndNewRegions) {
    const TemporaryFolder folder;
    const Shape shape{16, 16, 1, PixelType::f32};
    Maker maker({16, 16, 1, PixelType::u8}, shape);
    const auto sink = make_recorder({.path = folder / "a.h5"});
    sink->open(stream_of({16, 16, 1, PixelType::u8}));
    const auto placed = [](const std::vector<std::string>& names) {
        PlacedRegions regions;
        for (const std::string& name : names)
            regions.regions.emplace_back().name = name;
        return std::make_shared<const PlacedRegions>(std::move(regions));
    };
    const auto none = placed({}), one = placed({"a"}), two = placed({"b", "a"});
    for (std::uint64_t n = 0; n < 6; ++n) {
        if (n == 4)
            sink->mark({.number = 1, .sequence = 3, .capture_ns = 30'000'005, .label = "stimulus é"});
        if (n == 5)
            sink->mark({.number = 1, .sequence = 3, .label = "", .removed = true, .timed = false});
        Result result = maker.make(n);
        auto values = std::make_shared<RegionValues>();
        values->placed = n < 2 ? none : n < 4 ? one : two;
        for (std::size_t i = 0; i < values->placed->regions.size(); ++i)
            values->statistics.push_back({.mean = static_cast<double>(10 * n + i), .std = 0.5});
        result.regions = std::move(values);
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    EXPECT_TRUE(python(folder, R"(
import h5py, numpy as np
nan = np.nan
with h5py.File("a.h5") as file:
    assert list(file["traces/regions"]) == [b"a", b"b"]
    want = [[nan, nan], [nan, nan], [20, nan], [30, nan], [41, 40], [51, 50]]
    assert np.array_equal(file["traces/mean"][:], want, equal_nan=True), file["traces/mean"][:]
    events = {name: list(values) for name, values in file["events"].items()}
    assert events["label"][0].decode() == "stimulus \u00e9" and events["removed"] == [0, 1], events
    assert events["number"] == [1, 1] and events["sequence"] == [3, 3], events
    assert events["timestamps"][0] == 0.03 and np.isnan(events["timestamps"][1]), events
)"));
}

/// h5py follows in SWMR mode, programs without that mode open the file, and so does this program.
TEST(Hdf5Recording, IsReadWhileItGrows) {
    const TemporaryFolder folder;
    const Shape shape{64, 48, 1, PixelType::u16};
    Maker maker(shape);
    const auto sink = make_recorder({.path = folder / "a.h5", .what = RecordWhat::raw});
    sink->open(stream_of(shape));
    std::uint64_t n = 0;
    const auto more = [&] {
        sink->push(maker.make(n++), true);
        std::this_thread::sleep_for(10ms);
    };
    more();
    ASSERT_TRUE(eventually([&] { return sink->status().written == 1; }));
    write_file(folder / "follow.py", R"(
import h5py, time
with h5py.File("a.h5", "r", swmr=True) as file:
    frames, times = file["raw/frames"], file["raw/timestamps"]
    seen = []
    while len(seen) < 4:
        frames.refresh(), times.refresh()
        if len(times) > (seen[-1] if seen else 0):
            seen.append(len(times))
            assert len(frames) >= len(times)
            assert len(frames[len(times) - 1].tobytes()) == 2 * 64 * 48
        time.sleep(0.02)
print("followed")
)");
    Child child({"/usr/bin/python3", "follow.py"}, folder.path().string());
    EXPECT_TRUE(child.until(
        [&](const ChildResult& so_far) {
            more();
            return so_far.out.find("followed") != std::string::npos;
        },
        60s));
    EXPECT_EQ(child.finish().status, 0);
    EXPECT_TRUE(python(folder, "import h5py; assert len(h5py.File('a.h5')['raw/frames']) > 3"));
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().written, n);
    EXPECT_TRUE(
        python(folder, "import h5py; assert len(h5py.File('a.h5')['raw/frames']) == " + std::to_string(n)));
}

#else

TEST(Hdf5Recording, NeedsHdf5) { GTEST_SKIP() << "this build has no HDF5"; }

#endif

} // namespace specklescope::h5_test
