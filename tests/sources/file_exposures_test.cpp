// Exposures of the frames of a file: stated per image by OME-XML, Micro-Manager or one of our recordings, by
// the names of images, or by the option. The reference is the list that the files were written with.
#include "base/error.hpp"
#include "sources/exposures.hpp"
#include "sources/registry.hpp"
#include "tests/sources/media.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::test::file_exposures_test {

using Times = std::vector<double>;

constexpr const char* kWriter = R"(
import json, numpy as np, os, shutil, tifffile
def frames(n): return np.arange(n, dtype='u2')[:, None, None] + np.zeros((6, 8), 'u2')
def ome(name, times, **more):
    tifffile.imwrite(name, frames(len(times)), ome=True, photometric='minisblack',
                     metadata={'axes': 'TYX', 'Plane': {'ExposureTime': times, **more}})
ome('seconds.ome.tif', [0.0005, 0.002, 0.008, 0.0005])
ome('units.ome.tif', [500, 2000, 8000, 500], ExposureTimeUnit=['µs'] * 4)
ome('unknown.ome.tif', [0, -1, 1e9, 0.002])
channels = frames(4).reshape(2, 2, 6, 8)
tifffile.imwrite('channels.ome.tif', channels, ome=True, photometric='minisblack',
                 metadata={'axes': 'TCYX', 'Plane': {'ExposureTime': [1, 2, 3, 4], 'ExposureTimeUnit': ['ms'] * 4}})
def manager(name, values):
    with tifffile.TiffWriter(name) as t:
        for value, image in zip(values, frames(len(values))):
            t.write(image, photometric='minisblack', metadata=None, contiguous=False,
                    extratags=[(51123, 2, None, json.dumps({'Frame': 0, 'Exposure-ms': value}), True)])
manager('manager.tif', [0.5, '2', 8.0, None])
def ours(name, times):
    with tifffile.TiffWriter(name) as t:
        for i, (ms, image) in enumerate(zip(times, frames(len(times)))):
            frame = {'sequence': i, 'capture_ns': i * 10**7, 'exposure_ms': ms}
            text = {'program': 'Specklescope 0', 'content': 'raw', 'width': 8, 'height': 6, 'channels': 1,
                    'pixel_type': 'u16', 'frame': frame} if i == 0 else frame
            t.write(image, photometric='minisblack', metadata=None, contiguous=False, description=json.dumps(text))
ours('ours.tif', [0.5, 2, 8, 0.5]); ours('silent.tif', [None] * 4)
frames(5).tofile('plain.raw'); frames(5).tofile('told.raw')
json.dump({'program': 'Specklescope 0', 'content': 'raw', 'width': 8, 'height': 6, 'format': 'gray16le',
           'exposure_ms': 2, 'frame': {'sequence': 0, 'exposure_ms': 2}}, open('told.raw.jsonl', 'w'))
open('told.raw.jsonl', 'a').write('\n' + '\n'.join(json.dumps({'sequence': i, 'exposure_ms': 2}) for i in range(5)) + '\n')
def folder(name, files):
    os.mkdir(name)
    for i, file in enumerate(files): tifffile.imwrite(f'{name}/{file}', frames(9)[i], photometric='minisblack')
folder('named', ['a_1_T=0.5ms.tif', 'a_2_T=2ms.tif', 'a_3_T=0.5ms.tif', 'a_4_T=2000us.tif'])
folder('plain', ['a_1.tif', 'a_2.tif', 'a_3.tif'])
os.mkdir('mixed')
for i, t in enumerate([1, 2, 1, 2]): ours(f'mixed/m-{i}_{t}.0ms.tif', [3])
)";

/// Exposures of all frames; NaN as −1.
Times read_times(const std::string& text, std::vector<ExposureOrigin>* origins = nullptr) {
    const auto source = make_source(text, {});
    source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    source->close();
    Times times;
    for (const Delivered& frame : port.frames) {
        times.push_back(std::isnan(frame.info.exposure_ms) ? -1 : frame.info.exposure_ms);
        if (origins)
            origins->push_back(frame.info.exposure_origin);
    }
    return times;
}

