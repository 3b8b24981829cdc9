// Seeks in a file that plays, is paused or has ended: what is shown, what windows contain, what is counted.
#include "tests/support/running_film.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <set>

namespace specklescope::pipeline_seek_test {

using test::chain_of;
using test::eventually;
using test::Film;
using test::kLong;
using test::options;

/// The image of each frame of a sequential run that starts at `from`.
std::vector<std::string> run(const std::string& chain, std::uint64_t from, std::uint64_t to) {
    PipelineOptions with = options();
    with.from = from;
    Film film(to, chain, with);
    std::vector<std::string> images(to);
    film.sink->on_push = [&](const Result& r) {
        std::string& bytes = images[*r.info.position];
        for (int y = 0; y < r.image.shape().height; ++y)
            bytes.append(reinterpret_cast<const char*>(r.image.host().row(y)), r.image.shape().row_bytes());
    };
    film.pipeline->start();
    EXPECT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    film.pipeline->stop();
    EXPECT_EQ(film.sink->count(), to - from);
    return images;
}

TEST(PipelineSeek, NoEarlierFrameIsShownAfterIt) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    Film film(kLong);
    film.pipeline->start();
    for (int i = 1; i <= 20; ++i) {
        const std::uint64_t to = static_cast<std::uint64_t>(i) * 1'000'000 + random() % 1000;
        const std::size_t before = film.sink->count();
        film.pipeline->seek(to);
        ASSERT_TRUE(film.comes(to, before));
    }
    film.pipeline->pause(true);
    film.pipeline->stop();
    const auto seen = film.sink->seen();
    std::uint64_t last = 0;
    for (const auto& s : seen) {
        EXPECT_GE(s.index / 1'000'000, last / 1'000'000) << "an older place, after frame " << last;
        last = s.index;
    }
    const StatsSnapshot s = film.pipeline->stats();
    EXPECT_GT(s.frames.passed_over + s.frames.processed, 20U);
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i].sequence, i);
}

TEST(PipelineSeek, APausedFileShowsTheFrameAndStaysPaused) {
    Film film(kLong);
    film.pipeline->pause(true);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->stats().queue.slots_free == 0; }))
        << "the ring is full";
    EXPECT_EQ(film.sink->count(), 0U);
    for (const std::uint64_t to : {500U, 20U, 21U, 0U, 7U}) {
        const std::size_t before = film.sink->count();
        film.pipeline->seek(to);
        ASSERT_TRUE(film.comes(to, before));
        ASSERT_TRUE(eventually([&] { return film.pipeline->stats().queue.slots_free == 0; }));
        EXPECT_EQ(film.sink->count(), before + 1) << "one frame, no more";
        EXPECT_EQ(film.pipeline->status().state, RunState::paused);
    }
    film.pipeline->step();
    ASSERT_TRUE(film.comes(8, 5));
    film.pipeline->step(); // a step, then a seek: the step is not kept
    film.pipeline->seek(100);
    ASSERT_TRUE(film.comes(100));
    const std::size_t stands = film.sink->count();
    EXPECT_FALSE(eventually([&] { return film.sink->count() > stands; }, std::chrono::seconds(1)));
    const StatsSnapshot s = film.pipeline->stats();
    EXPECT_EQ(s.frames.acquired,
              s.frames.processed + s.frames.passed_over + static_cast<std::uint64_t>(s.queue.depth));
    film.pipeline->pause(false);
    EXPECT_TRUE(film.comes(101));
}

TEST(PipelineSeek, TheLastOfSeveralCounts) {
    Film film(kLong);
    film.pipeline->pause(true);
    film.pipeline->start();
    for (std::uint64_t to = 1000; to <= 2000; ++to)
        film.pipeline->seek(to);
    ASSERT_TRUE(film.comes(2000));
    EXPECT_EQ(film.sink->seen().back().index, 2000U);
}

