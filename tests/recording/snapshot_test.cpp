// One image in a file: exact, or as displayed; Radiance images as Radiance's own programs write them.
#include "files/image_file.hpp"
#include "tests/recording/record_helpers.hpp"

#include <png.h>

#include <cmath>

namespace specklescope::snapshot_test {

constexpr PixelType kU8 = PixelType::u8, kU16 = PixelType::u16, kF32 = PixelType::f32;

Bytes read_png(const std::string& path, unsigned format, std::size_t bytes) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
    image.format = format;
    Bytes pixels(bytes);
    EXPECT_EQ(PNG_IMAGE_SIZE(image), bytes);
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr)) << image.message;
    return pixels;
}

TEST(Snapshot, IsExactOrMappedAndNeverOverwrites) {
    const TemporaryFolder folder;
    const Shape grey{33, 17, 1, kU8}, color{33, 17, 3, kU8}, number{33, 17, 1, kF32};
    const StreamInfo stream = stream_of(grey);
    const RecordOptions raw{.path = folder / "s.png", .what = RecordWhat::raw};
    EXPECT_EQ(write_snapshot(Maker(grey).make(1), raw, stream), folder / "s.png");
    EXPECT_EQ(write_snapshot(Maker(color).make(2), raw, stream), folder / "s-1.png");
    EXPECT_EQ(read_png(folder / "s.png", PNG_FORMAT_GRAY, grey.bytes()), expected(grey, 1));
    EXPECT_EQ(read_png(folder / "s-1.png", PNG_FORMAT_RGB, color.bytes()), expected(color, 2));

    const RecordOptions processed{.path = folder / "p.png", .mapping = {.colormap = ColorMap::inferno}};
    const Result result = Maker(number).make(3);
    Bytes wanted(color.bytes());
    map_colors(result.image.host(), ColorMap::inferno, percentile_range(result.image.host(), 1, 99),
               ToneCurve::linear, HostView(wanted.data(), color));
    EXPECT_EQ(read_png(write_snapshot(result, processed, stream), PNG_FORMAT_RGB, wanted.size()), wanted);

    const std::string tiff = write_snapshot(result, {.path = folder / "p.tiff"}, stream);
    EXPECT_EQ(read_stack(tiff).at(0).pixels, expected(number, 3));
    for (const char* name : {"p.mkv", "p.gif", "p.raw"}) {
        try {
            write_snapshot(result, {.path = folder / name}, stream);
            ADD_FAILURE() << name << " was accepted";
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(folder / name), std::string::npos);
            for (const char* ending : {".png", ".tiff", ".hdr", ".exr", ".pdf"})
                EXPECT_NE(std::string(error.what()).find(ending), std::string::npos) << ending;
        }
    }
    EXPECT_THROW(write_snapshot(result, raw, stream), RunError); // float into a raw .png
    EXPECT_THROW(write_snapshot(result, {.path = folder / "none/p.png"}, stream), RunError);
    EXPECT_EQ(folder.names(),
              (std::vector<std::string>{"p.png", "p.tiff", "s-1.png", "s.png"})); // no partial file
}

/// One stop more shows the doubled value, one less half of it.
TEST(Snapshot, AStopMoreIsBrighter) {
    const TemporaryFolder folder;
    const Shape shape{64, 4, 1, kF32};
    Maker maker(shape);
    const Result result = maker.make(0);
    const auto numbers = result.image.host().as<float>();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            numbers.row(y)[x] = static_cast<float>(3 * x + y);
    for (const double stops : {-1.5, -1.0, 0.0, 1.0}) {
        const Mapping mapping{
            .colormap = ColorMap::grey, .automatic = false, .low = 20, .high = 120, .exposure_stops = stops};
        const Bytes shown =
            read_png(write_snapshot(result, {.path = folder / "p.png", .mapping = mapping}, stream_of(shape)),
                     PNG_FORMAT_RGB, std::size_t{3} * 64 * 4);
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const double part = ((3 * x + y) * std::pow(2, stops) - 20) / 100;
                const std::size_t at = 3 * (static_cast<std::size_t>(y) * 64 + static_cast<std::size_t>(x));
                EXPECT_NEAR(std::to_integer<int>(shown[at]), 255 * std::clamp(part, 0.0, 1.0), 1)
                    << 3 * x + y << " at " << stops << " stops";
            }
    }
}

TEST(Snapshot, SixteenBitIsExact) {
    const TemporaryFolder folder;
    for (const int channels : {1, 3}) {
        const Shape shape{33, 17, channels, kU16};
        const std::string path = write_snapshot(
            Maker(shape).make(4), {.path = folder / "w.png", .what = RecordWhat::raw}, stream_of(shape));
        const std::string out = folder / "w.bin";
        const std::string code = "import cv2,sys;open('" + out + "','wb').write(cv2.imread('" + path +
                                 "',cv2.IMREAD_UNCHANGED)" + (channels == 3 ? "[:,:,::-1]" : "") +
                                 ".tobytes())";
        int status = 0;
        const std::string log = run_command("/usr/bin/python3 -c \"" + code + "\" 2>&1", &status);
        ASSERT_EQ(status, 0) << log;
        EXPECT_EQ(read_bytes(out), expected(shape, 4));
    }
}

TEST(Recorder, PngKeepsTheLastPicture) {
    const TemporaryFolder folder;
    const Shape shape{20, 10, 1, kU8};
    Maker maker(shape);
    const SinkStatus status = record(maker, {.path = folder / "last.png", .what = RecordWhat::raw}, 0, 7);
    EXPECT_EQ(status.written, 1U);
    EXPECT_EQ(read_png(status.path, PNG_FORMAT_GRAY, shape.bytes()), expected(shape, 6));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"last.png"});
}

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

/// Ward, Real Pixels (Graphics Gems II), and color.c of Radiance: from 8 pixels on a row is stored as four
/// run-length encoded planes.
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

/// Values beyond the largest exponent become the largest code, not 0.
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

/// The same description as in a TIFF of the same image.
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
    for (Json* json : {&said, &tiff}) // time of writing
        for (const char* now : {"started", "started_arrival_ns"})
            json->erase(now);
    EXPECT_EQ(said, tiff);
}

/// Readers limit the length of a line.
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

} // namespace specklescope::snapshot_test
