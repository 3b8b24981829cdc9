// Images by other programs: sample types, palettes, orientations, full scales. The reference is the numpy
// data before tifffile, Pillow or the bytes below wrote it.
#include "base/log.hpp"
#include "pipeline/source.hpp"
#include "sources/bayer.hpp"
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <random>
#include <sstream>

namespace specklescope::test::image_kinds_test {

/// Collects log messages during its lifetime.
class LogOf {
public:
    LogOf() { run_log().sinks().push_back(sink_); }
    LogOf(const LogOf&) = delete;
    LogOf& operator=(const LogOf&) = delete;
    ~LogOf() { std::erase(run_log().sinks(), sink_); }
    std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::sinks::sink> sink_ = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
};

struct KindRead {
    SourceInfo info;
    std::vector<Delivered> frames;
    std::string bytes, log;
};

KindRead read_kind(const std::string& text) {
    const LogOf log;
    KindRead read;
    const auto source = make_source(text, {});
    read.info = source->open();
    TestPort port;
    EXPECT_TRUE(read_frames(*source, port));
    source->close();
    read.frames = std::move(port.frames);
    for (const Delivered& frame : read.frames)
        read.bytes.append(reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size());
    read.log = log.text();
    return read;
}

class ImageKinds : public WrittenByPython<ImageKinds> {
public:
    static std::string script() { return read_file(test::source_folder() + "/tests/support/write_kinds.py"); }
    static KindRead read(const std::string& name) { return read_kind(file(name)); }
};

TEST_F(ImageKinds, EachHasItsValuesAndFullScale) {
    std::istringstream list(read_file(file("list.txt")));
    std::string name, type;
    Shape shape;
    std::size_t frames = 0;
    double full_scale = 0;
    int count = 0;
    while (list >> name >> frames >> shape.width >> shape.height >> shape.channels >> type >> full_scale) {
        SCOPED_TRACE(name);
        ++count;
        shape.type = type == "u8" ? PixelType::u8 : type == "u16" ? PixelType::u16 : PixelType::f32;
        const KindRead read = read_kind(file(name) + "?transfer=linear");
        ASSERT_EQ(read.frames.size(), frames);
        EXPECT_EQ(read.info.full_scale, full_scale) << read.log;
        for (const Delivered& frame : read.frames) {
            EXPECT_EQ(frame.shape, shape) << to_string(frame.shape);
            EXPECT_EQ(frame.info.full_scale, full_scale);
        }
        EXPECT_TRUE(read.bytes == read_file(file(name + ".expected"))) << "pixels differ";
    }
    EXPECT_GE(count, 100);
}

TEST_F(ImageKinds, AssumptionsLossesAndRotationsAreLogged) {
    const auto expect = [](const std::string& name, const std::vector<const char*>& words) {
        const std::string log = read(name).log;
        for (const char* word : words)
            EXPECT_NE(log.find(word), std::string::npos) << name << " lacks " << word << ": " << log;
    };
    expect("pile12.tif", {"pile up at 4095", "assumed"});
    expect("pile12_left.tif", {"pile up at 65520", "assumed", "high bits"});
    expect("max_tag.tif", {"4095", "MaxSampleValue"});
    expect("bits.ome.tif", {"4095", "SignificantBits"});
    expect("max_tag_wrong.tif", {"states a full scale of 1023", "assumed"});
    expect("packed12le.tif", {"4095", "BitsPerSample"});
    expect("int32le.tif", {"32-bit signed", "rounded"});
    expect("float64le.tif", {"64-bit float", "rounded"});
    expect("turned6.tif", {"orientation 6"});
    expect("turned3.jpg", {"orientation 3"});
    expect("lut_stack.tif", {"palette", "values"});
    expect("one_scale.tif", {"colours of its palette"});
    expect("signed_imagej.tif", {"ImageJ", "-32768"});
    expect("density_imagej.tif", {"calibration", "not applied"});
    expect("int16_inverse.tif", {"0 is white"});
    expect("no_axes.tif", {"4×3×2 images", "in the order of the file"});
    expect("positions.tif", {"4×3 images"});
    expect("wrong_hyperstack.tif", {"2 channels", "4 images"});
    expect("two_images.ome.tif", {"2 images (OME-XML)", "Image 1"});
    for (const char* name :
         {"no_pile.tif", "int16le.tif", "float16le.tif", "turned1.tif", "grey_palette8.tif", "palette8.tif",
          "max_tag_of_data.tif", "one_ifd_uint16be.tif", "pyramid.ome.tif", "grey_palette.png"})
        EXPECT_EQ(read(name).log, "") << name;
}

TEST_F(ImageKinds, AGivenFullScaleHasPriority) {
    for (const char* name : {"pile12.tif", "max_tag.tif", "packed12le.tif", "no_pile.tif"})
        EXPECT_EQ(read(std::string(name) + "?full_scale=2047").frames.at(0).info.full_scale, 2047) << name;
}

/// Written by OpenCV, Pillow, imageio, ImageMagick, tifffile and GStreamer; the reference is another reader:
/// every difference must be reported.
TEST(OtherPrograms, FilesAreReadLikeByOtherReaders) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, read_file(test::source_folder() + "/tests/support/write_by_others.py")))
        << read_file(folder / "python.log");
    std::istringstream list(read_file(folder / "list.txt"));
    std::string text, expected, type, word;
    Shape shape;
    std::size_t frames = 0;
    int count = 0;
    while (list >> text >> expected >> frames >> shape.width >> shape.height >> shape.channels >> type >>
           word) {
        SCOPED_TRACE(text);
        ++count;
        if (frames == 0) {
            try {
                (void)read_kind(folder / text);
                ADD_FAILURE() << "it was read";
            } catch (const RunError& error) {
                EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
            }
            continue;
        }
        shape.type = type == "u8" ? PixelType::u8 : type == "u16" ? PixelType::u16 : PixelType::f32;
        const KindRead read = read_kind(folder / text);
        EXPECT_EQ(read.frames.size(), frames);
        for (const Delivered& frame : read.frames)
            EXPECT_EQ(frame.shape, shape) << to_string(frame.shape);
        EXPECT_TRUE(read.bytes == read_file(folder / expected)) << "pixels differ";
        EXPECT_TRUE(word == "-" ? read.log.empty() : read.log.find(word) != std::string::npos) << read.log;
    }
    EXPECT_GE(count, 60);
}

