// Codings of images, read from their files, and the resulting light, compared with numpy in float64. The
// files are written by Pillow and tifffile, chunks and profiles byte by byte.
#include "files/image_file.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>

namespace specklescope::test::transfer_test {

constexpr const char* kScript = R"py(
import struct, zlib
import numpy as np
import tifffile
from PIL import Image

rng = np.random.default_rng(7)
listing = []

def srgb(code):
    code = np.asarray(code, np.float64)
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)

def note(name, light, text):
    """light: rows × columns [× 3], float64; text: a part of what is said of the coding."""
    np.ascontiguousarray(light, np.float64).tofile(name + ".light")
    listing.append(f"{name}|{text}")

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def png(name, array, extra):
    depth, color = 8 * array.dtype.itemsize, 2 if array.ndim == 3 else 0
    raw = b"".join(b"\0" + row.astype(array.dtype.newbyteorder(">")).tobytes() for row in array)
    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], depth, color, 0, 0, 0)
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))

def icc(gammas):
    """ICC 2.1 with one tone curve a channel: a power, as curveType of one u8Fixed8Number."""
    curves = [b"curv\0\0\0\0" + struct.pack(">IH", 1, round(256 * g)) + b"\0\0" for g in gammas]
    names = [b"kTRC"] if len(gammas) == 1 else [b"rTRC", b"gTRC", b"bTRC"]
    text = b"Test of powers\0"
    curves.append(b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * (12 + 67 + (-len(text)) % 4))
    names.append(b"desc")
    at = 128 + 4 + 12 * len(curves)
    table, body = struct.pack(">I", len(curves)), b""
    for name, data in zip(names, curves):
        data += b"\0" * (-len(data) % 4)
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    size = 128 + len(table) + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"test", 0x02100000, b"mntr", b"GRAY" if len(gammas) == 1 else b"RGB ", b"XYZ ")
    head += b"\0" * 12 + b"acsp" + b"\0" * 28 + struct.pack(">III", 0xF6D6, 0x10000, 0xD32D) + b"\0" * 48
    return head[:128] + table + body

grey8 = rng.integers(0, 256, (13, 17), np.uint8)
grey8[0, :2] = 0, 255
grey16 = rng.integers(0, 65536, (13, 17), np.uint16)
grey16[0, :2] = 0, 65535
rgb8 = rng.integers(0, 256, (13, 17, 3), np.uint8)
rgb16 = rng.integers(0, 65536, (13, 17, 3), np.uint16)

SRGB = chunk(b"sRGB", b"\0")
png("srgb8.png", rgb8, SRGB)
note("srgb8.png", srgb(rgb8 / 255), "sRGB (its sRGB chunk)")
png("srgb16.png", grey16, SRGB)
note("srgb16.png", srgb(grey16 / 65535), "sRGB (its sRGB chunk)")
png("gamma.png", grey8, chunk(b"gAMA", struct.pack(">I", 50000)))
note("gamma.png", (grey8 / 255) ** 2.0, "gamma 2 (its gAMA chunk)")
png("both.png", grey8, SRGB + chunk(b"gAMA", struct.pack(">I", 45455)))
note("both.png", srgb(grey8 / 255), "sRGB (its sRGB chunk)")
png("linear.png", grey8, chunk(b"gAMA", struct.pack(">I", 100000)))
note("linear.png", grey8, "linear (its gAMA chunk)")
png("icc.png", rgb8, chunk(b"iCCP", b"powers\0\0" + zlib.compress(icc((1.0, 1.5, 2.5)))))
note("icc.png", np.stack([(rgb8[..., i] / 255) ** g for i, g in enumerate((1.0, 1.5, 2.5))], -1), "'Test of powers' (its ICC profile)")
png("colour.png", rgb8, b"")
note("colour.png", srgb(rgb8 / 255), "sRGB (assumed, as is usual for 8-bit colour PNG")
png("colour16.png", rgb16, b"")
note("colour16.png", rgb16, "linear (assumed")
png("camera.png", grey8, b"")
note("camera.png", grey8, "linear (assumed, as a camera counts)")

smooth = np.clip(rng.normal(128, 40, (16, 24)), 0, 255).astype(np.uint8)
color = np.stack([smooth, smooth[::-1], smooth[:, ::-1]], -1)