TEST(PipelineSeek, WindowsRestartLikeInARunThatStartsThere) {
    const std::string chain = "temporal:frames=5";
    const auto there = run(chain, 20, 26);
    const auto straight = run(chain, 0, 26);
    ASSERT_NE(there[21], straight[21]) << "a history that begins there is another";
    Film film(26, chain);
    std::mutex mutex;
    std::vector<std::pair<std::uint64_t, std::string>> images;
    std::vector<bool> warm;
    film.sink->on_push = [&](const Result& r) {
        std::string bytes;
        for (int y = 0; y < r.image.shape().height; ++y)
            bytes.append(reinterpret_cast<const char*>(r.image.host().row(y)), r.image.shape().row_bytes());
        const std::scoped_lock lock(mutex);
        images.emplace_back(*r.info.position, std::move(bytes));
        warm.push_back(r.warmup.done());
    };
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    film.pipeline->seek(20);
    ASSERT_TRUE(eventually([&] { return film.sink->count() == 26 + 6; }));
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    for (std::size_t i = 26; i < images.size(); ++i) {
        EXPECT_EQ(images[i].first, i - 6);
        EXPECT_TRUE(images[i].second == there[i - 6]) << "frame " << i - 6;
        EXPECT_EQ(warm[i], i - 26 >= 4) << "the warm-up counts again";
    }
    film.expect_accounts();
    EXPECT_EQ(test::Listener(*film.pipeline).heard("at frame 20"), 1);
}

TEST(PipelineSeek, AWarmSeekShowsTheImageOfARun) {
    const std::string chain = "temporal:frames=5";
    const auto straight = run(chain, 0, 40);
    Film film(40, chain);
    std::mutex mutex;
    std::string last;
    bool done = false;
    film.sink->on_push = [&](const Result& r) {
        const std::scoped_lock lock(mutex);
        last.clear();
        for (int y = 0; y < r.image.shape().height; ++y)
            last.append(reinterpret_cast<const char*>(r.image.host().row(y)), r.image.shape().row_bytes());
        done = r.warmup.done();
        EXPECT_TRUE(r.info.discontinuity) << "it follows none that was seen";
    };
    film.pipeline->pause(true);
    film.pipeline->start();
    std::size_t shown = 0;
    for (const std::uint64_t to : {30U, 29U, 28U, 4U, 2U, 0U, 39U}) {
        film.pipeline->seek(to, true);
        ++shown;
        ASSERT_TRUE(film.comes(to, shown - 1));
        EXPECT_EQ(film.sink->count(), shown) << "frames that fill the histories are not shown";
        const std::scoped_lock lock(mutex);
        EXPECT_TRUE(last == straight[to]) << "frame " << to;
        EXPECT_EQ(done, to >= 4);
    }
    EXPECT_GE(film.pipeline->stats().frames.passed_over, 4U * 4 + 2 + 4);
    film.pipeline->pause(false);
    film.pipeline->stop();
    const auto seen = film.sink->seen();
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i].sequence, i);
}

TEST(PipelineSeek, ARefusedSeekChangesNothing) {
    Film film(50);
    film.pipeline->pause(true);
    film.pipeline->start();
    film.pipeline->seek(10);
    ASSERT_TRUE(film.comes(10));
    test::Listener listener(*film.pipeline);
    for (const bool warm : {false, true}) {
        film.pipeline->seek(50, warm);
        ASSERT_TRUE(
            eventually([&] { return listener.heard("has no frame 50; allowed: 0…49.") == 1 + warm; }));
    }
    film.source->frames = 60; // it grows
    film.pipeline->seek(55);
    ASSERT_TRUE(film.comes(55));
    EXPECT_EQ(film.pipeline->status().source.length, 60U);
    film.pipeline->seek(10);
    ASSERT_TRUE(film.comes(10, 2));
    film.pipeline->seek(77);
    ASSERT_TRUE(eventually([&] { return listener.heard("has no frame 77; allowed: 0…59.") == 1; }));
    film.pipeline->step();
    ASSERT_TRUE(film.comes(11, 3)) << "it goes on where it was";
    EXPECT_EQ(film.sink->count(), 4U);
}

TEST(PipelineSeek, PlaybackContinuesAfterASeekFromTheEnd) {
    Film film(30);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_EQ(film.pipeline->status().state, RunState::ended);
    for (std::size_t round = 1; round <= 10; ++round) {
        film.pipeline->seek(25);
        ASSERT_TRUE(eventually([&] { return film.sink->count() == 30 + 5 * round; }));
        ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
        EXPECT_EQ(film.pipeline->status().state, RunState::ended);
    }
    film.expect_accounts();
    film.pipeline->stop();
    EXPECT_EQ(film.sink->after_close, 0);
}