class FileExposures : public WrittenByPython<FileExposures> {
public:
    static std::string script() { return kWriter; }
};

TEST_F(FileExposures, AreReadPerImage) {
    const Times truth = {0.5, 2, 8, 0.5};
    EXPECT_EQ(read_times(file("seconds.ome.tif")), truth);
    EXPECT_EQ(read_times(file("units.ome.tif")), truth);
    EXPECT_EQ(read_times(file("ours.tif")), truth);
    EXPECT_EQ(read_times(file("manager.tif")), (Times{0.5, 2, 8, -1}));
    EXPECT_EQ(read_times(file("unknown.ome.tif")), (Times{-1, -1, -1, 2}));
    EXPECT_EQ(read_times(file("channels.ome.tif")), (Times{1, 3}));
    EXPECT_EQ(read_times(file("channels.ome.tif?channel=2")), (Times{2, 4}));
}

TEST_F(FileExposures, OfAnOptionRepeatFrameByFrame) {
    const std::string raw = "?width=8&height=6&format=gray16le";
    std::vector<ExposureOrigin> origins;
    EXPECT_EQ(read_times("raw:" + file("plain.raw") + raw + "&exposures=0.5,2", &origins),
              (Times{0.5, 2, 0.5, 2, 0.5}));
    EXPECT_EQ(origins, std::vector(5, ExposureOrigin::parameter));
    EXPECT_EQ(read_times("raw:" + file("plain.raw") + raw), Times(5, -1));
    EXPECT_EQ(read_times(file("plain") + "?exposures=4+1"), (Times{4, 1, 4}));
    EXPECT_EQ(read_times(file("silent.tif") + "?exposures=4,1"), (Times{4, 1, 4, 1}));
    const RawMovie movie = noise_movie(32, 16, 5, "GRAY8", 1);
    encode(movie, "matroskamux", file("film.mkv"));
    EXPECT_EQ(read_times(file("film.mkv") + "?exposures=1,3,9"), (Times{1, 3, 9, 1, 3}));

    const auto source = make_source(file("plain") + "?exposures=4,1", {});
    source->open();
    source->seek(1, 0);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 2));
    EXPECT_EQ(port.frames[0].info.exposure_ms, 1) << "the cycle belongs to the frames, not to the reading";
    EXPECT_EQ(port.frames[1].info.exposure_ms, 4);
}

TEST_F(FileExposures, OfARecordingCannotBeReplaced) {
    EXPECT_EQ(read_times(file("ours.tif") + "?exposures=0.5,2,8"), (Times{0.5, 2, 8, 0.5}));
    EXPECT_THROW((void)make_source(file("ours.tif") + "?exposures=5", {})->open(), UsageError);
    EXPECT_THROW((void)read_times(file("ours.tif") + "?exposures=0.5,2"), UsageError) << "from frame 2 on";
    EXPECT_THROW((void)make_source("raw:" + file("told.raw") + "?exposures=2.1", {})->open(), UsageError);
    EXPECT_EQ(read_times("raw:" + file("told.raw") + "?exposures=2"), Times(5, 2));
    // Another program may have written its settings instead of the exposure.
    EXPECT_EQ(read_times(file("seconds.ome.tif") + "?exposures=1,4"), (Times{1, 4, 1, 4}));
}

TEST_F(FileExposures, OfNamesAreUsedWhereTheFileStatesNone) {
    std::vector<ExposureOrigin> origins;
    EXPECT_EQ(read_times(file("named"), &origins), (Times{0.5, 2, 0.5, 2}));
    EXPECT_EQ(origins, std::vector(4, ExposureOrigin::file));
    EXPECT_EQ(read_times(file("named") + "?exposures=7"), Times(4, 7));
    EXPECT_EQ(read_times(file("mixed")), Times(4, 3)) << "the file, not its name";
    EXPECT_EQ(read_times(file("plain")), Times(3, -1));
}

