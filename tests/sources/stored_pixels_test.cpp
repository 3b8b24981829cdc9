// Packed and other pixels of cameras, through headerless files, compared with numpy's packing.
#include "files/stored_pixels.hpp"
#include "pipeline/source.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <random>

namespace specklescope::test::stored_pixels_test {

constexpr const char* kWritePacked = R"(
import numpy as np
rng = np.random.default_rng(5)

def lsb(values, bits): # GenICam: one long number, the first pixel lowest
    number = 0
    for i, v in enumerate(values.ravel().tolist()):
        number |= v << (bits * i)
    return number.to_bytes((values.size * bits + 7) // 8, "little")

def gige(values, bits): # GigE Vision 2.0, figure 25-7 and 25-10: high bits, low bits of both, high bits
    v, more = values.ravel().astype(int), bits - 8
    v = np.append(v, np.zeros(v.size % 2, int))
    first, second, low = v[::2], v[1::2], (1 << more) - 1
    packed = np.stack([first >> more, (first & low) | (second & low) << 4, second >> more], -1).astype(np.uint8).tobytes()
    return packed[:(values.size * 3 + 1) // 2]

for width, height in ((61, 23), (64, 8), (3, 5), (1, 1)):
    size = (3, height, width)
    def write(name, packed, pixels):
        open(f"{name}_{width}x{height}", "wb").write(b"".join(packed))
        pixels.tofile(f"{name}_{width}x{height}.expected")
    for bits in (10, 12, 14):
        pixels = rng.integers(0, 1 << bits, size).astype(np.uint16)
        write(f"mono{bits}p", [lsb(f, bits) for f in pixels], pixels)
        if bits < 14:
            write(f"mono{bits}packed", [gige(f, bits) for f in pixels], pixels)
    pixels = rng.integers(0, 1 << 16, size).astype(np.uint16)
    write("gray16be", [pixels.astype(">u2").tobytes()], pixels)
    color = rng.integers(0, 256, (*size, 3)).astype(np.uint8)
    write("bgr8", [color[..., ::-1].tobytes()], color)
    other = rng.integers(0, 256, size).astype(np.uint8)
    write("uyvy", [np.stack([other, color[..., 0]], -1).tobytes()], color[..., 0])
    write("yuyv", [np.stack([color[..., 0], other], -1).tobytes()], color[..., 0])
)";

TEST(StoredPixels, EveryFormatOfACameraIsReadFromAHeaderlessFile) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, kWritePacked)) << read_file(folder / "python.log");
    struct Row {
        const char* format;
        double full_scale;
        Shape shape;
    };
    const PixelType u8 = PixelType::u8, u16 = PixelType::u16;
    for (const char* size : {"61x23", "64x8", "3x5", "1x1"})
        for (const Row& row :
             {Row{"mono10p", 1023, {0, 0, 1, u16}}, Row{"mono12p", 4095, {0, 0, 1, u16}},
              Row{"mono14p", 16383, {0, 0, 1, u16}}, Row{"mono10packed", 1023, {0, 0, 1, u16}},
              Row{"mono12packed", 4095, {0, 0, 1, u16}}, Row{"gray16be", 65535, {0, 0, 1, u16}},
              Row{"bgr8", 255, {0, 0, 3, u8}}, Row{"uyvy", 255, {0, 0, 1, u8}},
              Row{"yuyv", 255, {0, 0, 1, u8}}}) {
            const std::string name = std::string(row.format) + "_" + size, text = size;
            SCOPED_TRACE(name);
            const std::string width = text.substr(0, text.find('x')),
                              height = text.substr(text.find('x') + 1);
            const auto source = make_source("raw:" + (folder / name) + "?width=" + width +
                                                "&height=" + height + "&format=" + row.format,
                                            {});
            EXPECT_EQ(source->open().full_scale, row.full_scale);
            EXPECT_EQ(source->length(), 3U);
            TestPort port;
            ASSERT_TRUE(read_frames(*source, port));
            ASSERT_EQ(port.frames.size(), 3U);
            std::string bytes;
            for (const Delivered& frame : port.frames) {
                EXPECT_EQ(frame.shape,
                          (Shape{std::stoi(width), std::stoi(height), row.shape.channels, row.shape.type}));
                EXPECT_EQ(frame.info.full_scale, row.full_scale);
                bytes.append(reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size());
            }
            EXPECT_TRUE(bytes == read_file(folder / (name + ".expected")));
            port.frames.clear();
            source->seek(2, 0);
            ASSERT_TRUE(read_frames(*source, port));
            ASSERT_EQ(port.frames.size(), 1U);
            EXPECT_EQ(bytes.substr(bytes.size() / 3 * 2),
                      std::string(reinterpret_cast<const char*>(port.frames[0].pixels.data()),
                                  port.frames[0].pixels.size()));
        }
}

/// Rows of a camera may be padded to whole bytes and beyond.
TEST(StoredPixels, PaddedRowsBeginAtAByte) {
    // 0x321, 0x654 and 0x987 of 12 bits, lowest first, then 2 bytes of padding; the same reversed.
    const std::vector<unsigned char> bytes{0x21, 0x43, 0x65, 0x87, 0x09, 0xee,
                                           0xee, 0x87, 0x49, 0x65, 0x21, 0x03};
    ASSERT_EQ(stored_bytes(stored::kMono12p, 3, 2, 2), bytes.size());
    std::vector<std::uint16_t> pixels(6);
    unpack_frame(stored::kMono12p, std::as_bytes(std::span(bytes)), 2,
                 HostView(reinterpret_cast<std::byte*>(pixels.data()), {3, 2, 1, PixelType::u16}));
    EXPECT_EQ(pixels, (std::vector<std::uint16_t>{0x321, 0x654, 0x987, 0x987, 0x654, 0x321}));
}

/// The vector loop and the scalar loop agree from every first sample on, and read nothing beyond.
TEST(StoredPixels, AnyPartOfPackedSamplesMatchesTheWhole) {
    std::mt19937 random(3);
    for (const Packing packing : {Packing::msb, Packing::lsb, Packing::gige})
        for (const int bits : {10, 11, 12}) {
            constexpr std::size_t kCount = 97;
            std::vector<std::byte> bytes(packed_bytes(packing, bits, kCount));
            for (std::byte& byte : bytes)
                byte = static_cast<std::byte>(random());
            std::vector<std::uint16_t> single(kCount), part(kCount);
            for (std::size_t i = 0; i < kCount; ++i)
                unpack_samples(packing, bits, bytes, i, 1, &single[i]);
            for (std::size_t first = 0; first < 20; ++first) {
                unpack_samples(packing, bits, bytes, first, kCount - first, part.data());
                EXPECT_TRUE(std::equal(single.begin() + static_cast<std::ptrdiff_t>(first), single.end(),
                                       part.begin()))
                    << bits << " bits from " << first;
            }
        }
}

} // namespace specklescope::test::stored_pixels_test
