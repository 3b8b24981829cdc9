// A recorded video shows what a snapshot of the same frame shows: 40 dB at least, whatever is in it.
#include "tests/recording/record_helpers.hpp"

#include <png.h>

#include <cmath>

using namespace specklescope;

namespace {
constexpr PixelType kU8 = PixelType::u8, kU16 = PixelType::u16, kF32 = PixelType::f32;

Bytes read_rgb(const std::string& path, std::size_t bytes) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
    image.format = PNG_FORMAT_RGB;
    Bytes pixels(bytes);
    EXPECT_EQ(PNG_IMAGE_SIZE(image), bytes);
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr)) << image.message;
    return pixels;
}

/// Peak signal to noise ratio in dB of 8-bit pictures.
double psnr(const Bytes& a, const Bytes& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]);
        sum += difference * difference;
    }
    return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / std::max(sum, 1e-9));
}

struct Case {
    Shape shape;
    ColorMap colors;
};

class RecordedVideo : public testing::TestWithParam<Case> {};

TEST_P(RecordedVideo, IsWithin40DecibelsOfTheSnapshot) {
    const TemporaryFolder folder;
    const auto& [shape, colors] = GetParam();
    Maker maker({8, 8, 1, kU8}, shape);
    const Mapping mapping{.colormap = colors};
    const StreamInfo stream = stream_of(shape);
    const auto sink = make_recorder({.path = folder / "v.mkv", .mapping = mapping});
    sink->open(stream);
    std::vector<Bytes> pictures;
    for (std::uint64_t n = 0; n < 8; ++n) { // noise: the hardest picture there is
        const Result result = maker.make(n);
        pictures.push_back(
            read_rgb(write_snapshot(result, {.path = folder / "s.png", .mapping = mapping}, stream),
                     static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height) * 3));
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    // The colours come back by GStreamer's own conversion, as a player would show them.
    const std::vector<Bytes> frames =
        decode_video(sink->status().path, "RGB", {shape.width, shape.height, 3, kU8});
    ASSERT_EQ(frames.size(), pictures.size());
    for (std::size_t i = 0; i < frames.size(); ++i)
        EXPECT_GE(psnr(frames[i], pictures[i]), 40) << "frame " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, RecordedVideo,
    testing::Values(Case{{160, 120, 1, kU8}, ColorMap::grey}, Case{{160, 120, 1, kU16}, ColorMap::viridis},
                    Case{{160, 120, 1, kF32}, ColorMap::viridis},
                    Case{{159, 121, 1, kF32}, ColorMap::inferno}, Case{{160, 120, 1, kF32}, ColorMap::grey},
                    Case{{160, 120, 3, kU8}, ColorMap::grey}, Case{{161, 119, 3, kU16}, ColorMap::grey},
                    Case{{160, 120, 3, kF32}, ColorMap::grey}));
} // namespace
