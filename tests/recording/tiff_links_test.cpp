// Pages of a TIFF stack and what it says of them belong together, also where the storage loses some of them.
#include "tests/recording/bigtiff.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/eventually.hpp"

#include <atomic>
#include <cerrno>
#include <regex>
#include <thread>

namespace specklescope::tiff_links_test {

const Shape kShape{67, 45, 1, PixelType::u16};

std::string text_of(const std::string& path) {
    const Bytes bytes = read_bytes(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Cut {
    SinkStatus status;
    double interval_s = 0; ///< between frames, as the file says
};

/// `stored` of the groups of pages that wait for the storage reach it; the disk is full then. The second
/// group holds one frame, those behind it the rest, which come ten times as slowly.
Cut cut_off(const std::string& path, int stored) {
    std::atomic<int> calls{0};
    std::atomic<bool> open{false};
    test::StorageLog log([&] {
        if (++calls <= stored)
            return 0;
        while (!open)
            std::this_thread::yield();
        return ENOSPC;
    });
    Maker maker(kShape);
    const auto push = [&](Sink& sink, std::uint64_t n) {
        Result result = maker.make(n);
        result.info.capture_ns = static_cast<std::int64_t>(n < 2 ? n : n * 10) * 10'000'000;
        sink.push(result, true);
    };
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(kShape));
    push(*sink, 0);
    EXPECT_TRUE(test::eventually([&] { return calls >= 1; }));
    if (stored > 0) {
        EXPECT_TRUE(test::eventually([&] { return BigTiff(text_of(path)).pages().size() == 1; }));
        push(*sink, 1);
        EXPECT_TRUE(test::eventually([&] { return calls >= 2; }));
    }
    const std::uint64_t before = stored > 0 ? 2 : 1;
    for (std::uint64_t n = before; n < before + 4; ++n)
        push(*sink, n);
    EXPECT_TRUE(test::eventually([&] { return sink->status().written == before + 4; }));
    open = true;
    sink->close();
    Cut cut{sink->status()};
    const std::string text = text_of(path);
    std::smatch said;
    if (std::regex_search(text, said, std::regex("(?:TimeIncrement=\"|finterval=)([0-9.e+-]+)")))
        cut.interval_s = std::stod(said[1]);
    return cut;
}

TEST(TiffLinks, PagesThatGotNoneAreCutOff) {
    for (const char* name : {"cut.tiff", "cut.ome.tiff"})
        for (const int stored : {0, 1}) {
            const TemporaryFolder folder;
            const std::string path = folder / name;
            Cut cut = cut_off(path, stored);
            for (int tries = 0; cut.status.unstored > 0 && tries < 20; ++tries) { // we were late
                fs::remove(path);
                cut = cut_off(path, stored);
            }
            EXPECT_NE(cut.status.error.find("No space left"), std::string::npos) << cut.status.error;
            const std::size_t pages = BigTiff(text_of(path)).pages().size();
            EXPECT_EQ(pages, stored > 0 ? 2U : 1U) << name;
            EXPECT_EQ(cut.status.written, pages) << name;
            EXPECT_EQ(cut.status.dropped, (stored > 0 ? 6 : 5) - pages) << name;
            EXPECT_LT(fs::file_size(path), (pages + 2) * kShape.bytes())
                << name << ": pages without a link stay";
            if (std::string(name) == "cut.tiff") {
                const Json said = read_stack(path).at(0).description;
                EXPECT_EQ(said.at("written"), pages);
                EXPECT_EQ(said.at("dropped"), cut.status.dropped);
            }
            EXPECT_EQ(cut.status.bytes, fs::file_size(path)) << name;
            EXPECT_NEAR(cut.interval_s, 0.01, 1e-9) << name;
        }
}

} // namespace specklescope::tiff_links_test