/// A mosaic with these means per site, with the contrast of fully developed speckle.
std::vector<std::uint16_t> mosaic(int width, int height, const std::array<double, 4>& means) {
    std::mt19937 random(7);
    std::exponential_distribution<double> light(1);
    std::vector<std::uint16_t> pixels;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            pixels.push_back(static_cast<std::uint16_t>(
                std::min(4000.0, means.at(static_cast<std::size_t>(y % 2 * 2 + x % 2)) * light(random))));
    return pixels;
}

TEST(Bayer, DetectsAMosaicAndNotGrey) {
    const auto ratio = [](std::vector<std::uint16_t> pixels, int width, int height) {
        const Shape shape{width, height, 1, PixelType::u16};
        return mosaic_ratio(HostView(reinterpret_cast<std::byte*>(pixels.data()), shape));
    };
    EXPECT_NEAR(ratio(mosaic(320, 240, {280, 28, 28, 28}), 320, 240), 10, 0.5) << "a red laser";
    EXPECT_NEAR(ratio(mosaic(321, 241, {200, 300, 300, 150}), 321, 241), 2, 0.1) << "white light";
    EXPECT_EQ(ratio(mosaic(320, 240, {280, 280, 280, 280}), 320, 240), 1);
    EXPECT_EQ(ratio(mosaic(320, 240, {280, 284, 280, 284}), 320, 240), 1) << "two amplifiers";
    EXPECT_EQ(ratio(mosaic(64, 48, {280, 280, 280, 280}), 64, 48), 1);
    EXPECT_EQ(ratio(std::vector<std::uint16_t>(12), 4, 3), 1);
    std::vector<std::uint16_t> ramp(320 * 240);
    for (std::size_t i = 0; i < ramp.size(); ++i)
        ramp[i] = static_cast<std::uint16_t>(i % 320 * 100 + i / 320);
    EXPECT_EQ(ratio(ramp, 320, 240), 1) << "a slope";
}

