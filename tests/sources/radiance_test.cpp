// High dynamic range images: Radiance files written byte by byte in Python and OpenEXR files written by
// OpenCV match numpy; the program's output is read by Python; damaged files give one error.
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "have_exr.hpp"
#include "sources/registry.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/pretend_memory.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace specklescope::test::radiance_test {

/// RGBE as decoded by Radiance's color.c: (mantissa + ½)·2^(exponent − 136), divided by EXPOSURE.
constexpr const char* kScript = R"py(
import os, struct
os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import numpy as np

rng = np.random.default_rng(1991)
rgbe = rng.integers(0, 256, (23, 37, 4), np.uint8)
rgbe[..., 3] = rng.integers(100, 150, (23, 37))
rgbe[5:9, 3:30] = (9, 8, 7, 128) # runs
rgbe[12, :] = 0 # black
rgbe[:, 0, 0] = 77 # no row begins as a coded one

def light(pixels, exposure=1.0):
    value = (pixels[..., :3] + 0.5) * np.exp2(pixels[..., 3:].astype(np.float64) - 136) / exposure
    return np.where(pixels[..., 3:] == 0, 0, value)

def planes(row):
    data = bytes((2, 2, len(row) >> 8, len(row) & 255))
    for part in range(4):
        x = 0
        while x < len(row):
            run = 1
            while run < 127 and x + run < len(row) and row[x + run, part] == row[x, part]:
                run += 1
            if run > 1:
                data += bytes((128 + run, row[x, part]))
                x += run
            else:
                count = min(int(rng.integers(1, 129)), len(row) - x)
                data += bytes((count,)) + row[x : x + count, part].tobytes()
                x += count
    return data

def old_runs(row):
    data, x = row[0].tobytes(), 1
    while x < len(row):
        run = 0
        while x + run < len(row) and (row[x + run] == row[x - 1]).all():
            run += 1
        if run > 0:
            data += bytes((1, 1, 1, run & 255)) + (bytes((1, 1, 1, run >> 8)) if run > 255 else b"")
            x += run
        else:
            data += row[x].tobytes()
            x += 1
    return data

def write(name, body, header=b"#?RADIANCE\n# by hand\nFORMAT=32-bit_rle_rgbe\n", size=None, shape=rgbe.shape):
    size = size or f"-Y {shape[0]} +X {shape[1]}"
    open(name, "wb").write(header + b"\n" + size.encode() + b"\n" + body)

light(rgbe).tofile("flat.hdr.light")
write("flat.hdr", rgbe.tobytes())
light(rgbe).tofile("planes.hdr.light")
write("planes.hdr", b"".join(planes(row) for row in rgbe), b"#?RGBE\nFORMAT=32-bit_rle_rgbe\n")
narrow = np.repeat(rgbe[:, :2], 2, 1)[:, :5]
light(narrow).tofile("old.hdr.light")
write("old.hdr", b"".join(old_runs(row) for row in narrow), shape=narrow.shape)
wide = np.repeat(rgbe[:2, :1], 700, 1) # a run of more than 255
light(wide).tofile("long.hdr.light")
write("long.hdr", b"".join(old_runs(row) for row in wide), shape=wide.shape)
light(rgbe, 0.25 * 3).tofile("exposed.hdr.light")
write("exposed.hdr", rgbe.tobytes(), b"#?RADIANCE\r\nEXPOSURE=0.25\r\nEXPOSURE= 3\r\nFORMAT=32-bit_rle_rgbe\r\n")
write("xyz.hdr", rgbe.tobytes(), b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n")
write("turned.hdr", rgbe.tobytes(), size="+Y 23 +X 37")
write("huge.hdr", b"", size="-Y 100000 +X 100000")
write("none.hdr", b"", size="-Y 0 +X 5")
write("dark.hdr", rgbe.tobytes(), b"#?RADIANCE\nEXPOSURE=0\nFORMAT=32-bit_rle_rgbe\n")
open("endless.hdr", "wb").write(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n")

import cv2
scene = rng.lognormal(0, 3, (31, 45, 3)).astype(np.float32)
for name, image, kind in (("float.exr", scene, cv2.IMWRITE_EXR_TYPE_FLOAT), ("half.exr", scene, cv2.IMWRITE_EXR_TYPE_HALF), ("grey.exr", scene[..., 1], cv2.IMWRITE_EXR_TYPE_FLOAT)):
    assert cv2.imwrite(name, image[..., ::-1] if image.ndim == 3 else image, [cv2.IMWRITE_EXR_TYPE, kind])
    (image.astype(np.float16) if kind == cv2.IMWRITE_EXR_TYPE_HALF else image).astype(np.float64).tofile(name + ".light")

# The same picture with its first pixel elsewhere: "OpenEXR File Layout", attributes, offsets, chunks that begin with y.
data = bytearray(open("float.exr", "rb").read())
at = data.index(b"dataWindow\0box2i\0") + 21
x0, y0, x1, y1 = struct.unpack_from("<4i", data, at)
struct.pack_into("<4i", data, at, x0 - 3, y0 + 5, x1 - 3, y1 + 5)
offsets = 8
while data[offsets]:
    value = data.index(0, data.index(0, offsets) + 1) + 1
    offsets = value + 4 + struct.unpack_from("<I", data, value)[0]
offsets += 1
for place in range(offsets, struct.unpack_from("<Q", data, offsets)[0], 8):
    chunk, = struct.unpack_from("<Q", data, place)
    struct.pack_into("<i", data, chunk, struct.unpack_from("<i", data, chunk)[0] + 5)
open("moved.exr", "wb").write(data)
scene.astype(np.float64).tofile("moved.exr.light")
)py";

class RadianceTest : public WrittenByPython<RadianceTest> {
public:
    static std::string script() { return kScript; }
};

std::vector<std::string> readable() {
    std::vector<std::string> names = {"flat.hdr", "planes.hdr", "old.hdr", "long.hdr", "exposed.hdr"};
#ifdef SPECKLESCOPE_HAVE_EXR
    for (const char* name : {"float.exr", "half.exr", "grey.exr", "moved.exr"})
        names.emplace_back(name);
#endif
    return names;
}

std::string refusal(const std::string& text) {
    try {
        const auto source = make_source(text, {});
        source->open();
        TestPort port;
        (void)read_frames(*source, port);
        return "";
    } catch (const RunError& error) {
        return error.what();
    }
}

TEST_F(RadianceTest, ImagesOfEveryCodingMatchNumpy) {
    for (const std::string& name : readable()) {
        SCOPED_TRACE(name);
        const auto source = make_source(file(name), {});
        const SourceInfo info = source->open();
        EXPECT_EQ(info.full_scale, 0); // light has no white
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port));
        ASSERT_EQ(port.frames.size(), 1U);
        const Delivered& frame = port.frames.front();
        EXPECT_EQ(frame.info.light, Light::radiance);
        EXPECT_EQ(frame.shape.type, PixelType::f32);
        const std::string bytes = read_file(file(name + ".light"));
        ASSERT_EQ(bytes.size(), frame.shape.samples() * sizeof(double));
        std::vector<double> truth(frame.shape.samples());
        std::memcpy(truth.data(), bytes.data(), bytes.size());
        for (std::size_t i = 0; i < truth.size(); ++i)
            ASSERT_EQ(frame.data<float>()[i], static_cast<float>(truth[i])) << i;
    }
}

