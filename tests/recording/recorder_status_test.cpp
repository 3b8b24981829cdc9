// What a recorder says of itself while it records, and of its files.
#include "tests/recording/bigtiff.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <fcntl.h>

namespace recorder_status_test {

using namespace specklescope;

TEST(RecorderStatus, NamesTheFileThatIsWritten) {
    const TemporaryFolder folder;
    write_text(folder / "taken.tiff", "somebody's");
    const Shape shape{40, 30, 1, PixelType::u16};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "taken.tiff", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    recorder->push(maker.make(0), true);
    ASSERT_TRUE(test::eventually([&] { return recorder->status().written == 1; }));
    EXPECT_EQ(recorder->status().path, folder / "taken-1.tiff");
    recorder->close();
    EXPECT_EQ(recorder->status().path, folder / "taken-1.tiff");
    EXPECT_EQ(read_text(folder / "taken.tiff"), "somebody's");
}

/// A format of one picture has written nothing until the end, and then one.
TEST(RecorderStatus, OfALastFrameIsOneAtTheEnd) {
    const TemporaryFolder folder;
    const Shape shape{40, 30, 1, PixelType::u8};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "last.png", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    for (std::uint64_t n = 0; n < 3; ++n) {
        recorder->push(maker.make(n), true);
        EXPECT_EQ(recorder->status().written, 0U);
        EXPECT_EQ(recorder->status().bytes, 0U);
    }
    recorder->close();
    EXPECT_EQ(recorder->status().error, "");
    EXPECT_EQ(recorder->status().written, 1U);
    EXPECT_EQ(recorder->status().bytes, std::filesystem::file_size(folder / "last.png"));
}

/// What a picture of light says of itself is JSON, whole.
TEST(RecorderStatus, ARadiancePictureHoldsItsDescription) {
    const TemporaryFolder folder;
    const Shape shape{40, 30, 3, PixelType::f32};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "light.hdr", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    recorder->push(maker.make(4), true);
    recorder->close();
    ASSERT_EQ(recorder->status().error, "");
    const std::string head = read_text(folder / "light.hdr");
    const std::size_t begin = head.find("\nSPECKLESCOPE=") + 14;
    const Json json = Json::parse(head.substr(begin, head.find('\n', begin) - begin), nullptr, false);
    ASSERT_TRUE(json.is_object()) << head.substr(0, 2000);
    EXPECT_EQ(json.at("frame").at("capture_ns"), 40'000'005);
    EXPECT_EQ(json.at("finished"), true);
}

/// Resolution is 1 by 1, of no unit (TIFF 6.0): readers divide by it.
TEST(RecorderStatus, AStackSaysThatItsPixelsAreSquare) {
    const TemporaryFolder folder;
    const Shape shape{40, 30, 1, PixelType::u16};
    Maker maker(shape);
    const auto recorder = make_recorder({.path = folder / "x.tiff", .what = RecordWhat::raw});
    recorder->open(stream_of(shape));
    recorder->push(maker.make(0), true);
    recorder->close();
    const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(TIFFOpen((folder / "x.tiff").c_str(), "r"), TIFFClose);
    ASSERT_TRUE(tiff);
    float x = 0, y = 0;
    EXPECT_EQ(TIFFGetField(tiff.get(), TIFFTAG_XRESOLUTION, &x), 1);
    EXPECT_EQ(TIFFGetField(tiff.get(), TIFFTAG_YRESOLUTION, &y), 1);
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, 1);
}

} // namespace recorder_status_test