TEST_F(FileExposures, ListsAreChecked) {
    for (const std::string list : {"0,1", "1,,2", "1,2,", "1;2", "ms", "1,20000", "-1", "1e-9", "1 2", "nan"})
        for (const std::string& source :
             {file("plain") + "?", "raw:" + file("plain.raw") + "?width=8&height=6&", file("film.mkv") + "?",
              std::string("synthetic?")})
            EXPECT_THROW((void)make_source(source + "exposures=" + list, {})->open(), UsageError)
                << source << list;
}

Times named(const std::vector<std::string>& files) { return exposures_of_names(files).ms; }
bool refused(const std::vector<std::string>& files) {
    const NamedExposures found = exposures_of_names(files);
    EXPECT_TRUE(found.ms.empty() || found.refused.empty());
    return !found.refused.empty();
}

TEST(NamedExposure, IsANumberWithAUnitBetweenSeparators) {
    EXPECT_EQ(named({"x/scan_0.5ms_001.tif", "x/scan_2ms_001.tif"}), (Times{0.5, 2}));
    EXPECT_EQ(named({"exp_5000us_a.png", "exp_250\xC2\xB5s_a.png", "exp_9\xCE\xBCs.png"}),
              (Times{5, 0.25, 0.009}));
    EXPECT_EQ(named({"T=1s.tif", "T=2s.tif"}), (Times{1000, 2000}));
    EXPECT_EQ(named({"001_2ms.tif", "002_4ms.tif", "100_2ms.tif"}), (Times{2, 4, 2})) << "counters";
    EXPECT_EQ(named({"1_0.5ms.tif", "2_4.0ms.tif"}), (Times{0.5, 4}));
    EXPECT_EQ(named({"t (2ms).tif", "t [4ms].tif"}), (Times{2, 4}));
    EXPECT_EQ(named({"2ms.tif", "8ms.tif", "2ms.001.tif"}), (Times{2, 8, 2}));
    // None of these is one, and nothing is said.
    for (const char* name : {"a2ms_%.tif", "exp5000us%.tif", "2msec_%.tif", "2_ms_%.tif", "x2.5ms%.tif",
                             "5mm_%.tif", "2MS_%.tif", "1,5ms_%.tif", "-.5ms_%.tif", "%.tif"}) {
        std::string first = name, second = name;
        first.replace(first.find('%'), 1, "1");
        second.replace(second.find('%'), 1, "2");
        EXPECT_TRUE(named({first, second}).empty()) << name;
        EXPECT_FALSE(refused({first, second})) << name;
    }
}

TEST(NamedExposure, IsNotUsedInDoubt) {
    EXPECT_TRUE(refused({"a_1_5ms.tif", "a_2_5ms.tif", "a_0_1ms.tif"})) << "1.5 ms, or number 1 with 5 ms?";
    EXPECT_TRUE(refused({"a_1ms_5ms.tif", "a_2ms_5ms.tif"})) << "two in a name";
    EXPECT_TRUE(refused({"a_1ms.tif", "a_2ms.tif", "a_dark.tif"})) << "not in each";
    EXPECT_TRUE(refused({"t_100ms.tif", "t_200ms.tif", "t_300ms.tif"})) << "a series in time";
    EXPECT_TRUE(refused({"t_0s.tif", "t_5s.tif", "t_7s.tif"})) << "no exposure is 0";
    std::vector<std::string> many;
    for (int i = 0; i < 40; ++i)
        many.push_back("t_" + std::to_string(i * i + 1) + "ms.tif");
    EXPECT_TRUE(refused(many)) << "no cycle";
    // One exposure in all names may be a duration, and is no cycle.
    EXPECT_TRUE(named({"rest_10s_1.tif", "rest_10s_2.tif"}).empty());
    EXPECT_FALSE(refused({"rest_10s_1.tif", "rest_10s_2.tif"}));
    EXPECT_TRUE(named({"rest_10s.tif"}).empty());
    EXPECT_EQ(named({"b_1ms_001.tif", "b_1ms_002.tif", "b_2ms_001.tif", "b_3ms_001.tif"}),
              (Times{1, 1, 2, 3}))
        << "no series in time";
}

} // namespace specklescope::test::file_exposures_test
