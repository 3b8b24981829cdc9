// A recorded video equals a snapshot of the same frame to at least 40 dB, for any image.
#include "recording/video/planes.hpp"
#include "tests/recording/screen/screen_helpers.hpp"
#include "tests/support/random.hpp"

#include <thread>

namespace video_color_test {

using namespace specklescope;

constexpr PixelType kU8 = PixelType::u8, kU16 = PixelType::u16, kF32 = PixelType::f32;

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
    for (std::uint64_t n = 0; n < 8; ++n) { // noise: the hardest image
        const Result result = maker.make(n);
        pictures.push_back(
            read_rgb(write_snapshot(result, {.path = folder / "s.png", .mapping = mapping}, stream)).rgb);
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    expect_movie(sink->status().path, shape, pictures);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, RecordedVideo,
    testing::Values(Case{{160, 120, 1, kU8}, ColorMap::grey}, Case{{160, 120, 1, kU16}, ColorMap::viridis},
                    Case{{160, 120, 1, kF32}, ColorMap::viridis},
                    Case{{159, 121, 1, kF32}, ColorMap::inferno}, Case{{160, 120, 1, kF32}, ColorMap::grey},
                    Case{{160, 120, 3, kU8}, ColorMap::grey}, Case{{161, 119, 3, kU16}, ColorMap::grey},
                    Case{{160, 120, 3, kF32}, ColorMap::grey}));

/// Y′ and the two differences of ITU-R BT.709, full range, and BT.601, limited, in double precision.
TEST(VideoColor, IsRoundedAndNotCutOff) {
    auto random = test::test_random(709);
    test::TestImage<std::uint8_t> rgb(61, 43, 0, 3);
    rgb.fill([&] { return random() % 256; });
    for (const VideoColors colors :
         {VideoColors::bt709_full, VideoColors::bt601_full, VideoColors::bt601_limited}) {
        const bool full = colors != VideoColors::bt601_limited;
        const bool bt709 = colors == VideoColors::bt709_full;
        std::array<Bytes, 3> planes;
        VideoPlanes to;
        for (std::size_t i = 0; i < 3; ++i) {
            planes[i].resize(std::size_t{61} * 43);
            to.data[i] = planes[i].data();
            to.pitch[i] = 61;
        }
        to_video_planes(rgb.view(), to, colors);
        const double kr = bt709 ? 0.2126 : 0.299, kb = bt709 ? 0.0722 : 0.114;
        double worst = 0, sum = 0;
        for (int y = 0; y < 43; ++y)
            for (int x = 0; x < 61; ++x) {
                const double r = rgb.at(3 * x, y) / 255.0, g = rgb.at(3 * x + 1, y) / 255.0,
                             b = rgb.at(3 * x + 2, y) / 255.0;
                const double luma = kr * r + (1 - kr - kb) * g + kb * b;
                const std::array<double, 3> wanted = {full ? 255 * luma : 16 + 219 * luma,
                                                      128 + (full ? 255 : 224) * (b - luma) / (2 * (1 - kb)),
                                                      128 + (full ? 255 : 224) * (r - luma) / (2 * (1 - kr))};
                for (std::size_t i = 0; i < 3; ++i) {
                    const double seen = std::to_integer<int>(planes[i][static_cast<std::size_t>(y * 61 + x)]);
                    const double error = seen - std::clamp(wanted[i], 0.0, 255.0);
                    worst = std::max(worst, std::abs(error));
                    sum += error;
                }
            }
        EXPECT_LT(worst, 0.51);
        EXPECT_LT(std::abs(sum / (3 * 61 * 43)), 0.05) << "neither brighter nor darker";
    }
}

/// Without a rate x264 holds a frame back. A slow frame must be returned before the next one is passed.
TEST(RecordedVideoOfNoRate, TakesFramesThatAreFarApart) {
    const TemporaryFolder folder;
    const Shape shape{160, 120, 1, kF32};
    Maker maker({8, 8, 1, kU8}, shape);
    StreamInfo stream = stream_of(shape);
    stream.source.rate = 0;
    const auto sink = make_recorder({.path = folder / "v.mkv"});
    sink->open(stream);
    for (std::uint64_t n = 0; n < 5; ++n) {
        sink->push(maker.make(n), true);
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
    }
    sink->close();
    EXPECT_EQ(sink->status().error, "");
    EXPECT_EQ(sink->status().written, 5U);
}

} // namespace video_color_test