TEST(Bayer, TwoByTwoPixelsBecomeOneInEveryOrder) {
    // 3×5 with an odd last row and column: R 10, G 20 and 31, B 40 for rggb.
    std::vector<std::uint8_t> pixels{10, 20, 7, 31, 40, 7, 10, 255, 7, 31, 40, 7, 9, 9, 9};
    const HostView grey(reinterpret_cast<std::byte*>(pixels.data()), {3, 5, 1, PixelType::u8});
    const Shape shape = bayer_shape(grey.shape, "film");
    EXPECT_EQ(shape, (Shape{1, 2, 3, PixelType::u8}));
    const auto binned = [&](Bayer order) {
        std::vector<std::uint8_t> color(shape.bytes());
        bin_bayer(order, grey, HostView(reinterpret_cast<std::byte*>(color.data()), shape), 255);
        return color;
    };
    using Bytes = std::vector<std::uint8_t>;
    EXPECT_EQ(binned(Bayer::rggb), (Bytes{10, 26, 40, 10, 255, 40})) << "a saturated green stays one";
    EXPECT_EQ(binned(Bayer::bggr), (Bytes{40, 26, 10, 40, 255, 10}));
    EXPECT_EQ(binned(Bayer::grbg), (Bytes{20, 25, 31, 255, 25, 31}));
    EXPECT_EQ(binned(Bayer::gbrg), (Bytes{31, 25, 20, 31, 25, 255}));
    EXPECT_THROW((void)bayer_shape({4, 4, 3, PixelType::u8}, "film"), UsageError);
}

TEST(Bayer, AFileIsReportedAndBinnedOnRequest) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, R"(
import numpy as np, tifffile
rng = np.random.default_rng(3)
mosaic = rng.exponential(300, (5, 48, 64))
mosaic[:, ::2, ::2] += 2500
mosaic = mosaic.astype(np.uint16)
tifffile.imwrite("bayer.tif", mosaic, photometric="minisblack")
mosaic.tofile("bayer.bin")
m = mosaic.astype(np.uint32)
color = np.stack([m[:, ::2, ::2], (m[:, ::2, 1::2] + m[:, 1::2, ::2] + 1) // 2, m[:, 1::2, 1::2]], -1)
color.astype(np.uint16).tofile("color.bin")
)")) << read_file(folder / "python.log");
    const std::string tiff = folder / "bayer.tif";
    const std::string raw = "raw:" + (folder / "bayer.bin") + "?width=64&height=48&format=gray16le";
    for (const std::string& text : {tiff + "?", raw + "&"}) {
        const KindRead plain = read_kind(text + "rate=0");
        EXPECT_NE(plain.log.find("looks like the mosaic"), std::string::npos) << plain.log;
        EXPECT_NE(plain.log.find("?bayer=rggb"), std::string::npos) << plain.log;
        const KindRead color = read_kind(text + "bayer=rggb");
        ASSERT_EQ(color.frames.size(), 5U);
        EXPECT_EQ(color.frames[0].shape, (Shape{32, 24, 3, PixelType::u16}));
        EXPECT_TRUE(color.bytes == read_file(folder / "color.bin"));
        EXPECT_EQ(color.log.find("mosaic"), std::string::npos) << color.log;
    }
}

} // namespace specklescope::test::image_kinds_test
