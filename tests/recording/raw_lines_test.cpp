// Pixels and lines of a raw recording belong together, also where the storage loses some of them.
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/eventually.hpp"

#include <atomic>
#include <cerrno>
#include <thread>

namespace specklescope::raw_lines_test {

const Shape kShape{67, 45, 1, PixelType::u16};

/// Frames behind those that the storage lost get no line, and do not stay without one.
TEST(RawLines, PixelsThatGotNoLineAreCutOff) {
    const TemporaryFolder folder;
    const std::string path = folder / "cut.raw";
    std::atomic<bool> open{false};
    test::StorageLog log([&] {
        while (!open)
            std::this_thread::yield();
        return ENOSPC;
    });
    Maker maker(kShape);
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kShape));
    sink->push(maker.make(0), true);
    EXPECT_TRUE(test::eventually([&] { return log.syncs() > 0; })); // the first alone is asked for
    for (std::uint64_t n = 1; n < 5; ++n)
        sink->push(maker.make(n), true);
    EXPECT_TRUE(test::eventually([&] { return sink->status().written == 5; }));
    open = true;
    sink->close();
    EXPECT_NE(sink->status().error.find("No space left"), std::string::npos) << sink->status().error;
    std::ifstream lines(path + ".jsonl");
    std::string line;
    std::getline(lines, line);
    std::uint64_t named = 0;
    while (std::getline(lines, line))
        ++named;
    EXPECT_EQ(sink->status().written, named);
    EXPECT_EQ(fs::file_size(path), named * kShape.bytes());
}

} // namespace specklescope::raw_lines_test
