// An edit of a paused file that empties the history of a stage: the frames before are processed again, so
// that the image is that of a run.
#include "tests/support/running_film.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace specklescope::pipeline_refresh_test {

using test::eventually;
using test::Film;

constexpr const char* kFirst = "average:frames=4";
constexpr std::uint64_t kFrame = 20;

std::string pixels_of(const Result& result) {
    std::string pixels;
    const HostView view = result.image.host();
    const std::size_t row =
        static_cast<std::size_t>(view.shape.width) * view.shape.channels * pixel_bytes(view.shape.type);
    for (int y = 0; y < view.shape.height; ++y)
        pixels.append(reinterpret_cast<const char*>(view.row(y)), row);
    return pixels;
}

/// The image of this frame in a run from the beginning.
std::string pixels_of_run(const std::string& chain, std::uint64_t frame, const std::string& more = "") {
    Film film(frame + 1, chain);
    if (!more.empty())
        film.pipeline->edit([&](Chain& edited) { edited.add(more); });
    Result last;
    film.pipeline->start();
    EXPECT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    EXPECT_TRUE(film.pipeline->mailbox().take(last));
    EXPECT_EQ(last.info.position, frame);
    return pixels_of(last);
}

class PipelineRefresh : public testing::Test {
protected:
    /// Pauses at a frame with the history of a run.
    void stand_at(std::uint64_t frame) {
        film.pipeline->pause(true);
        film.pipeline->start();
        film.pipeline->seek(frame, true);
        ASSERT_TRUE(test::wait_result(
            *film.pipeline, shown, [&](const Result& r) { return r.info.position == frame && !r.repeated; }));
    }
    bool shows_version(std::uint64_t version) {
        return test::wait_result(*film.pipeline, shown,
                                 [&](const Result& r) { return r.info.version == version; });
    }
    Film film{50, kFirst};
    Result shown;
};

TEST_F(PipelineRefresh, ShowsTheImageOfARun) {
    stand_at(kFrame);
    EXPECT_EQ(pixels_of(shown), pixels_of_run(kFirst, kFrame));
    const std::size_t recorded = film.sink->count();
    const std::uint64_t sequence = shown.info.sequence;
    for (const int frames : {9, 3, 30}) {
        ASSERT_TRUE(shows_version(film.pipeline->edit(0, "frames", std::int64_t{frames})));
        EXPECT_EQ(pixels_of(shown), pixels_of_run("average:frames=" + std::to_string(frames), kFrame))
            << frames;
        EXPECT_TRUE(shown.repeated);
        EXPECT_EQ(shown.info.sequence, sequence);
        EXPECT_EQ(shown.info.position, kFrame);
        EXPECT_EQ(shown.warmup.done(), frames <= 20);
    }
    EXPECT_EQ(film.sink->count(), recorded) << "repeated images are not recorded";
    film.pipeline->pause(false);
    ASSERT_TRUE(film.comes(kFrame + 1, recorded));
    EXPECT_EQ(film.sink->seen()[recorded].sequence, sequence + 1) << "none skipped, none twice";
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    ASSERT_TRUE(
        test::wait_result(*film.pipeline, shown, [](const Result& r) { return r.info.position == 49; }));
    EXPECT_EQ(pixels_of(shown), pixels_of_run("average:frames=30", 49));
    const StatsSnapshot stats = film.pipeline->stats();
    EXPECT_EQ(stats.frames.acquired, stats.frames.processed + stats.drops.failed + stats.frames.passed_over);
}

/// A slider that is dragged: each image that comes is complete, and the last edit is shown.
TEST_F(PipelineRefresh, ManyEditsEndWithTheLast) {
    stand_at(kFrame);
    std::uint64_t last = 0;
    for (int i = 0; i < 60; ++i)
        last = film.pipeline->edit(0, "frames", std::int64_t{2 + i % 17});
    ASSERT_TRUE(shows_version(last));
    EXPECT_EQ(pixels_of(shown), pixels_of_run("average:frames=" + std::to_string(2 + 59 % 17), kFrame));
    EXPECT_FALSE(film.pipeline->sought());
}

TEST_F(PipelineRefresh, ASeekMeanwhileCounts) {
    stand_at(kFrame);
    film.pipeline->edit(0, "frames", std::int64_t{15});
    film.pipeline->seek(40, true);
    ASSERT_TRUE(
        test::wait_result(*film.pipeline, shown, [](const Result& r) { return r.info.position == 40; }));
    ASSERT_TRUE(eventually([&] { return !film.pipeline->sought(); }));
    while (film.pipeline->mailbox().take(shown)) {
    }
    EXPECT_EQ(pixels_of(shown), pixels_of_run("average:frames=15", 40));
}

/// An edit after the last stage with a history needs no frame again.
TEST_F(PipelineRefresh, AKeptHistoryIsUsed) {
    stand_at(kFrame);
    const int seeks = film.source->seeks;
    ASSERT_TRUE(shows_version(film.pipeline->edit([](Chain& chain) { chain.add("gamma:gamma=2"); })));
    EXPECT_EQ(film.source->seeks, seeks);
    EXPECT_EQ(pixels_of(shown), pixels_of_run(kFirst, kFrame, "gamma:gamma=2"));
}

/// A cold seek, as asked for, stays so; playing on from there and pausing shows the image of a run.
TEST_F(PipelineRefresh, APauseInAWarmUpFillsTheHistory) {
    film.pipeline->pause(true);
    film.pipeline->start();
    film.pipeline->seek(30);
    ASSERT_TRUE(
        test::wait_result(*film.pipeline, shown, [](const Result& r) { return r.info.position == 30; }));
    EXPECT_FALSE(shown.warmup.done());
    film.pipeline->step();
    ASSERT_TRUE(test::wait_result(*film.pipeline, shown,
                                  [](const Result& r) { return r.info.position == 31 && r.warmup.done(); }));
    EXPECT_EQ(pixels_of(shown), pixels_of_run(kFirst, 31));
}

} // namespace specklescope::pipeline_refresh_test
