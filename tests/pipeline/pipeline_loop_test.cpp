// A file that is repeated, whole or between marks: what is shown, and when it ends.
#include "pipeline/source.hpp"
#include "tests/support/running_film.hpp"

#include <gtest/gtest.h>

namespace specklescope::pipeline_loop_test {

using test::eventually;
using test::Film;
using test::kLong;
using test::options;

/// A video whose frames have times: frame n at 2·n seconds.
class TimedFilm final : public test::FilmSource, public TimedFrames {
public:
    using FilmSource::FilmSource;
    std::optional<std::uint64_t> frame_at(double seconds) override {
        return static_cast<std::uint64_t>(seconds / 2);
    }
};

/// Started by frame or by time: a run that starts beyond the loop plays to the end of the file.
TEST(PipelineLoop, ARunThatStartsAfterTheLoopPlaysToTheEnd) {
    for (const bool by_time : {false, true}) {
        SCOPED_TRACE(by_time);
        PipelineOptions with = options();
        with.from_s = by_time ? 30 : 0;
        with.from = by_time ? 0 : 15;
        Pipeline pipeline(std::make_unique<TimedFilm>(40), test::chain_of(""), with);
        const auto sink = std::make_shared<test::WatchingSink>();
        pipeline.add_sink(sink);
        pipeline.set_loop(LoopRange{.first = 2, .last = 5});
        pipeline.pause(true);
        pipeline.start();
        pipeline.pause(false);
        ASSERT_TRUE(eventually([&] { return sink->count() >= 29; }));
        pipeline.stop();
        const auto seen = sink->seen();
        for (std::size_t i = 0; i < 29; ++i)
            EXPECT_EQ(seen[i].index, i < 25 ? 15 + i : 2 + i - 25) << i;
    }
}

/// The frames shown, from the first one with number `first`.
std::vector<std::uint64_t> indices(const Film& film, std::uint64_t first) {
    std::vector<std::uint64_t> numbers;
    for (const auto& info : film.sink->seen())
        if (!numbers.empty() || info.index == first)
            numbers.push_back(info.index);
    return numbers;
}

TEST(PipelineLoop, ALoopPlaysTheFramesBetweenItsMarks) {
    Film film(40);
    film.pipeline->set_loop(LoopRange{.first = 10, .last = 14});
    film.pipeline->pause(true);
    film.pipeline->start();
    film.pipeline->seek(10);
    ASSERT_TRUE(film.comes(10));
    film.pipeline->pause(false);
    ASSERT_TRUE(eventually([&] { return film.sink->count() >= 23; }));
    film.pipeline->pause(true);
    const auto seen = film.sink->seen();
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i].index, 10 + i % 5) << i;
    film.pipeline->set_loop(LoopRange{.first = 38}); // to the end of the file
    const std::size_t before = film.sink->count();
    film.pipeline->seek(36);
    ASSERT_TRUE(film.comes(36, before));
    film.pipeline->pause(false);
    const std::vector<std::uint64_t> wanted = {36, 37, 38, 39, 38, 39, 38};
    ASSERT_TRUE(eventually([&] { return indices(film, 36).size() >= wanted.size(); }));
    std::vector<std::uint64_t> shown = indices(film, 36);
    shown.resize(wanted.size());
    EXPECT_EQ(shown, wanted);
    film.pipeline->set_loop(std::nullopt);
    EXPECT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    film.expect_accounts();
}

TEST(PipelineLoop, FramesReadAheadAfterALoopAreNotShown) {
    Film film(kLong);
    std::mutex mutex;
    std::vector<bool> breaks;
    film.sink->on_push = [&](const Result& r) {
        const std::scoped_lock lock(mutex);
        breaks.push_back(r.info.discontinuity);
    };
    film.pipeline->pause(true);
    film.pipeline->start();
    film.pipeline->seek(12);
    ASSERT_TRUE(film.comes(12));
    ASSERT_TRUE(eventually([&] { return film.pipeline->stats().queue.slots_free == 0; }))
        << "13 and more are read";
    film.pipeline->set_loop(LoopRange{.first = 4, .last = 12});
    film.pipeline->pause(false);
    ASSERT_TRUE(eventually([&] { return film.sink->count() >= 20; }));
    film.pipeline->set_loop(LoopRange{.first = 4, .last = 8}); // its end moves during playback
    const std::size_t moved = film.sink->count() + 32;         // small frames in processing together
    ASSERT_TRUE(eventually([&] { return film.sink->count() >= moved + 20; }));
    film.pipeline->pause(true);
    film.pipeline->stop();
    const auto seen = film.sink->seen();
    EXPECT_EQ(seen[0].index, 12U);
    for (std::size_t i = 1; i < seen.size(); ++i) {
        EXPECT_LE(seen[i].index, i < moved ? 12U : 8U) << i;
        EXPECT_EQ(seen[i].sequence, i);
        const bool follows = seen[i].index == seen[i - 1].index + 1;
        EXPECT_TRUE(follows || seen[i].index == 4) << seen[i].index << " after " << seen[i - 1].index;
        EXPECT_EQ(breaks[i], !follows) << "histories begin anew at frame " << seen[i].index;
    }
}

