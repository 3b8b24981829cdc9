// Radiance pictures as Radiance's own programs write them, and what they say of themselves.
#include "tests/recording/record_helpers.hpp"

namespace specklescope {
namespace {

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

} // namespace
} // namespace specklescope
