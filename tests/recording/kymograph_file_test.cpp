// Description of a kymograph file: its scale, its times, and correct counts after a failed write.
#include "recording/lines/line_sink.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/screen/screen_helpers.hpp"

#include <fcntl.h>

namespace specklescope::kymograph_file_test {

/// The page as read by libtiff.
struct Seen {
    std::uint32_t rows = 0, columns = 0;
    std::uint64_t pixels = 0; ///< offset of the pixels
    std::string calibration;  ///< ImageJ's lines
    Json about;
};

Seen look(const std::string& path) {
    Seen seen;
    TIFF* tiff = TIFFOpen(path.c_str(), "rc");
    EXPECT_NE(tiff, nullptr) << path;
    if (!tiff)
        return seen;
    char* text = nullptr;
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &seen.rows);
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &seen.columns);
    seen.pixels = TIFFGetStrileOffset(tiff, 0);
    EXPECT_EQ(TIFFGetStrileByteCount(tiff, 0), std::uint64_t{4} * seen.rows * seen.columns);
    if (TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) != 0 && text) {
        const std::string words = text;
        seen.calibration = words.substr(0, words.find('{'));
        seen.about = Json::parse(words.substr(words.find('{')), nullptr, false);
    }
    TIFFClose(tiff);
    return seen;
}