TEST(PipelineLoop, ALoopRestartsAfterTheEndOfTheFile) {
    Film film(5); // all of it fits into the ring
    film.pipeline->pause(true);
    film.pipeline->start();
    film.pipeline->seek(1);
    ASSERT_TRUE(film.comes(1));
    ASSERT_TRUE(eventually([&] { return film.pipeline->stats().queue.depth == 3; }));
    film.pipeline->set_loop(LoopRange{.first = 2});
    film.pipeline->pause(false);
    ASSERT_TRUE(eventually([&] { return film.sink->count() >= 8; }));
    const auto seen = film.sink->seen();
    const std::vector<std::uint64_t> wanted = {1, 2, 3, 4, 2, 3, 4, 2};
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(seen[i].index, wanted[i]) << i;
    film.pipeline->set_loop(std::nullopt);
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    const std::size_t before = film.sink->count();
    film.pipeline->set_loop(LoopRange{.first = 3}); // after the end
    ASSERT_TRUE(eventually([&] { return film.sink->count() >= before + 5; }));
    EXPECT_EQ(film.sink->seen()[before].index, 3U);
    EXPECT_EQ(film.pipeline->status().state, RunState::running);
}

TEST(PipelineLoop, ASeekAfterTheLoopPlaysToTheEnd) {
    for (const bool warm : {false, true}) {
        Film film(20, "temporal:frames=5");
        film.pipeline->set_loop(LoopRange{.first = 4, .last = 12});
        film.pipeline->pause(true);
        film.pipeline->start();
        film.pipeline->seek(14, warm); // its window is within the loop
        ASSERT_TRUE(film.comes(14));
        film.pipeline->pause(false);
        ASSERT_TRUE(eventually([&] { return film.sink->count() >= 18; }));
        const auto seen = film.sink->seen();
        for (std::size_t i = 0; i < 18; ++i)
            EXPECT_EQ(seen[i].index, i < 6 ? 14 + i : 4 + (i - 6) % 9) << i;
    }
}

TEST(PipelineLoop, ALoopThatEndsBeforeItBeginsIsRefused) {
    Film film(20);
    film.pipeline->set_loop(LoopRange{.first = 3, .last = 3});
    try {
        film.pipeline->set_loop(LoopRange{.first = 4, .last = 3});
        FAIL() << "no error";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(),
                     "A loop that begins at frame 4 cannot end at frame 3; allowed: 4 and later.");
    }
    EXPECT_EQ(film.pipeline->loop()->last, 3U);
}

TEST(PipelineLoop, AFrameLimitAppliesInALoop) {
    PipelineOptions with = options();
    with.frames = 7;
    Film film(3, "", with);
    film.pipeline->set_loop(LoopRange{});
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_FALSE(eventually([&] { return film.sink->count() != 7; }, std::chrono::seconds(1)));
    film.expect_accounts();
}

TEST(PipelineLoop, ATruncatedVideoEndsItsLoopAndCanBeSought) {
    Film film(20);
    film.source->breaks_at = 6;
    film.pipeline->set_loop(LoopRange{});
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_EQ(film.pipeline->status().state, RunState::failed);
    test::Listener listener(*film.pipeline);
    EXPECT_FALSE(eventually([&] { return film.source->seeks > 0; }, std::chrono::seconds(1)));
    EXPECT_EQ(listener.heard("is torn at frame 6"), 1);
    film.pipeline->seek(2);
    ASSERT_TRUE(eventually([&] { return film.sink->count() == 6 + 4; }));
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_EQ(film.pipeline->status().state, RunState::failed);
    EXPECT_EQ(listener.heard("is torn at frame 6"), 2);
    film.source->breaks_at = ~std::uint64_t{0};
    film.pipeline->seek(7);
    ASSERT_TRUE(film.comes(7));
    film.pipeline->set_loop(std::nullopt); // the seek is still pending
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_EQ(film.pipeline->status().state, RunState::ended);
    film.expect_accounts();
}

TEST(PipelineLoop, AMarkBeyondTheFileEndsTheLoopWithAMessage) {
    Film film(5);
    film.pipeline->set_loop(LoopRange{.first = 9});
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_EQ(test::Listener(*film.pipeline).heard("has no frame 9; allowed: 0…4."), 1);
    EXPECT_FALSE(film.pipeline->loop().has_value());
}

TEST(PipelineLoop, AFailingRestartIsTriedOnce) {
    Film film(5);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    test::Listener listener(*film.pipeline);
    film.source->is_odd = true;
    film.pipeline->set_loop(LoopRange{});
    ASSERT_TRUE(eventually([&] { return listener.heard("The film is odd") > 0; }));
    EXPECT_TRUE(eventually([&] { return !film.pipeline->loop().has_value(); }));
    EXPECT_EQ(listener.heard("The film is odd"), 1);
    film.source->is_odd = false;
    film.pipeline->seek(2);
    EXPECT_TRUE(film.comes(2, 5));
    EXPECT_EQ(film.source->seeks, 2) << "once for the loop";
}

} // namespace specklescope::pipeline_loop_test
