// Marks behind the last frame of a recording are in no file, which is said.
#include "base/log.hpp"
#include "tests/recording/record_helpers.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace specklescope::late_marks_test {

const Shape kSmall{8, 8, 1, PixelType::u8};

class LateMarks : public testing::Test {
protected:
    LateMarks() {
        log_to(std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_, true)));
    }
    ~LateMarks() override { log_to(nullptr); }
    LateMarks(const LateMarks&) = delete;
    LateMarks& operator=(const LateMarks&) = delete;
    std::size_t said(const std::string& what) const {
        const std::string text = log_.str();
        std::size_t count = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            ++count;
        return count;
    }
    std::ostringstream log_;
    const TemporaryFolder folder_;
};

TEST_F(LateMarks, AreSaidByTheirNamesAndThoseBeforeAreInTheFile) {
    Maker maker(kSmall);
    const auto sink = make_recorder({.path = folder_ / "a.tiff", .what = RecordWhat::raw});
    sink->open(stream_of(kSmall));
    sink->push(maker.make(0), true);
    sink->mark({.number = 1, .sequence = 1, .capture_ns = 7, .label = "stimulus"});
    sink->push(maker.make(1), true);
    sink->mark({.number = 2, .sequence = 1, .capture_ns = 8, .label = "too\nlate"});
    sink->mark({.number = 3, .sequence = 1, .capture_ns = 9, .label = "later"});
    sink->close();
    const std::vector<Page> pages = read_stack(folder_ / "a.tiff");
    ASSERT_EQ(pages.size(), 2U);
    EXPECT_EQ(pages[1].description.at("events").at(0).at("label"), "stimulus");
    EXPECT_EQ(pages[1].description.at("events").size(), 1U);
    const std::string file = folder_ / "a.tiff";
    EXPECT_EQ(said("' came after the last frame of " + file), 2U) << log_.str();
    EXPECT_EQ(said("Event 'later'"), 1U) << log_.str();
    EXPECT_EQ(said("too\nlate"), 0U) << "one line: " << log_.str();
    EXPECT_EQ(said("Event 'stimulus'"), 0U) << log_.str();
    sink->mark({.number = 4, .sequence = 1, .capture_ns = 9, .label = "closed"});
    sink->close();
    EXPECT_EQ(said("closed"), 0U) << "what is not recorded is not missed";
}

TEST_F(LateMarks, OfTheNextRecordingAreItsOwn) {
    Maker maker(kSmall);
    const auto sink = make_recorder({.path = folder_ / "a.tiff", .what = RecordWhat::raw});
    for (int round = 0; round < 2; ++round) {
        sink->open(stream_of(kSmall));
        sink->push(maker.make(0), true);
        if (round == 0)
            sink->mark({.number = 1, .sequence = 0, .capture_ns = 7, .label = "first"});
        sink->close();
    }
    EXPECT_EQ(said("Event 'first' came after the last frame"), 1U) << log_.str();
    EXPECT_FALSE(read_stack(folder_ / "a-1.tiff").at(0).description.at("frame").contains("events"));
}

} // namespace specklescope::late_marks_test
