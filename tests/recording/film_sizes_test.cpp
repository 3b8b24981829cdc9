// Pictures of any size in films: given back bit by bit, or refused with the sizes that there are.
#include "sources/registry.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/test_port.hpp"

namespace specklescope::film_sizes_test {

std::vector<Bytes> played(const std::string& path) {
    test::TestPort port;
    const auto source = make_source(path, {});
    (void)source->open();
    EXPECT_TRUE(test::read_frames(*source, port));
    std::vector<Bytes> frames;
    for (const test::Delivered& frame : port.frames)
        frames.push_back(frame.pixels);
    return frames;
}

/// What refused it; empty: nothing did.
std::string refusal(const TemporaryFolder& folder, const RecordOptions& options, const Shape& raw,
                    const Shape& image) {
    Maker maker(raw, image);
    try {
        const SinkStatus status = record(maker, options, 0, 3);
        EXPECT_EQ(status.written, status.error.empty() ? 3U : 0U) << status.error;
        EXPECT_EQ(folder.names().empty(), !status.error.empty()) << status.error;
        return status.error;
    } catch (const UsageError& error) { // where the size is known before
        return error.what();
    }
}

TEST(FilmSizes, OfRawFramesAreExactOrRefused) {
    const int sides[] = {1, 2, 3, 4, 5, 9, 33};
    for (const PixelType type : {PixelType::u8, PixelType::u16})
        for (const int width : sides)
            for (const int height : sides) {
                const TemporaryFolder folder;
                const Shape shape{width, height, 1, type};
                const std::string path = folder / "a.mkv";
                const std::string said = refusal(folder, {.path = path, .what = RecordWhat::raw}, shape,
                                                 {8, 8, 1, PixelType::f32});
                EXPECT_EQ(said.empty(), std::min(width, height) >= 3) << to_string(shape) << said;
                if (!said.empty()) {
                    EXPECT_NE(said.find("(pictures have 3 to 65536 pixels a side there)"), std::string::npos)
                        << said;
                    continue;
                }
                const std::vector<Bytes> frames = played(path);
                ASSERT_EQ(frames.size(), 3U) << to_string(shape);
                for (std::size_t n = 0; n < 3; ++n)
                    EXPECT_EQ(compare(frames[n], expected(shape, n)), "equal") << to_string(shape);
            }
}

TEST(FilmSizes, OfColoursAreThoseOfTheEncoderAndTheMuxer) {
    const Shape raw{8, 8, 1, PixelType::u8};
    for (const auto& [name, width, height, holds] : {std::tuple{"a.mkv", 1, 1, true},
                                                     {"a.mkv", 16385, 4, false},
                                                     {"a.mp4", 16, 16, true},
                                                     {"a.mp4", 15, 16, false},
                                                     {"a.mp4", 16, 15, false},
                                                     {"a.mp4", 16385, 16, false}}) {
        const TemporaryFolder folder;
        const std::string said =
            refusal(folder, {.path = folder / name}, raw, {width, height, 1, PixelType::f32});
        EXPECT_EQ(said.empty(), holds) << name << ' ' << width << ' ' << said;
        if (holds)
            EXPECT_EQ(played(folder / name).size(), 3U) << name;
        else
            EXPECT_NE(said.find(" to 16384 pixels a side there)"), std::string::npos) << said;
    }
}

} // namespace specklescope::film_sizes_test
