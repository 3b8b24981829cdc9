// Seeks in special cases: after an unknown end, in a growing file, over lost frames.
#include "tests/support/running_film.hpp"

#include <gtest/gtest.h>

namespace specklescope::pipeline_seek_edges_test {

using test::eventually;
using test::Film;
using test::kLong;
using test::Listener;

bool ends(const Film& film) {
    return eventually(
        [&] { return film.pipeline->finished() && film.pipeline->status().state == RunState::ended; });
}

TEST(PipelineSeekEdges, ASeekAfterAnUnknownEndFailsAndPlaybackCanContinue) {
    for (const bool warm : {false, true}) {
        Film film(50, "temporal:frames=5");
        film.source->tells_length = false;
        film.pipeline->pause(true);
        film.pipeline->start();
        Listener listener(*film.pipeline);
        film.pipeline->seek(99, warm);
        EXPECT_TRUE(eventually([&] { return listener.heard("has no frame 99") == 1; })) << listener.all();
        ASSERT_TRUE(ends(film));
        EXPECT_EQ(film.pipeline->sought(), std::nullopt);
        EXPECT_EQ(film.pipeline->status().source.length, 50U) << "it is known now";
        EXPECT_EQ(film.sink->count(), 0U);
        film.pipeline->seek(10, warm);
        EXPECT_TRUE(film.comes(10));
    }
}

// A video with a known length is not checked for the frame; one without is.
TEST(PipelineSeekEdges, AFrameWithinAKnownLengthIsSoughtOnce) {
    for (const bool known : {true, false}) {
        Film film(50, "temporal:frames=5");
        film.source->tells_length = known;
        film.pipeline->pause(true);
        film.pipeline->start();
        film.pipeline->seek(20, true);
        ASSERT_TRUE(film.comes(20));
        EXPECT_EQ(film.source->seeks, known ? 1 : 2);
        film.pipeline->seek(30);
        ASSERT_TRUE(film.comes(30, 1));
        EXPECT_EQ(film.source->seeks, known ? 2 : 3) << "without its history";
    }
}

TEST(PipelineSeekEdges, AnUnreadableFrameIsReportedWithoutFailingTheRun) {
    for (const bool warm : {false, true}) {
        Film film(50, "temporal:frames=5");
        film.source->breaks_at = 20;
        film.pipeline->pause(true);
        film.pipeline->start();
        Listener listener(*film.pipeline);
        film.pipeline->seek(22, warm);
        EXPECT_TRUE(eventually([&] { return listener.heard("torn at frame 20") == 1; })) << listener.all();
        ASSERT_TRUE(ends(film));
        film.pipeline->seek(10, warm);
        EXPECT_TRUE(film.comes(10));
        film.pipeline->pause(false); // it reaches the damage during playback
        EXPECT_TRUE(eventually([&] { return film.pipeline->status().state == RunState::failed; }));
    }
}

TEST(PipelineSeekEdges, EveryExceptionOfASeekIsReported) {
    Film film(30);
    film.pipeline->start();
    ASSERT_TRUE(ends(film));
    Listener listener(*film.pipeline);
    film.source->is_odd = true;
    film.pipeline->seek(5);
    EXPECT_TRUE(eventually([&] { return listener.heard("The film is odd") == 1; })) << listener.all();
    film.source->is_odd = false;
    film.pipeline->seek(5);
    EXPECT_TRUE(film.comes(5, 30));
}

TEST(PipelineSeekEdges, AnEditTakesEffectAtTheEnd) {
    Film film(30);
    film.pipeline->start();
    ASSERT_TRUE(ends(film));
    Listener listener(*film.pipeline);
    film.pipeline->edit_source("speed", 2.0);
    EXPECT_TRUE(eventually([&] { return listener.heard("film source") == 1; })) << listener.all();
    EXPECT_EQ(film.pipeline->status().state, RunState::ended);
    film.pipeline->seek(5);
    EXPECT_TRUE(film.comes(5, 30));
}

TEST(PipelineSeekEdges, TheLengthOfAGrowingFileIsUpdatedDuringPlayback) {
    Film film(50);
    film.source->held_back = 40;
    film.pipeline->start();
    ASSERT_TRUE(film.comes(39));
    film.source->frames = 80;
    EXPECT_EQ(film.pipeline->status().source.length, 50U);
    film.source->held_back = 60;
    ASSERT_TRUE(film.comes(59));
    EXPECT_TRUE(eventually([&] { return film.pipeline->status().source.length == 80U; }));
    EXPECT_EQ(film.pipeline->status().state, RunState::running);
}

TEST(PipelineSeekEdges, LossesInSkippedPartsAreNotCounted) {
    Film film(kLong);
    film.source->lost_before = 3;
    film.pipeline->pause(true);
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->stats().queue.slots_free == 0; }))
        << "the place was read";
    film.pipeline->seek(100);
    ASSERT_TRUE(film.comes(100));
    film.pipeline->seek(10, true); // nor in hidden frames that fill windows
    ASSERT_TRUE(film.comes(10, 1));
    EXPECT_EQ(film.pipeline->stats().drops.source, 0U);
    film.pipeline->seek(2);
    ASSERT_TRUE(film.comes(2, 2));
    film.pipeline->step();
    ASSERT_TRUE(film.comes(3, 3));
    EXPECT_EQ(film.pipeline->stats().drops.source, test::FilmSource::kLost);
    const auto seen = film.sink->seen();
    ASSERT_EQ(seen.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(seen[i].sequence, i);
    EXPECT_EQ(seen[3].sequence, 3 + test::FilmSource::kLost) << "here it is one";
}

} // namespace specklescope::pipeline_seek_edges_test