def jpeg(name, array, decode, text, **options):
    Image.fromarray(array).save(name, "JPEG", quality=95, **options)
    note(name, decode(np.asarray(Image.open(name)) / 255), text)

def folder(entries, after):
    """A TIFF directory; behind it lies what follows at `after`."""
    return struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHI4s", t, k, n, v) for t, k, n, v in entries) + struct.pack("<I", after)

def exif(space, index=None):
    entries = [(0xA001, 3, 1, struct.pack("<HH", space, 0))]
    first = folder([(0x8769, 4, 1, struct.pack("<I", 26))], 0)
    if index:
        entries.append((0xA005, 4, 1, struct.pack("<I", 26 + 30)))
    second = folder(entries, 0)
    third = folder([(1, 2, 4, index)], 0) if index else b""
    return b"Exif\0\0" + struct.pack("<2sHI", b"II", 42, 8) + first + second + third

jpeg("plain.jpg", color, srgb, "sRGB (assumed, as is usual for JPEG)")
jpeg("grey.jpg", smooth, srgb, "sRGB (assumed, as is usual for JPEG)")
jpeg("exif.jpg", color, srgb, "sRGB (its Exif ColorSpace)", exif=exif(1))
jpeg("uncalibrated.jpg", color, srgb, "sRGB (assumed, as is usual for JPEG", exif=exif(65535))
jpeg("adobe.jpg", color, lambda v: v ** (563 / 256), "(its Exif index of Adobe RGB)", exif=exif(65535, index=b"R03\0"))
jpeg("profile.jpg", smooth, lambda v: v ** 1.75, "'Test of powers' (its ICC profile)", icc_profile=icc((1.75,)), exif=exif(1))

tifffile.imwrite("plain.tif", grey16, photometric="minisblack")
note("plain.tif", grey16, "linear (assumed, as a camera counts)")
profile = icc((2.0, 2.0, 2.0))
tifffile.imwrite("profile.tif", rgb16, photometric="rgb", extratags=[(34675, 7, len(profile), profile, True)])
note("profile.tif", (rgb16 / 65535) ** 2, "'Test of powers' (its ICC profile)")
table = (65535 * np.linspace(0, 1, 256) ** 1.8).round().astype(np.uint16)
tifffile.imwrite("table.tif", grey8, photometric="minisblack", extratags=[(301, 3, 256, table.tolist(), True)])
note("table.tif", table[grey8] / 65535, "a table (its TransferFunction)")
count = 13 * 17 * 3
short = lambda v: struct.pack("<HH", v, 0)
long = lambda v: struct.pack("<I", v)
tags = [(256, 3, 1, short(17)), (257, 3, 1, short(13)), (258, 3, 3, long(8)), (259, 3, 1, short(1)), (262, 3, 1, short(2)),
        (273, 4, 1, long(14)), (277, 3, 1, short(3)), (278, 3, 1, short(13)), (279, 4, 1, long(count)),
        (0x8769, 4, 1, long(14 + count))]
with open("exif.tif", "wb") as out:
    space = folder([(0xA001, 3, 1, short(1))], 0)
    page = 14 + count + len(space)
    out.write(struct.pack("<2sHI", b"II", 42, page) + struct.pack("<HHH", 8, 8, 8) + rgb8.tobytes() + space)
    out.write(folder(tags, 0))
note("exif.tif", srgb(rgb8 / 255), "sRGB (its Exif ColorSpace)")
radiance = rng.lognormal(0, 3, (13, 17, 3)).astype(np.float32)
tifffile.imwrite("radiance.tif", radiance, photometric="rgb")
note("radiance.tif", radiance, "linear")
open("list.txt", "w").write("\n".join(listing) + "\n")
)py";

class TransferTest : public WrittenByPython<TransferTest> {
public:
    static std::string script() { return kScript; }
};

Delivered only_frame(Source& source) {
    TestPort port;
    EXPECT_TRUE(read_frames(source, port));
    EXPECT_EQ(port.frames.size(), 1U);
    return port.frames.empty() ? Delivered{} : std::move(port.frames.front());
}

