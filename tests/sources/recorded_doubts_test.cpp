// Impossible values in recorded images and videos are ignored and reported once, like in raw files.
#include "base/log.hpp"
#include "files/recorded.hpp"
#include "sources/registry.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <tiffio.h>

#include <array>
#include <sstream>

namespace specklescope::test::recorded_doubts_test {

/// Description of a recording of 4×3 pixels; `more` is added to the file's description.
std::string description(const std::string& more, const std::string& frame) {
    return R"({"finished": true, "program": "Specklescope 1", "content": "raw", "width": 4, "height": 3, )"
           R"("channels": 1, "pixel_type": "u8", "frame": {)" +
           frame + "}" + more + "}";
}

class RecordedDoubts : public testing::Test {
protected:
    /// One page per text.
    void write_tiff(const std::string& name, const std::vector<std::string>& texts) {
        TIFF* tiff = TIFFOpen((folder_ / name).c_str(), "w");
        ASSERT_NE(tiff, nullptr);
        for (const std::string& text : texts) {
            TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
            TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 3);
            TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
            TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 3);
            TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
            TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, text.c_str());
            std::array<unsigned char, 12> pixels{};
            TIFFWriteEncodedStrip(tiff, 0, pixels.data(), pixels.size());
            TIFFWriteDirectory(tiff);
        }
        TIFFClose(tiff);
    }
    /// Log messages while `frames` frames are played.
    std::string played(const std::string& source_text, std::size_t frames) {
        std::ostringstream log;
        log_to(std::make_shared<spdlog::logger>("test",
                                                std::make_shared<spdlog::sinks::ostream_sink_mt>(log, true)));
        {
            const auto source = make_source(source_text, {});
            (void)source->open();
            TestPort port;
            EXPECT_TRUE(read_frames(*source, port, frames));
            EXPECT_EQ(port.frames.size(), frames);
            source->close();
        }
        log_to(nullptr);
        return log.str();
    }
    static std::size_t times(const std::string& text, const std::string& what) {
        std::size_t count = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            ++count;
        return count;
    }
    const TemporaryFolder folder_;
};

TEST_F(RecordedDoubts, OfAStackAreReportedOnce) {
    write_tiff("s.tiff", {description(R"(, "rate": 1e-300)", R"("capture_ns": 0, "sequence": 0)"),
                          R"({"capture_ns": 1e300, "sequence": -1})",
                          R"({"capture_ns": 18446744073709551615, "sequence": 9223372036854775808})"});
    const std::string said = played(folder_ / "s.tiff?loop=true", 7);
    EXPECT_EQ(times(said, "s.tiff' has an impossible value, which is ignored: a rate outside 1e-9 to"), 1U)
        << said;
    EXPECT_EQ(times(said, "a capture time that is not a whole number of ns within 146 years"), 1U) << said;
    EXPECT_EQ(times(said, "a sequence number that is not a whole number from 0"), 1U) << said;
    EXPECT_EQ(times(said, "impossible value"), 3U) << said;
}

TEST_F(RecordedDoubts, OfAFolderAreReportedForTheFirstFile) {
    std::filesystem::create_directory(folder_ / "f");
    write_tiff("f/1.tiff", {description("", R"("capture_ns": 0)")});
    write_tiff("f/2.tiff", {description(R"(, "rate": -5)", R"("capture_ns": 10)")});
    write_tiff("f/3.tiff", {description(R"(, "rate": 1e300)", R"("capture_ns": 20)")});
    const std::string said = played(folder_ / "f?loop=true", 9);
    EXPECT_EQ(times(said, "2.tiff' has an impossible value, which is ignored: a rate outside 1e-9 to"), 1U)
        << said;
    EXPECT_EQ(times(said, "impossible value"), 1U) << said;
}

/// Replaces the recorder's text everywhere with one of the same length.
void lie(std::string& film, std::string_view truth, std::string_view lie) {
    ASSERT_EQ(truth.size(), lie.size());
    ASSERT_NE(film.find(truth), std::string::npos) << truth;
    for (std::size_t at = 0; (at = film.find(truth, at)) != std::string::npos; at += truth.size())
        film.replace(at, truth.size(), lie);
}

