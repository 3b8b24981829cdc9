// Radiance pictures as Radiance's own programs write them, and what they say of themselves.
#include "files/image_file.hpp"
#include "tests/recording/record_helpers.hpp"

namespace specklescope::light_picture_test {

struct Picture {
    std::string header, pixels;
};

Picture read_picture(const std::string& path) {
    const Bytes bytes = read_bytes(path);
    const std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t size = all.find("\n\n") + 2, begin = all.find('\n', size) + 1;
    return {all.substr(0, size), all.substr(begin)};
}

/// Every sample of this width is 0.75: mantissa 192, exponent 0.
Picture even_picture(const TemporaryFolder& folder, int width) {
    const Shape shape{width, 2, 3, PixelType::f32};
    Maker maker(shape);
    const Result result = maker.make(0);
    for (int y = 0; y < shape.height; ++y)
        std::fill_n(result.image.host().as<float>().row(y), 3 * width, 0.75F);
    return read_picture(write_snapshot(result, {.path = folder / "p.hdr"}, stream_of(shape)));
}

/// Ward, Real Pixels (Graphics Gems II), and color.c of Radiance: from 8 pixels on a row is four planes of
/// runs.
TEST(LightPicture, RowsOf8PixelsAndMoreAreFourPlanesAndShorterOnesArePlain) {
    const TemporaryFolder folder;
    const std::string pixel{'\xc0', '\xc0', '\xc0', '\x80'};
    for (const int width : {1, 7, 8, 9, 100}) {
        std::string row;
        if (width < 8) {
            for (int x = 0; x < width; ++x)
                row += pixel;
        } else {
            row = {2, 2, 0, static_cast<char>(width)};
            for (const char part : pixel)
                row += {static_cast<char>(128 + width), part};
        }
        EXPECT_EQ(even_picture(folder, width).pixels, row + row) << width << " pixels";
    }
}

/// There is no exponent for more: the largest code stands for them, not 0.
TEST(LightPicture, WhatIsBeyondItsCodesIsTheLargestOfThem) {
    const TemporaryFolder folder;
    const Shape shape{4, 1, 1, PixelType::f32};
    Maker maker(shape);
    const Result result = maker.make(0);
    const float values[] = {3.4e38F, 1.7e38F, 1.6e38F, 1e-30F};
    std::copy_n(values, 4, result.image.host().as<float>().row(0));
    const auto reader = open_image(write_snapshot(result, {.path = folder / "p.hdr"}, stream_of(shape)));
    ASSERT_TRUE(reader->next_page());
    std::array<float, 12> seen{};
    reader->read_rows(HostView(reinterpret_cast<std::byte*>(seen.data()), {4, 1, 3, PixelType::f32}));
    EXPECT_GT(seen[0], 1.68e38F);
    EXPECT_GT(seen[3], 1.68e38F);
    EXPECT_NEAR(seen[6], 1.6e38F, 0.01F * 1.6e38F);
    EXPECT_NEAR(seen[9], 1e-30F, 0.01F * 1e-30F);
}

/// The same words as those of a TIFF of the same picture.
TEST(LightPicture, SaysWhatATiffOfItSays) {
    const TemporaryFolder folder;
    const Shape shape{9, 2, 1, PixelType::f32};
    Maker maker(shape);
    const Result result = maker.make(3);
    StreamInfo stream = stream_of(shape);
    RecordOptions options{.path = folder / "p.hdr"};
    options.limits.note = "the last word {of} \"it\"";
    const std::string header = read_picture(write_snapshot(result, options, stream)).header;
    const std::string key = "\nSPECKLESCOPE=";
    const std::size_t begin = header.find(key);
    ASSERT_NE(begin, std::string::npos) << header;
    const std::size_t end = header.find('\n', begin + 1);
    Json said = Json::parse(header.substr(begin + key.size(), end - begin - key.size()), nullptr, false);
    ASSERT_TRUE(said.is_object()) << header;
    options.path = folder / "p.tiff";
    Json tiff = read_stack(write_snapshot(result, options, stream)).at(0).description;
    EXPECT_EQ(said.at("frame").at("sequence"), 3);
    for (Json* json : {&said, &tiff}) // when each was written
        for (const char* now : {"started", "started_arrival_ns"})
            json->erase(now);
    EXPECT_EQ(said, tiff);
}

/// Its readers take no line without end.
TEST(LightPicture, LeavesOutANoteThatIsTooLongForItsHeader) {
    const TemporaryFolder folder;
    Maker maker({9, 2, 1, PixelType::f32});
    const Result result = maker.make(3);
    for (const std::size_t bytes : {1000, 60000, 100000}) {
        RecordOptions options{.path = folder / (std::to_string(bytes) + ".hdr")};
        options.limits.note = std::string(bytes, 'n');
        const auto reader = open_image(write_snapshot(result, options, stream_of({9, 2, 1, PixelType::f32})));
        ASSERT_TRUE(reader->next_page()) << bytes;
        EXPECT_EQ(reader->recorded().sequence, 3U) << bytes;
        EXPECT_EQ(reader->description().find(options.limits.note) != std::string::npos, bytes < 65000)
            << bytes;
    }
}

} // namespace specklescope::light_picture_test
