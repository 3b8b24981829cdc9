// A recorded video shows what a snapshot of the same frame shows: 40 dB at least, whatever is in it.
#include "tests/recording/screen/screen_helpers.hpp"

#include <thread>

using namespace specklescope;

namespace {
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
    for (std::uint64_t n = 0; n < 8; ++n) { // noise: the hardest picture there is
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

/// x264 keeps a frame back where it knows no rate, and a frame that takes long is to be out before the next
/// goes in.
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
} // namespace