TEST_F(RadianceTest, UnreadableFilesGiveOneError) {
    for (const auto& [name, word] :
         std::vector<std::pair<std::string, std::string>>{{"xyz.hdr", "32-bit_rle_xyze"},
                                                          {"turned.hdr", "rows from the top"},
                                                          {"huge.hdr", "100000×100000"},
                                                          {"none.hdr", "-Y 0 +X 5"},
                                                          {"dark.hdr", "EXPOSURE is 0"},
                                                          {"endless.hdr", "header has no end"}}) {
        const std::string said = refusal(file(name));
        EXPECT_NE(said.find(word), std::string::npos) << name << ": " << said;
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    }
    // Long header lines are quoted up to 80 characters.
    const std::string long_line(60000, 'x');
    for (const std::string& line :
         {"FORMAT=" + long_line + "\n\n", "EXPOSURE=" + long_line + "\n\n", "\n" + long_line + "\n"}) {
        test::write_file(file("long_line.hdr"), "#?RADIANCE\n" + line);
        const std::string said = refusal(file("long_line.hdr"));
        EXPECT_NE(said.find(std::string(70, 'x')), std::string::npos) << said.substr(0, 300);
        EXPECT_EQ(said.find(std::string(81, 'x')), std::string::npos) << said.size();
    }
}

/// A tall image read in parts is complete.
TEST_F(RadianceTest, ReadingInPartsMatchesReadingAtOnce) {
    for (const std::string& name : readable()) {
        const auto whole = open_image(file(name));
        const Shape shape = *whole->next_page();
        std::vector<std::byte> at_once(shape.bytes()), in_parts(shape.bytes());
        whole->read_rows(HostView(at_once.data(), shape));
        const auto again = open_image(file(name));
        ASSERT_EQ(again->next_page(), shape);
        for (int y = 0; y < shape.height;) {
            Shape part = shape;
            part.height = std::min(1 + y % 4, shape.height - y);
            again->read_rows(
                HostView(in_parts.data() + static_cast<std::size_t>(y) * shape.row_bytes(), part));
            y += part.height;
        }
        EXPECT_EQ(std::memcmp(at_once.data(), in_parts.data(), at_once.size()), 0) << name;
    }
}

