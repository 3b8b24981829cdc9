// Long recordings, whose pages leave the system's cache while they are written.
#include "tests/recording/record_helpers.hpp"

#include "recording/write_behind.hpp"

namespace specklescope::write_behind_test {

TEST(WriteBehind, ALongFileIsTheSameThoughItsPagesLeaveTheCache) {
    const TemporaryFolder folder;
    const Shape shape{1001, 700, 1, PixelType::u16};
    Maker maker(shape);
    constexpr std::uint64_t kFrames = 40;
    const auto sink = make_recorder({.path = folder / "long.tiff", .what = RecordWhat::raw});
    sink->open(stream_of(shape));
    for (std::uint64_t n = 0; n < kFrames; ++n)
        sink->push(maker.make(n), true);
    sink->close();
    const SinkStatus status = sink->status();
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.written, kFrames);
    ASSERT_GT(status.bytes, 3 * WriteBehind::kKept);
    const std::vector<Page> pages = read_stack(status.path);
    ASSERT_EQ(pages.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i)
        ASSERT_EQ(compare(pages[i].pixels, expected(shape, i)), "equal") << "page " << i;
    EXPECT_EQ(pages[0].description.at("written"), kFrames);
}

TEST(WriteBehind, SaysNothingOfAFileThatCannotBeSentInParts) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    {
        WriteBehind behind;
        for (std::uint64_t end = 0; end < 4 * WriteBehind::kKept; end += WriteBehind::kKept / 4)
            EXPECT_EQ(behind.advance(pipe[1], end), 0);
    }
    ::close(pipe[0]);
    ::close(pipe[1]);
}

} // namespace specklescope::write_behind_test