TEST(PipelineSeek, AFileOfOneFrame) {
    Film film(1);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    film.pipeline->seek(0);
    ASSERT_TRUE(eventually([&] { return film.sink->count() == 2; }));
    test::Listener listener(*film.pipeline);
    film.pipeline->seek(1, true);
    ASSERT_TRUE(eventually([&] { return listener.heard("has no frame 1; allowed: 0.") == 1; }));
    film.expect_accounts();
}

TEST(PipelineSeek, ARunMayStartAtAnyFrame) {
    PipelineOptions with = options();
    with.from = 100;
    with.frames = 50;
    Film film(1000, "", with);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    const auto seen = film.sink->seen();
    ASSERT_EQ(seen.size(), 50U);
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i].index, 100 + i);
    film.expect_accounts();
    with.from = 1000;
    Film beyond(1000, "", with);
    try {
        beyond.pipeline->start();
        FAIL() << "no error";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(), "'film' has no frame 1000; allowed: 0…999.");
    }
    EXPECT_FALSE(beyond.pipeline->started());
}

TEST(PipelineSeek, AnEditOfAPausedFileTakesEffect) {
    Film film(kLong);
    film.pipeline->pause(true);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->stats().queue.slots_free == 0; }))
        << "the ring is full";
    test::Listener listener(*film.pipeline);
    film.pipeline->edit_source("speed", 2.0);
    EXPECT_TRUE(eventually([&] { return listener.heard("film source") == 1; })) << listener.all();
    EXPECT_EQ(film.sink->count(), 0U);
}

TEST(PipelineSeek, ReportsThePendingFrame) {
    Film film(50);
    film.source->held_back = 30;
    film.pipeline->pause(true);
    film.pipeline->start();
    EXPECT_EQ(film.pipeline->sought(), std::nullopt);
    film.pipeline->seek(40);
    EXPECT_EQ(film.pipeline->sought(), 40U);
    ASSERT_TRUE(eventually([&] { return film.source->seeks == 1; }));
    EXPECT_FALSE(eventually([&] { return film.pipeline->sought() != 40U; }, std::chrono::seconds(1)));
    film.source->held_back = ~std::uint64_t{0};
    ASSERT_TRUE(eventually([&] { return !film.pipeline->sought(); }));
    EXPECT_EQ(film.sink->count(), 1U) << "it is there";
    film.pipeline->seek(50);
    ASSERT_TRUE(eventually([&] { return !film.pipeline->sought(); })) << "refused";
    film.source->breaks_at = 20;
    film.pipeline->seek(25);
    ASSERT_TRUE(eventually([&] { return !film.pipeline->sought(); })) << "cannot be read";
    EXPECT_EQ(film.sink->count(), 1U);
}

TEST(PipelineSeek, AStepDuringASeekFollowsIt) {
    Film film(50);
    film.pipeline->pause(true);
    film.pipeline->start();
    for (std::uint64_t i = 0; i < 300; ++i) {
        const std::uint64_t target = 7 * i % 40;
        film.pipeline->seek(target);
        film.pipeline->step();
        Result shown;
        ASSERT_TRUE(test::wait_result(*film.pipeline, shown, [&](const Result& r) {
            return r.info.position == target + 1;
        })) << i;
        ASSERT_FALSE(film.pipeline->sought());
    }
}

TEST(PipelineSeek, AnUnknownLengthIsKnownAtTheEnd) {
    Film film(20);
    film.source->tells_length = false;
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_EQ(film.pipeline->status().source.length, 20U);
}

TEST(PipelineSeek, ALiveSourceRefuses) {
    Pipeline pipeline(test::camera_of(kLong), chain_of(""), options());
    pipeline.start();
    test::Listener listener(pipeline);
    pipeline.seek(3);
    EXPECT_TRUE(eventually([&] { return listener.heard("No frame of this source can be chosen") == 1; }));
    Result result;
    EXPECT_TRUE(test::wait_result(pipeline, result, [](const Result& r) { return !r.info.position; }));
}

TEST(PipelineSeek, StopsDuringASeek) {
    for (int i = 0; i < 20; ++i) {
        Film film(kLong, i % 2 ? "temporal:frames=9" : "");
        film.pipeline->pause(i % 3 == 0);
        film.pipeline->start();
        film.source->held_back = static_cast<std::uint64_t>(500 + i % 5);
        film.pipeline->seek(500 + static_cast<std::uint64_t>(i), i % 2 == 1);
        film.pipeline->stop();
        EXPECT_EQ(film.sink->after_close, 0);
    }
}

} // namespace specklescope::pipeline_seek_test