#ifdef SPECKLESCOPE_HAVE_EXR
TEST_F(RadianceTest, TheOnlyChannelOfAnExrMayHaveAnyName) {
    std::string bytes = read_file(file("grey.exr"));
    const std::string_view list("channels\0chlist\0\x13\0\0\0Y\0", 22);
    const std::size_t at = bytes.find(list);
    ASSERT_NE(at, std::string::npos);
    bytes[at + list.size() - 2] = 'Z';
    write_file(file("depth.exr"), bytes);
    const auto grey = open_image(file("grey.exr")), depth = open_image(file("depth.exr"));
    const Shape shape = *grey->next_page();
    ASSERT_EQ(depth->next_page(), shape);
    std::vector<std::byte> one(shape.bytes()), two(shape.bytes());
    grey->read_rows(HostView(one.data(), shape));
    depth->read_rows(HostView(two.data(), shape));
    EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size()), 0);
    EXPECT_EQ(depth->coding().light, Light::counts) << "it may be anything";
}
#endif

TEST_F(RadianceTest, CutAndDamagedFilesAreErrorsNotCrashes) {
    std::uint64_t seed = 1; // every damage is reproducible
    for (const std::string& name : readable()) {
        const std::string good = read_file(file(name));
        const std::string cut = file("cut_" + name);
        write_file(cut, good.substr(0, good.size() * 6 / 10));
        EXPECT_FALSE(refusal(cut).empty()) << name;
        for (int round = 0; round < 40; ++round) {
            std::string bad = good;
            for (int hit = 0; hit < 3; ++hit) {
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
                bad[(seed >> 33) % bad.size()] = static_cast<char>(seed >> 20);
            }
            write_file(file("bad"), bad);
            EXPECT_EQ(refusal("image:" + file("bad")).find('\n'), std::string::npos);
        }
    }
}

#ifdef SPECKLESCOPE_HAVE_EXR
TEST_F(RadianceTest, AnExrThatClaimsTooMuchIsRefusedBeforeAllocation) {
    const std::string good = read_file(file("float.exr"));
    const std::string name = "dataWindow";
    const std::size_t window = good.find(name) + name.size() + 1 + sizeof "box2i" + 4;
    const auto claim = [&](std::int32_t right, std::int32_t bottom) {
        std::string bad = good;
        std::memcpy(bad.data() + window + 8, &right, 4);
        std::memcpy(bad.data() + window + 12, &bottom, 4);
        write_file(file("claims.exr"), bad);
        return refusal(file("claims.exr"));
    };
    std::string wide;
    {
        const test::PretendMemory little(1 << 20);
        wide = claim(59999, 22);
    }
    EXPECT_NE(wide.find("rows are coded together"), std::string::npos) << wide;
    for (const std::int32_t side : {65536, 2000000000}) {
        const std::string said = claim(side, 22) + claim(36, side);
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
        EXPECT_NE(said.find("is not a readable OpenEXR file"), std::string::npos) << said;
    }
}
#endif

/// Read and written by the program: EXR exactly, Radiance within the step of its mantissa, read by OpenCV.
TEST_F(RadianceTest, WrittenFilesContainTheSameLight) {
    std::vector<std::string> endings = {".hdr"};
#ifdef SPECKLESCOPE_HAVE_EXR
    endings.emplace_back(".exr");
#endif
    for (const std::string& ending : endings) {
        SCOPED_TRACE(ending);
        for (const std::string& name : {std::string("planes.hdr"), std::string("old.hdr")}) {
            const std::string out = name.substr(0, name.find('.')) + "_out" + ending;
            const ChildResult run = run_program({"run", name, "--stage", "none", "--record", "again_" + out,
                                                 "--snapshot", out, "--record-raw", "raw_" + out},
                                                folder_->path().string());
            ASSERT_EQ(run.status, 0) << run.all();
            EXPECT_TRUE(python(*folder_, R"py(
import os
os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import cv2, numpy as np
truth = np.fromfile(")py" + name + R"py(.light")
for prefix in ("", "raw_", "again_"):
    seen = cv2.imread(prefix + ")py" + out + R"py(", cv2.IMREAD_UNCHANGED)[..., ::-1].astype(np.float64)
    light = truth.reshape(seen.shape)
    largest = light.max(-1, keepdims=True)
    if ")py" + ending + R"py(" == ".exr":
        assert (seen == light.astype(np.float32)).all()
    else:
        assert (np.abs(seen - light) <= largest / 128 + 1e-30).all(), np.abs(seen - light).max()
)py")) << read_file(file("python.log"));
            // Read again it is a recording, and still light of a scene.
            const auto source = make_source(file(out), {});
            EXPECT_NE(source->open().coding.find("its recording"), std::string::npos);
            TestPort port;
            ASSERT_TRUE(read_frames(*source, port));
            EXPECT_EQ(port.frames.at(0).info.light, Light::radiance);
        }
    }
    const ChildResult refused =
        run_program({"run", "synthetic?live=false", "--frames", "1", "--stage", "none", "--record", "x.hdr"},
                    folder_->path().string());
    EXPECT_NE(refused.status, 0);
    EXPECT_NE(refused.err.find("takes float"), std::string::npos) << refused.all();
}

} // namespace specklescope::test::radiance_test
