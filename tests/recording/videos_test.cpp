// Videos of any image size (restored exactly, or refused with the possible sizes), of any length (days, with
// frames hours apart, longer than an MP4 can represent), and with frames shorter than a tick.
#include "sources/registry.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/test_port.hpp"

namespace specklescope::videos_test {

std::vector<test::Delivered> played(const std::string& path) {
    test::TestPort port;
    const auto source = make_source(path, {});
    (void)source->open();
    EXPECT_TRUE(test::read_frames(*source, port));
    return {port.frames.begin(), port.frames.end()};
}

/// Error message; empty: no error.
std::string refusal(const TemporaryFolder& folder, const RecordOptions& options, const Shape& raw,
                    const Shape& image) {
    Maker maker(raw, image);
    try {
        const SinkStatus status = record(maker, options, 0, 3);
        EXPECT_EQ(status.written, status.error.empty() ? 3U : 0U) << status.error;
        EXPECT_EQ(folder.names().empty(), !status.error.empty()) << status.error;
        return status.error;
    } catch (const UsageError& error) { // if the size is known in advance
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
                const std::vector<test::Delivered> frames = played(path);
                ASSERT_EQ(frames.size(), 3U) << to_string(shape);
                for (std::size_t n = 0; n < 3; ++n)
                    EXPECT_EQ(compare(frames[n].pixels, expected(shape, n)), "equal") << to_string(shape);
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

const Shape kRaw{16, 16, 1, PixelType::u8};
const Shape kNumber{16, 16, 1, PixelType::f32};
const Shape kShown{16, 16, 3, PixelType::u8};

std::vector<std::int64_t> times_in(const std::string& path) {
    const std::vector<test::Delivered> frames = played(path);
    std::vector<std::int64_t> times;
    for (const test::Delivered& frame : frames)
        times.push_back(frame.info.capture_ns - frames[0].info.capture_ns);
    return times;
}

TEST(LongFilm, IsReadToItsEnd) {
    for (const auto& [rate, frames] : {std::pair{0.1, 5000U}, {0.01, 600U}, {1e-4, 60U}, {1e-6, 20U}}) {
        const TemporaryFolder folder;
        Maker maker(kRaw, kNumber);
        const SinkStatus status =
            record(maker, {.path = folder / "a.mp4", .what = RecordWhat::processed, .rate = rate}, 0, frames);
        ASSERT_EQ(status.error, "");
        EXPECT_EQ(status.written, frames);
        EXPECT_EQ(status.bytes, fs::file_size(status.path));
        const std::vector<std::int64_t> times = times_in(status.path);
        ASSERT_EQ(times.size(), frames) << rate;
        for (std::size_t n = 0; n < frames; ++n)
            EXPECT_NEAR(static_cast<double>(times[n]) * 1e-9 * rate, static_cast<double>(n), 1e-5) << rate;
        EXPECT_EQ(decode_video(status.path, "RGB", kShown).size(), frames) << rate;
    }
}

/// The duration of the film is a number of ticks, and readers drop frames after it.
TEST(FastFilm, IsReadToItsEnd) {
    for (const double rate : {250.0, 260.0, 3000.0, 10000.0, 50000.0})
        for (const std::uint64_t frames : {7U, 24U, 31U, 60U}) {
            const TemporaryFolder folder;
            Maker maker(kRaw, kNumber);
            const SinkStatus status = record(
                maker, {.path = folder / "a.mp4", .what = RecordWhat::processed, .rate = rate}, 0, frames);
            ASSERT_EQ(status.error, "");
            EXPECT_EQ(times_in(status.path).size(), frames) << rate;
        }
}

/// 5.5 h between two frames, and then 7 h.
TEST(LongFilm, EndsBeforeADistanceThatItCannotHold) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.mp4";
    Maker maker(kRaw, kNumber);
    const auto sink = make_recorder({.path = path, .what = RecordWhat::processed});
    sink->open(stream_of(kRaw, 30));
    const std::int64_t seconds[] = {0, 1, 20000, 20001, 20001 + 25000};
    for (std::uint64_t n = 0; n < std::size(seconds); ++n) {
        Result result = maker.make(n);
        result.info.capture_ns = seconds[n] * 1'000'000'000;
        sink->push(result, true);
    }
    sink->close();
    EXPECT_EQ(sink->status().error, "Recording into " + path +
                                        " stopped: this .mp4 cannot store frames further apart than 23860 s. "
                                        "Record as .mkv.");
    EXPECT_EQ(sink->status().written, 4U);
    const std::vector<std::int64_t> times = times_in(path);
    ASSERT_EQ(times.size(), 4U);
    for (std::size_t n = 0; n < 4; ++n)
        EXPECT_NEAR(static_cast<double>(times[n]) * 1e-9, static_cast<double>(seconds[n]), 1e-4);
}

} // namespace specklescope::videos_test