TEST_F(TransferTest, LightMatchesFloat64ForStatedCodings) {
    std::istringstream list(read_file(file("list.txt")));
    std::string line;
    int count = 0;
    while (std::getline(list, line)) {
        const std::string name = line.substr(0, line.find('|')), text = line.substr(line.find('|') + 1);
        SCOPED_TRACE(name);
        ++count;
        const auto source = make_source(file(name), {});
        const SourceInfo info = source->open();
        EXPECT_NE(info.coding.find(text), std::string::npos) << info.coding << "\nlacks " << text;
        const Delivered frame = only_frame(*source);
        EXPECT_EQ(frame.shape, info.shape);
        const std::string bytes = read_file(file(name + ".light"));
        ASSERT_EQ(bytes.size(), frame.shape.samples() * sizeof(double));
        std::vector<double> truth(frame.shape.samples());
        std::memcpy(truth.data(), bytes.data(), bytes.size());
        const bool coded = text.find("linear") != 0;
        EXPECT_EQ(frame.shape.type == PixelType::f32, coded || name == "radiance.tif");
        EXPECT_EQ(frame.info.full_scale, coded ? 1 : type_full_scale(frame.shape.type));
        EXPECT_EQ(frame.info.light, name == "radiance.tif"          ? Light::radiance
                                    : coded || name == "linear.png" ? Light::decoded
                                                                    : Light::counts);
        // Tone curves of ICC profiles are evaluated in float32.
        const double bound = text.find("ICC") != std::string::npos ? 2e-6 : 1e-7;
        double worst = 0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            const double seen = dispatch(frame.shape.type, [&](auto zero) {
                return static_cast<double>(frame.data<decltype(zero)>()[i]);
            });
            worst =
                std::max(worst, std::abs(seen - truth[i]) / (coded ? 1 : std::max(1.0, std::abs(truth[i]))));
        }
        EXPECT_LE(worst, bound);
    }
    EXPECT_EQ(count, 20);
}

TEST_F(TransferTest, TheRequestedCodingHasPriority) {
    const auto light_of = [&](const std::string& option) {
        return only_frame(*[&] {
            auto source = make_source(file("srgb8.png") + option, {});
            source->open();
            return source;
        }());
    };
    const Delivered plain = light_of("?transfer=linear");
    ASSERT_EQ(plain.shape.type, PixelType::u8);
    EXPECT_EQ(plain.info.light, Light::counts);
    const Delivered power = light_of("?transfer=gamma:1.6");
    ASSERT_EQ(power.shape.type, PixelType::f32);
    const Delivered part = light_of("?transfer=gamma:1.6&full_scale=200");
    for (std::size_t i = 0; i < plain.shape.samples(); ++i) {
        const double code = plain.data<std::uint8_t>()[i];
        ASSERT_NEAR(power.data<float>()[i], std::pow(code / 255, 1.6), 1e-7);
        ASSERT_NEAR(part.data<float>()[i], std::pow(code / 200, 1.6), 2e-7);
    }
    SourceDefaults defaults;
    defaults.transfer = "linear";
    EXPECT_EQ(make_source(file("srgb8.png"), defaults)->open().shape.type, PixelType::u8);
    EXPECT_EQ(make_source(file("srgb8.png") + "?transfer=auto", defaults)->open().shape.type, PixelType::f32);
    defaults.transfer = "srgb"; // the source's own option has priority
    EXPECT_EQ(make_source(file("srgb8.png") + "?transfer=linear", defaults)->open().shape.type,
              PixelType::u8);
}

TEST_F(TransferTest, InvalidCodingsAreRefused) {
    for (const char* text : {"gamma", "gamma:", "gamma:0", "gamma:11", "gamma:2x", "rec709", ""}) {
        try {
            (void)make_source(file("srgb8.png") + "?transfer=" + text, {});
            FAIL() << text;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("auto, linear, srgb, gamma:G"), std::string::npos)
                << error.what();
        }
    }
    SourceDefaults defaults;
    defaults.transfer = "srgb";
    EXPECT_THROW((void)make_source("synthetic", defaults), UsageError);
    defaults.transfer = "linear"; // the behaviour of all other sources
    EXPECT_NO_THROW((void)make_source("synthetic", defaults));
}

} // namespace specklescope::test::transfer_test