class KymographFileTest : public testing::Test {
protected:
    /// A line with this many samples, 1 px apart.
    LineFrame frame(std::uint64_t n, std::uint64_t version = 0) {
        Result result = maker_.make(n);
        put_regions(result, {{.name = "a",
                              .shape = RegionShape::line,
                              .points = {{2, 3}, {1.0 + static_cast<double>(columns_), 3}},
                              .colour = "",
                              .locked = false}});
        LineFrame made;
        made.info = result.info;
        made.info.version = version;
        made.info.capture_ns = 500 + static_cast<std::int64_t>(n) * 25'000'000; // not the nominal 10 ms
        made.chain = result.chain;
        made.quantity = {"speckle flow index", "SFI", "1/s", Measure::flow};
        made.exposure = {.ms = 5.0 + static_cast<double>(version), .origin = ExposureOrigin::camera};
        made.placed = result.regions->placed;
        MeasuredLine line{.region = 0, .spacing = 1, .averages = {}};
        for (std::size_t i = 0; i < columns_; ++i)
            line.averages.push_back(static_cast<double>(n * columns_ + i));
        made.lines.push_back(line);
        return made;
    }
    void add(KymographFile& file, std::uint64_t first, std::uint64_t count, std::uint64_t version = 0) {
        for (std::uint64_t n = first; n < first + count; ++n) {
            const LineFrame made = frame(n, version);
            file.add(made, made.lines[0]);
        }
    }
    std::unique_ptr<KymographFile> make(const StreamInfo& stream) {
        const LineFrame first = frame(0);
        return std::make_unique<KymographFile>(path(), first, first.lines[0], 1, stream);
    }
    std::string path() const { return folder_ / "k.tiff"; }
    std::string table() const {
        const Bytes bytes = read_bytes(path() + ".csv");
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    /// The first field of each row.
    std::vector<std::string> rows_of_table() const {
        std::vector<std::string> rows;
        std::istringstream lines(table());
        for (std::string line; std::getline(lines, line);)
            if (std::isdigit(static_cast<unsigned char>(line[0])) != 0)
                rows.push_back(line.substr(0, line.find(',')));
        return rows;
    }
    static std::vector<std::string> numbers(std::size_t count) {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back(std::to_string(i));
        return all;
    }
    /// Compares the pixels row by row.
    void expect_pixels(const Seen& seen) const {
        const Bytes bytes = read_bytes(path());
        ASSERT_EQ(bytes.size(), seen.pixels + std::uint64_t{4} * seen.rows * seen.columns) << "and no more";
        for (std::uint64_t i = 0; i < std::uint64_t{seen.rows} * seen.columns; ++i) {
            float value = 0;
            std::memcpy(&value, bytes.data() + seen.pixels + 4 * i, 4);
            ASSERT_EQ(value, static_cast<float>(i));
        }
    }

    std::size_t columns_ = 20;
    TemporaryFolder folder_;
    Maker maker_{{64, 32, 1, PixelType::f32}};
};

TEST_F(KymographFileTest, TellsASideOfAPixelWhereItIsKnownAndElseNone) {
    for (const double um : {0.0, 2.5}) {
        StreamInfo stream = stream_of({64, 32, 1, PixelType::f32});
        stream.um_per_source_px = um;
        const auto file = make(stream);
        add(*file, 0, 3);
        file->flush(0);
        file->finish(true, 0);
        const Seen seen = look(file->path());
        ASSERT_TRUE(seen.about.is_object());
        EXPECT_EQ(seen.about.contains("um_per_px"), um > 0);
        EXPECT_EQ(seen.about.value("um_per_px", 0.0), um);
        EXPECT_NE(seen.calibration.find(um > 0 ? "\nunit=micron\n" : "\nunit=pixel\n"), std::string::npos)
            << seen.calibration;
    }
}

TEST_F(KymographFileTest, TellsWhenItsRowsWereCaptured) {
    const auto file = make(stream_of({64, 32, 1, PixelType::f32}));
    add(*file, 0, 4);
    file->flush(0);
    add(*file, 4, 5);
    file->flush(0);
    file->finish(true, 0);
    const Seen seen = look(path());
    EXPECT_EQ(seen.rows, 9U);
    EXPECT_EQ(seen.columns, columns_);
    EXPECT_EQ(seen.about.at("first_capture_ns"), 500);
    EXPECT_EQ(seen.about.at("last_capture_ns"), 500 + 8 * 25'000'000);
    EXPECT_EQ(seen.about.at("row_period_s"), 0.025) << "from row to row, whatever the source said";
    expect_pixels(seen);
    EXPECT_EQ(rows_of_table(), numbers(9));
}

/// Either of the two files may run out of space.
TEST_F(KymographFileTest, AfterAWriteThatFailedItHoldsWhatItSaysAndNoMore) {
    for (const std::size_t columns : {std::size_t{50}, std::size_t{2}}) {
        columns_ = columns;
        const std::uint64_t before = columns == 2 ? 200 : 30;
        const auto file = make(stream_of({64, 32, 1, PixelType::f32}));
        add(*file, 0, before);
        file->flush(0);
        const std::uint64_t largest = std::max(fs::file_size(path()), fs::file_size(path() + ".csv"));
        add(*file, before, 40, 1); // with another exposure
        {
            const FileSizeLimit full(largest + 150);
            EXPECT_THROW(file->flush(0), RunError);
        }
        errno = EFBIG; // left by an earlier error
        EXPECT_NO_THROW(file->finish(false, 40)) << "the end itself went well";
        const Seen seen = look(path());
        EXPECT_EQ(seen.rows, before);
        ASSERT_TRUE(seen.about.is_object());
        EXPECT_EQ(seen.about.at("finished"), false);
        EXPECT_EQ(seen.about.at("rows"), before);
        EXPECT_EQ(seen.about.at("dropped"), 40);
        EXPECT_EQ(seen.about.at("settings_changed"), 0) << "the change came with rows that are not there";
        EXPECT_EQ(seen.about.at("last_capture_ns"), 500 + static_cast<std::int64_t>(before - 1) * 25'000'000);
        expect_pixels(seen);
        EXPECT_EQ(rows_of_table(), numbers(before));
        EXPECT_EQ(table().find("version 1"), std::string::npos) << table();
        fs::remove(path());
        fs::remove(path() + ".csv");
    }
}

/// Descriptor of a file that this process has open.
int descriptor_of(const std::string& path) {
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (fs::read_symlink(entry.path(), gone) == path)
            return std::stoi(entry.path().filename().string());
    }
    return -1;
}

TEST_F(KymographFileTest, ThatCannotBeCutOffSaysSo) {
    const auto file = make(stream_of({64, 32, 1, PixelType::f32}));
    add(*file, 0, 5);
    file->flush(0);
    const int table = descriptor_of(fs::canonical(path() + ".csv").string());
    ASSERT_GE(table, 0);
    const File read_only(::open((path() + ".csv").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::dup2(read_only.fd(), table), table); // can no longer be truncated
    try {
        file->finish(false, 0);
        ADD_FAILURE() << "nothing is said";
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find("Invalid argument"), std::string::npos) << error.what();
    }
    EXPECT_EQ(look(path()).rows, 5U);
}

TEST_F(KymographFileTest, WithoutARowThereIsNoFile) {
    const auto file = make(stream_of({64, 32, 1, PixelType::f32}));
    add(*file, 0, 3); // never written
    file->finish(false, 3);
    EXPECT_EQ(folder_.names(), std::vector<std::string>{});
}

} // namespace specklescope::kymograph_file_test