TEST_F(RecordedDoubts, OfAVideoAreReportedOnce) {
    const Shape shape{64, 48, 1, PixelType::u8};
    Maker maker(shape);
    constexpr std::uint64_t kFirst = 400'000'000'000; // of 4000000000000000005 ns
    const SinkStatus status = record(maker, {.path = folder_ / "f.mkv", .what = RecordWhat::raw}, kFirst, 4);
    ASSERT_EQ(status.written, 4U) << status.error;
    EXPECT_EQ(played(status.path + "?loop=true", 9), "") << "nothing is doubted of what we write";
    std::string film = read_file(status.path);
    lie(film, "\"rate\":100.0", "\"rate\":1e300");
    lie(film, "\"width\":64", "\"width\":-4");
    lie(film, "\"capture_ns\":4000000000000000005", "\"capture_ns\":4999999999999999999");
    const std::string truth = "\"written\": 4, \"dropped\": 0, \"lost_before_recorder\": 0";
    std::string more = "\"written\": 18446744073709551615";
    more.resize(truth.size(), ' ');
    lie(film, truth, more);
    write_file(status.path, film);
    const std::string said = played(status.path + "?loop=true", 9);
    for (const char* doubt : {"a rate outside 1e-9 to 100000 frames/s", "more than 2^40 frames written",
                              "a width, a height or channels outside 1 to 1e9",
                              "a capture time that is not a whole number of ns within 146 years"})
        EXPECT_EQ(times(said, std::string("f.mkv' has an impossible value, which is ignored: ") + doubt), 1U)
            << doubt << "\n"
            << said;
}

/// A video describes changes of its numbering in rows of [frame, sequence, exposure].
std::vector<std::string_view> doubts_of_film(const std::string& changes, const std::string& more = "") {
    RecordedText text;
    EXPECT_TRUE(text.begin(description(more + R"(, "changes": )" + changes, R"("sequence": 7)")));
    return text.doubts();
}

TEST_F(RecordedDoubts, OfSequenceNumbersInAVideoAreReported) {
    using Doubts = std::vector<std::string_view>;
    const Doubts lost{"more than 2^40 frames lost at once"};
    const Doubts number{"a sequence number that is not a whole number from 0"};
    EXPECT_EQ(doubts_of_film("[[0, 7, 5], [3, 1099511627790, 5]]"), lost);
    EXPECT_EQ(doubts_of_film("[[3, 9223372036854775808, 5]]"), lost) << "behind what the first frame says";
    EXPECT_EQ(doubts_of_film("[[0, 7, 5], [2, -1, 5]]"), number);
    EXPECT_EQ(doubts_of_film("[[0, 7, 5], [2, 12.5, 5], [4, 1e300, null]]"), number);
    EXPECT_EQ(doubts_of_film("[[0, 7, 5], [2, 18446744073709551615, 5], [4, -1, 5]]").size(), 2U);
}

TEST_F(RecordedDoubts, ValidSequenceNumbersInAVideoAreAccepted) {
    EXPECT_TRUE(doubts_of_film("[[0, 7, 5], [3, 1099511627786, 5]]").empty()) << "2^40 between 9 and that";
    EXPECT_TRUE(doubts_of_film("[[0, 7, 5], [3, 2, 5], [4, 2, null]]").empty()) << "numbers may begin again";
    EXPECT_TRUE(doubts_of_film("[[0, null, 5], [3, \"x\", 5], 4, [1]]").empty()) << "no numbers at all";
    EXPECT_TRUE(doubts_of_film("[[0, 7, 5], [3, 2199023255552, 5]]",
                               R"(, "frames": {"left_out": [[0, 3], 2199023255000]})")
                    .empty())
        << "they were not to be recorded";
}

/// Frames read as fast as possible have a rate that no camera has.
TEST_F(RecordedDoubts, AVideoOfUnpacedFramesIsAccepted) {
    const StreamInfo stream = stream_of({16, 16, 1, PixelType::u8}, 0);
    const auto sink = make_recorder({.path = folder_ / "u.mkv", .what = RecordWhat::raw});
    sink->open(stream);
    Maker maker({16, 16, 1, PixelType::u8});
    for (std::uint64_t n = 0; n < 4; ++n) {
        Result result = maker.make(n);
        result.info.capture_ns = static_cast<std::int64_t>(1000 * n); // a million per second
        sink->push(result, true);
    }
    sink->close();
    EXPECT_EQ(played(folder_ / "u.mkv", 4), "");
}

TEST_F(RecordedDoubts, ValidValuesAreAccepted) {
    write_tiff("s.tiff", {description(R"(, "rate": 25)", R"("capture_ns": 5000, "sequence": 0)"),
                          R"({"capture_ns": 4000, "sequence": 1})"});
    EXPECT_EQ(times(played(folder_ / "s.tiff", 2), "cannot be"), 0U) << "times may begin again";
}

} // namespace specklescope::test::recorded_doubts_test
