// Pixel formats of a camera over the real protocol, compared with numpy.
#include "tests/sources/camera_tests.hpp"
#include "tests/support/file_tools.hpp"

namespace specklescope::test::aravis_formats_test {

/// Bytes of a frame in any format, and their interpretation in each format.
constexpr const char* kWriteFormats = R"(
import numpy as np
rng = np.random.default_rng(8)
W, H = 64, 48
data = rng.integers(0, 256, W * H * 3).astype(np.uint8)
data.tofile("picture")
n = W * H
bits = lambda width: np.unpackbits(data[:n * width // 8], bitorder="little").reshape(n, width).astype(np.uint16) @ (1 << np.arange(width)).astype(np.uint16)
def gige(width):
    a, b, c = data[:n * 3 // 2].reshape(-1, 3).astype(np.uint16).T
    more = width - 8
    return np.stack([a << more | b & (1 << more) - 1, c << more | b >> 4 & (1 << more) - 1], -1).ravel()
words = data[:2 * n].view("<u2")
def color(mosaic, order):
    m = mosaic.reshape(H, W).astype(np.uint32)
    at = {"0": m[::2, ::2], "1": m[::2, 1::2], "2": m[1::2, ::2], "3": m[1::2, 1::2]}
    r, g1, g2, b = (at[site] for site in order)
    full = 255 if mosaic.dtype == np.uint8 else 4095
    green = np.where((g1 >= full) | (g2 >= full), np.maximum(g1, g2), (g1 + g2 + 1) // 2)
    return np.stack([r, green, b], -1).astype(mosaic.dtype)
made = {
    "mono8": data[:n], "mono12": words, "mono10p": bits(10), "mono12p": bits(12), "mono14p": bits(14),
    "mono10packed": gige(10), "mono12packed": gige(12), "rgb8": data, "bgr8": data.reshape(-1, 3)[:, ::-1],
    "yuv422": data[1:2 * n:2], "bayer8": color(data[:n], "0123"), "bayer12p": color(bits(12), "2031"),
}
for name, pixels in made.items():
    np.ascontiguousarray(pixels).tofile(name)
)";

constexpr const char* kFormats =
    "Mono8:01080001,Mono12:01100005,Mono10p:010a0046,Mono12p:010c0047,Mono14p:010e0104,Mono10Packed:010c0004,"
    "Mono12Packed:010c0006,RGB8:02180014,BGR8:02180015,YUV422_8_UYVY:0210001f,BayerRG8:01080009,BayerGB12p:"
    "010c0055";

TEST_F(GigeCamera, EveryPixelFormatBecomesItsValues) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, kWriteFormats)) << read_file(folder / "python.log");
    ASSERT_NO_FATAL_FAILURE(start({"--formats", kFormats, "--picture", folder / "picture"}));
    struct Row {
        const char* format;
        Shape shape;
        double full_scale;
    };
    const PixelType u8 = PixelType::u8, u16 = PixelType::u16;
    for (const Row& row :
         {Row{"mono8", {64, 48, 1, u8}, 255}, Row{"mono12", {64, 48, 1, u16}, 4095},
          Row{"mono10p", {64, 48, 1, u16}, 1023}, Row{"mono12p", {64, 48, 1, u16}, 4095},
          Row{"mono14p", {64, 48, 1, u16}, 16383}, Row{"mono10packed", {64, 48, 1, u16}, 1023},
          Row{"mono12packed", {64, 48, 1, u16}, 4095}, Row{"rgb8", {64, 48, 3, u8}, 255},
          Row{"bgr8", {64, 48, 3, u8}, 255}, Row{"yuv422", {64, 48, 1, u8}, 255},
          Row{"bayer8", {32, 24, 3, u8}, 255}, Row{"bayer12p", {32, 24, 3, u16}, 4095}}) {
        SCOPED_TRACE(row.format);
        const auto source = camera(kName, {{"format", row.format}});
        const SourceInfo info = source->open();
        EXPECT_EQ(info.shape, row.shape);
        EXPECT_EQ(info.full_scale, row.full_scale);
        TestPort port;
        ASSERT_TRUE(read_frames(*source, port, 2));
        const Delivered& frame = port.frames.at(1);
        ASSERT_EQ(frame.shape, row.shape);
        EXPECT_EQ(frame.info.full_scale, row.full_scale);
        EXPECT_TRUE(std::string(reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size()) ==
                    read_file(folder / row.format));
        source->close();
    }
    EXPECT_NE(sentence([&] {
                  camera(kName, {{"format", "mono16"}})->open();
              }).find("Mono12Packed"),
              std::string::npos)
        << "what it has is listed";
}

TEST_F(GigeCamera, AutoTakesTheMostBits) {
    ASSERT_NO_FATAL_FAILURE(
        start({"--formats", "Mono8:01080001,RGB8:02180014,Mono10:01100003,Mono12p:010c0047"}));
    const SourceInfo info = camera(kName, {})->open();
    EXPECT_EQ(info.shape, (Shape{64, 48, 1, PixelType::u16}));
    EXPECT_EQ(info.full_scale, 4095);
}

} // namespace specklescope::test::aravis_formats_test
