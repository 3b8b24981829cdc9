// Axes and times of TIFF files by other programs: frames of one directory, channels, slices, intervals. The
// reference is the input of tifffile, which wrote them: image i of channel c and slice z has the value 1000 c
// + 100 z + i everywhere.
#include "base/error.hpp"
#include "files/tiff_stack.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace specklescope::test::tiff_stack_test {

constexpr const char* kWriter = R"(
import numpy as np, struct, tifffile
def stack(t, z=1, c=1, dtype='u2', order='tzc'):
    a = np.zeros((t, z, c, 6, 8), dtype)
    for i in range(t):
        for j in range(z):
            for k in range(c): a[i, j, k] = 1000 * k + 100 * j + i
    return a
def one_ifd(name, n, there=None, end='>', bits=16, planes=0):
    d = f'ImageJ=1.53t\nimages={n}\nframes={n}\nhyperstack=true\nloop=false\n'.encode() + b'\0'
    h, w = 6, 8
    tags = [(254,4,0),(256,4,w),(257,4,h),(258,3,bits),(259,3,1),(262,3,1),(270,2,None),(273,4,-1),(277,3,1),(278,3,h),(279,4,w*h*bits//8)]
    if bits == 32: tags.append((339,3,3))
    if planes: tags.append((33629,5,8))
    od = 8 + 2 + 12*len(tags) + 4; dd = od + len(d)
    with open(name, 'wb') as f:
        f.write(struct.pack(end + '2sHI', b'MM' if end == '>' else b'II', 42, 8) + struct.pack(end + 'H', len(tags)))
        for t, ty, v in tags:
            if ty == 2: f.write(struct.pack(end + 'HHII', t, 2, len(d), od))
            elif ty == 5: f.write(struct.pack(end + 'HHII', t, 5, planes, v))
            elif ty == 3: f.write(struct.pack(end + 'HHIHH', t, 3, 1, v, 0))
            else: f.write(struct.pack(end + 'HHII', t, 4, 1, dd if v == -1 else v))
        f.write(struct.pack(end + 'I', 0) + d)
        for k in range(n if there is None else there):
            f.write(np.full(h*w, k, end + ('f4' if bits == 32 else 'u%d' % (bits//8))).tobytes())
one_ifd('big.tif', 5); one_ifd('little.tif', 5, end='<'); one_ifd('float.tif', 5, bits=32); one_ifd('byte.tif', 5, bits=8)
one_ifd('cut.tif', 5, there=3)
one_ifd('meta.stk', 1, there=5, end='<', planes=5)
import shutil
for name in ('plain', 'a.btf', 'a.tf8', 'a.001'): shutil.copy('little.tif', name)
lsm = struct.pack('<Ii5i', 0x400494c, 300, 8, 6, 2, 1, 3).ljust(112, b'\0') + struct.pack('<d', 0.25).ljust(100, b'\0')
with tifffile.TiffWriter('zeiss.lsm', byteorder='<') as t:
    for i in range(3):
        for z in range(2): t.write(np.full((6, 8), 100 * z + i, 'u2'), photometric='minisblack', metadata=None, contiguous=False, extratags=[(34412, 7, len(lsm), lsm, True)] if i == z == 0 else [])
import os
os.mkdir('folder')
for i in range(4):
    if i == 1: open('folder/f1.tif', 'w').close()
    elif i == 3: open('folder/f3.tif', 'w').write('no image')
    else: tifffile.imwrite(f'folder/f{i}.tif', np.full((6, 8), i, 'u2'), photometric='minisblack')
from PIL import Image
def cut(name, at):
    data = open(name, 'rb').read(); open(name, 'wb').write(data[:int(len(data) * at)])
for kind in ('png', 'jpg', 'tif', 'tiff'):
    os.mkdir('cut_' + kind)
    for i in range(4):
        name = f'cut_{kind}/{i}.{kind}'; flat = np.full((64, 64), 40 * i + 10, 'u1')
        if kind == 'tiff': tifffile.imwrite(name, np.stack([flat] * 2), photometric='minisblack', metadata=None)
        else:
            flat[8:] = np.random.default_rng(i).integers(0, 255, (56, 64)); Image.fromarray(flat).save(name)
    cut(f'cut_{kind}/1.{kind}', 0.3 if kind == 'tiff' else 0.5)
os.mkdir('all_cut')
for i in range(2): shutil.copy('cut_png/1.png', f'all_cut/{i}.png')
with tifffile.TiffWriter('truncate.tif') as t: t.write(stack(5)[:, 0, 0], photometric='minisblack', truncate=True)
tifffile.imwrite('volume.tif', stack(4)[:, 0, 0], photometric='minisblack', volumetric=True)
tifffile.imwrite('volume_zip.tif', stack(4)[:, 0, 0], photometric='minisblack', volumetric=True, compression='zlib')
one = tifffile.imwrite('one_of.tif', stack(1)[0, 0, 0], compression='zlib', metadata=None, description='ImageJ=1.53t\nimages=5\nframes=5\n')
tifffile.imwrite('tc.ome.tif', stack(3, 1, 2)[:, 0], ome=True, metadata={'axes': 'TCYX', 'Channel': {'Name': ['red', 'green']}}, photometric='minisblack')
tifffile.imwrite('ct.ome.tif', stack(3, 1, 2)[:, 0].swapaxes(0, 1), ome=True, metadata={'axes': 'CTYX'}, photometric='minisblack')
tifffile.imwrite('tzc.ome.tif', stack(3, 4, 2), ome=True, metadata={'axes': 'TZCYX'}, photometric='minisblack')
tifffile.imwrite('tzc_ij.tif', stack(3, 4, 2), imagej=True, metadata={'axes': 'TZCYX'})
tifffile.imwrite('tc_ij.tif', stack(3, 1, 2)[:, 0], imagej=True, metadata={'axes': 'TCYX'})
tifffile.imwrite('tc_shaped.tif', stack(3, 1, 2)[:, 0], photometric='minisblack', metadata={'axes': 'TCYX'})
tifffile.imwrite('ct_shaped.tif', stack(3, 1, 2)[:, 0].swapaxes(0, 1), photometric='minisblack', metadata={'axes': 'CTYX'})
tifffile.imwrite('z_ij.tif', stack(12)[:, 0, 0], imagej=True, metadata={'axes': 'ZYX'})
tifffile.imwrite('unnamed_ij.tif', stack(12)[:, 0, 0], imagej=True)
tifffile.imwrite('unnamed.ome.tif', stack(12)[:, 0, 0], ome=True, photometric='minisblack')
tifffile.imwrite('rgb.ome.tif', np.stack([stack(3, dtype='u1')[:, 0, 0]] * 3, -1), ome=True, metadata={'axes': 'TYXS'}, photometric='rgb')
tifffile.imwrite('interval_ij.tif', stack(50)[:, 0, 0], imagej=True, metadata={'axes': 'TYX', 'finterval': 0.04})
tifffile.imwrite('ms_ij.tif', stack(50)[:, 0, 0], imagej=True, metadata={'axes': 'TYX', 'finterval': 40, 'tunit': 'ms'})
tifffile.imwrite('words_ij.tif', stack(50)[:, 0, 0], imagej=True, metadata={'axes': 'TYX', 'frame interval': '40 ms'})
tifffile.imwrite('channels_ij.tif', stack(5, 1, 2)[:, 0], imagej=True, metadata={'axes': 'TCYX', 'finterval': 0.5})
tifffile.imwrite('increment.ome.tif', stack(50)[:, 0, 0], ome=True, metadata={'axes': 'TYX', 'TimeIncrement': 40, 'TimeIncrementUnit': 'ms'}, photometric='minisblack')
tifffile.imwrite('seconds.ome.tif', stack(50)[:, 0, 0], ome=True, metadata={'axes': 'TYX', 'TimeIncrement': 0.04}, photometric='minisblack')
tifffile.imwrite('delta.ome.tif', stack(3, 1, 2)[:, 0], ome=True, photometric='minisblack', metadata={'axes': 'TCYX', 'TimeIncrement': 9,
    'Plane': {'DeltaT': [100, 110, 140, 150, 200, 210], 'DeltaTUnit': ['ms'] * 6}})
tifffile.imwrite('no_rate.tif', stack(5)[:, 0, 0], photometric='minisblack')
with tifffile.TiffWriter('dates.tif') as t:
    for i in range(4): t.write(stack(4)[i, 0, 0], photometric='minisblack', metadata=None, datetime='2024:05:01 10:11:%02d' % (i // 3), contiguous=False)
)";

struct Film {
    SourceInfo info;
    std::vector<double> values;
    std::vector<std::int64_t> ms;
    std::vector<TimeOrigin> origins;
    std::string error;
};

class TiffStacks : public WrittenByPython<TiffStacks> {
public:
    static std::string script() { return kWriter; }
    static Film film(const std::string& text) {
        const auto source = make_source(*folder_ / text, {});
        Film film;
        film.info = source->open();
        TestPort port;
        try {
            EXPECT_TRUE(read_frames(*source, port));
        } catch (const RunError& error) {
            film.error = error.what();
        }
        for (const Delivered& frame : port.frames) {
            const auto value = [&](std::size_t i) {
                return frame.shape.type == PixelType::u8 ? static_cast<double>(frame.data<std::uint8_t>()[i])
                       : frame.shape.type == PixelType::u16
                           ? static_cast<double>(frame.data<std::uint16_t>()[i])
                           : static_cast<double>(frame.data<float>()[i]);
            };
            film.values.push_back(value(0));
            EXPECT_EQ(value(static_cast<std::size_t>(frame.shape.width) * frame.shape.height - 1), value(0));
            film.ms.push_back(frame.info.capture_ns / 1'000'000);
            EXPECT_EQ(frame.info.capture_ns % 1'000'000, 0);
            film.origins.push_back(frame.info.time_origin);
        }
        return film;
    }
    static std::vector<double> counted(std::size_t frames, double from = 0) {
        std::vector<double> values(frames);
        for (std::size_t i = 0; i < frames; ++i)
            values[i] = from + static_cast<double>(i);
        return values;
    }
};

TEST_F(TiffStacks, ImagesOfOneDirectoryAreAllFrames) {
    for (const char* name :
         {"big.tif", "little.tif", "float.tif", "byte.tif", "truncate.tif", "volume.tif"}) {
        SCOPED_TRACE(name);
        const std::size_t frames = std::string(name) == "volume.tif" ? 4 : 5;
        const Film all = film(name);
        EXPECT_EQ(all.values, counted(frames));
        EXPECT_EQ(all.info.frames, frames);
        EXPECT_EQ(all.error, "");
    }
    const auto source = make_source(*folder_ / "big.tif", {});
    (void)source->open();
    for (const std::uint64_t frame : {3, 1, 4, 0}) {
        TestPort port;
        source->seek(frame, 0);
        ASSERT_EQ(source->next(port), Source::Status::frame);
        EXPECT_EQ(*port.frames.at(0).data<std::uint16_t>(), frame);
    }
}

TEST_F(TiffStacks, MissingChannelsAndSlicesAreNamed) {
    const Film cut = film("cut.tif");
    EXPECT_EQ(cut.values, counted(3));
    EXPECT_EQ(cut.info.frames, 0U);
    EXPECT_NE(cut.error.find("claims 5 images and is long enough for 3"), std::string::npos) << cut.error;
    EXPECT_EQ(film("one_of.tif").values, counted(1));
    EXPECT_THROW(film("volume_zip.tif"), RunError);
}

TEST_F(TiffStacks, ChannelsAndSlicesAreNeverInterleaved) {
    for (const char* name : {"tc.ome.tif", "ct.ome.tif", "tzc.ome.tif", "tzc_ij.tif", "tc_ij.tif",
                             "tc_shaped.tif", "ct_shaped.tif"}) {
        SCOPED_TRACE(name);
        const std::string file = name;
        const Film first = film(file);
        EXPECT_EQ(first.values, counted(3));
        EXPECT_EQ(first.info.frames, 3U);
        EXPECT_EQ(film(file + "?channel=2").values, counted(3, 1000));
        if (file.starts_with("tzc")) {
            EXPECT_EQ(film(file + "?slice=4").values, counted(3, 300));
            EXPECT_EQ(film(file + "?slice=3&channel=2").values, counted(3, 1200));
            EXPECT_THROW(film(file + "?slice=5"), UsageError);
        }
        EXPECT_THROW(film(file + "?channel=3"), UsageError);
        const auto source = make_source(*folder_ / (file + "?channel=2"), {});
        (void)source->open();
        for (const std::uint64_t frame : {2, 0, 1}) {
            TestPort port;
            source->seek(frame, 0);
            ASSERT_EQ(source->next(port), Source::Status::frame);
            EXPECT_EQ(*port.frames.at(0).data<std::uint16_t>(), 1000 + frame);
        }
    }
    EXPECT_EQ(film("rgb.ome.tif").values, counted(3)) << "samples of a pixel are no channels to choose from";
}

TEST_F(TiffStacks, OnlyOneAxisIsTheVideo) {
    for (const char* name : {"z_ij.tif", "unnamed_ij.tif", "unnamed.ome.tif"})
        EXPECT_EQ(film(name).values, counted(12)) << name;
    EXPECT_EQ(film("z_ij.tif?slice=7").values, counted(1, 6));
    EXPECT_EQ(film("unnamed_ij.tif?channel=12").values, counted(1, 11));
}

TEST_F(TiffStacks, AreRecognisedByTheirContents) {
    for (const char* name : {"plain", "a.btf", "a.tf8", "a.001", "meta.stk"})
        EXPECT_EQ(film(name).values, counted(5)) << name;
    const Film zeiss = film("zeiss.lsm?slice=2");
    EXPECT_EQ(zeiss.values, counted(3, 100));
    EXPECT_EQ(zeiss.ms, (std::vector<std::int64_t>{0, 250, 500}));
}

TEST_F(TiffStacks, AnUnreadableFileOfAFolderIsALostFrame) {
    const auto source = make_source(*folder_ / "folder?rate=10&speed=0", {});
    const SourceInfo info = source->open();
    EXPECT_EQ(info.frames, 2U);
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port));
    ASSERT_EQ(port.frames.size(), 2U);
    EXPECT_EQ(*port.frames[1].data<std::uint16_t>(), 2);
    EXPECT_EQ(port.lost_frames, 2U) << "the last one too";
    EXPECT_EQ(port.frames[1].info.sequence, 2U);
    EXPECT_EQ(port.frames[1].info.capture_ns, 200'000'000) << "at its own time";
    EXPECT_THROW(film("folder/f1.tif"), RunError);
}

/// A truncated file counts as lost. The other frames keep their numbers.
TEST_F(TiffStacks, ATruncatedFileOfAFolderIsALostFrame) {
    for (const std::string kind : {"png", "jpg", "tif", "tiff"}) {
        SCOPED_TRACE(kind);
        const std::size_t in_file = kind == "tiff" ? 2 : 1; // pages
        const auto source = make_source(*folder_ / ("cut_" + kind) + "?rate=10&speed=0&transfer=linear", {});
        (void)source->open();
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port));
        ASSERT_EQ(port.frames.size(), 3 * in_file);
        EXPECT_EQ(port.lost_frames, 1U);
        for (std::size_t i = 0; i < port.frames.size(); ++i) {
            const int file = static_cast<int>(i / in_file) + (i >= in_file ? 1 : 0);
            EXPECT_EQ(std::to_integer<int>(port.frames[i].pixels.at(5)), 40 * file + 10) << "frame " << i;
            EXPECT_EQ(port.frames[i].info.capture_ns / 100'000'000,
                      static_cast<std::int64_t>(i + (i >= in_file ? 1 : 0)));
            TestPort sought;
            source->seek(port.frames[i].info.position.value(), 0);
            ASSERT_TRUE(read_frames(*source, sought));
            ASSERT_EQ(sought.frames.size(), port.frames.size() - i);
            EXPECT_EQ(sought.frames[0].pixels, port.frames[i].pixels);
        }
    }
    for (const char* none : {"cut_png/1.png", "all_cut/"}) {
        const auto source = make_source(*folder_ / none, {});
        (void)source->open();
        TestPort port;
        EXPECT_THROW((void)source->next(port), RunError) << none;
    }
}

std::vector<TimeOrigin> all(std::size_t frames, TimeOrigin origin) {
    return std::vector<TimeOrigin>(frames, origin);
}

TEST_F(TiffStacks, StatedTimesAreTheClock) {
    for (const char* name :
         {"interval_ij.tif", "ms_ij.tif", "words_ij.tif", "increment.ome.tif", "seconds.ome.tif"}) {
        SCOPED_TRACE(name);
        const Film stated = film(name);
        ASSERT_EQ(stated.ms.size(), 50U);
        for (std::size_t i = 0; i < 50; ++i)
            EXPECT_EQ(stated.ms[i], 40 * static_cast<std::int64_t>(i));
        EXPECT_EQ(stated.origins, all(50, TimeOrigin::source));
        EXPECT_EQ(stated.info.time_origin, TimeOrigin::source);
        EXPECT_DOUBLE_EQ(stated.info.rate, 25);
        const Film asked = film(std::string(name) + "?rate=1000&speed=0");
        EXPECT_EQ(asked.ms.at(49), 49) << "the user's rate wins";
        EXPECT_EQ(asked.origins, all(50, TimeOrigin::parameter));
        EXPECT_DOUBLE_EQ(asked.info.rate, 1000);
    }
    EXPECT_EQ(film("channels_ij.tif?channel=2").ms, (std::vector<std::int64_t>{0, 500, 1000, 1500, 2000}));
    EXPECT_EQ(film("delta.ome.tif").ms, (std::vector<std::int64_t>{100, 140, 200}));
    EXPECT_EQ(film("delta.ome.tif?channel=2").ms, (std::vector<std::int64_t>{110, 150, 210}));
}

TEST_F(TiffStacks, WithoutAStatedTimeThereIsNone) {
    for (const char* name : {"no_rate.tif", "dates.tif"}) {
        SCOPED_TRACE(name);
        const Film untimed = film(name);
        EXPECT_EQ(untimed.origins, all(untimed.values.size(), TimeOrigin::none));
        EXPECT_EQ(untimed.info.time_origin, TimeOrigin::none);
        EXPECT_EQ(untimed.info.rate, 0);
        for (std::size_t i = 0; i < untimed.ms.size(); ++i)
            EXPECT_EQ(untimed.ms[i], 1000 * static_cast<std::int64_t>(i))
                << "numbers of frames, alike in every run";
        EXPECT_EQ(film(std::string(name) + "?rate=100&speed=0").ms.at(3), 30);
    }
    EXPECT_THROW(need_seconds(film("no_rate.tif").info, "x"), UsageError);
    EXPECT_NO_THROW(need_seconds(film("no_rate.tif?rate=100&speed=0").info, "x"));
}

TEST(TiffStack, ImpossibleTimesAreNamed) {
    const auto remark = [](const std::string& text) {
        TiffStack stack(text, 100000, 1);
        stack.choose({}, "a.tif");
        EXPECT_FALSE(stack.stated_times()) << text;
        return stack.remark();
    };
    const std::string imagej = "ImageJ=1.53t\nimages=3\nframes=3\n";
    EXPECT_NE(remark(imagej + "finterval=3\ntunit=furlong\n").find("3 furlong"), std::string::npos);
    EXPECT_NE(remark(imagej + "finterval=-2\n").find("-2 s"), std::string::npos);
    EXPECT_EQ(remark(imagej + "finterval=0.0\n"), "") << "not known";
    const std::string ome =
        "<OME><Image><Pixels DimensionOrder=\"XYZTC\" SizeC=\"1\" SizeZ=\"1\" SizeT=\"3\">";
    EXPECT_NE(remark(ome + "<Plane TheC=\"0\" TheZ=\"0\" TheT=\"0\" DeltaT=\"0\"/>"
                           "<Plane TheC=\"0\" TheZ=\"0\" TheT=\"1\" DeltaT=\"0.3\"/>"
                           "<Plane TheC=\"0\" TheZ=\"0\" TheT=\"2\" DeltaT=\"0.2\"/></Pixels></Image></OME>")
                  .find("DeltaT"),
              std::string::npos);
    TiffStack stack(ome + "<TiffData/><Plane TheC=\"0\" TheZ=\"0\" TheT=\"0\" DeltaT=\"0\"/><Plane "
                          "TheC=\"0\" TheZ=\"0\" TheT=\"1\" DeltaT=\"0.3\"/>"
                          "<Plane TheC=\"0\" TheZ=\"0\" TheT=\"2\" DeltaT=\"0.9\"/></Pixels></Image></OME>",
                    100000, 1);
    stack.choose({}, "a.tif");
    EXPECT_EQ(stack.image(2), 2U);
    EXPECT_EQ(stack.time_ns(2), 900'000'000);
}

TEST(TiffStack, DatesAreTimesOnlyWithAFraction) {
    EXPECT_EQ(date_ns("1970:01:02 00:00:01.25"), 86401250000000);
    EXPECT_EQ(date_ns("2024-05-01 10:11:12.5"), 1714558272500000000) << "as Python's datetime has it";
    for (const char* none : {"", "2024:05:01 10:11:12", "2024:13:01 10:11:12.5", "0000:00:00 00:00:00.0",
                             "yesterday", "2024:05:01 10:11:12."})
        EXPECT_EQ(date_ns(none), std::nullopt) << none;
}

TEST(TiffStack, ImagesOfOtherFilesAreSkipped) {
    const std::string head = "<OME UUID=\"urn:uuid:a\"><Image><Pixels DimensionOrder=\"XYZTC\" SizeC=\"2\" "
                             "SizeT=\"2\" SizeZ=\"1\">",
                      tail = "</Pixels></Image><Image><Pixels SizeC=\"9\"></Pixels></Image></OME>";
    const auto data = [](const std::string& attributes, const std::string& uuid) {
        return "<TiffData " + attributes + "><UUID FileName=\"x\">urn:uuid:" + uuid + "</UUID></TiffData>";
    };
    TiffStack stack(head + data("IFD=\"1\" FirstT=\"0\"", "a") + data("IFD=\"0\" FirstT=\"1\"", "a") +
                        data("IFD=\"0\" FirstC=\"1\" PlaneCount=\"2\"", "b") + tail,
                    100000, 1);
    stack.choose({}, "a.tif");
    EXPECT_EQ(stack.image(0), 1U);
    EXPECT_EQ(stack.image(1), 0U);
    EXPECT_EQ(stack.image(2), std::nullopt);
    EXPECT_NE(stack.remark().find("2 channels"), std::string::npos) << stack.remark();
    EXPECT_THROW(stack.choose({.channel = 2}, "a.tif"), RunError);
}

TEST(TiffStack, ClaimsBeyondTheFileAreIgnored) {
    for (const char* text :
         {"ImageJ=1\nimages=16000000\nchannels=4000\nframes=4000\n",
          "<OME><Pixels SizeC=\"16777216\" SizeT=\"16777216\" SizeZ=\"16777216\"><TiffData/></Pixels></OME>",
          "<OME><Pixels SizeC=\"2\" SizeT=\"2\"><TiffData IFD=\"999999999\" PlaneCount=\"999999999\"/>",
          "{\"shape\": [-1, 4, 1e300], \"axes\": \"TYX\", \"truncated\": true}",
          "{\"shape\": {}, \"axes\": 3}", "<OME><Pixels SizeC=\"", "ImageJ=\nimages=\n"}) {
        TiffStack stack(text, 1000, 1);
        try {
            stack.choose({}, "a.tif");
        } catch (const RunError&) { // names what is missing
        }
        EXPECT_LE(stack.images(), 1000U) << text;
    }
}

} // namespace specklescope::test::tiff_stack_test
