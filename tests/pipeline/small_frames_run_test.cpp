// Small frames of a file, read ahead and computed in groups, while the run is edited, paused, sought and
// looped: every frame in order, with the history that it states.
#include "sources/registry.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::test::small_frames_run_test {

constexpr std::uint64_t kFrames = 6000;
constexpr int kWidth = 32, kHeight = 16;

double value_of(std::uint64_t frame) { return static_cast<double>(frame * 37 % 251); }

/// Frames of one value each.
std::string bytes_of_file() {
    std::string bytes;
    for (std::uint64_t frame = 0; frame < kFrames; ++frame)
        bytes.append(kWidth * kHeight, static_cast<char>(static_cast<unsigned char>(value_of(frame))));
    return bytes;
}

/// Checks each result against the one before it.
class Checker final : public Sink {
public:
    void open(const StreamInfo&) override {}
    void push(const Result& result, bool) override {
        const FrameInfo& info = result.info;
        const std::uint64_t place = info.position.value();
        if (count > 0 && !info.discontinuity && place != place_ + 1)
            report(place, "comes after frame " + std::to_string(place_));
        if (count > 0 && info.sequence != sequence_ + 1)
            report(place, "has another number than the next");
        if (info.version < version_)
            report(place, "has an older version");
        const auto held = static_cast<std::uint64_t>(result.warmup.done() ? 3 : result.warmup.frames);
        double mean = 0;
        for (std::uint64_t i = 0; i < held; ++i)
            mean += value_of(place - i) / static_cast<double>(held);
        if (std::abs(result.image.host().as<float>().row(kHeight - 1)[kWidth - 1] - mean) > 1e-3)
            report(place, "is not the mean of " + std::to_string(held));
        place_ = place;
        sequence_ = info.sequence;
        version_ = info.version;
        ++count;
    }
    void close() noexcept override {}
    bool wants_host_image() const override { return true; }
    SinkStatus status() const override { return {}; }

    std::atomic<std::uint64_t> count{0};
    std::string wrong; ///< read after the run

private:
    void report(std::uint64_t place, const std::string& what) {
        if (wrong.size() < 1000)
            wrong += "frame " + std::to_string(place) + " " + what + "\n";
    }
    std::uint64_t place_ = 0, sequence_ = 0, version_ = 0;
};

TEST(SmallFramesOfAFile, KeepTheirOrderAndTheirHistories) {
    const TemporaryFolder folder;
    write_file(folder / "small.raw", bytes_of_file());
    for (unsigned seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(seed);
        auto random = test_random(seed);
        const auto below = [&](std::uint64_t end) {
            return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random);
        };
        PipelineOptions options;
        options.threads = 4;
        Chain chain;
        for (const char* stage : {"gaussian:method=binomial5", "average:frames=3", "gaussian:sigma=1"})
            chain.add(stage);
        Pipeline pipeline(make_source("raw:" + folder / "small.raw" + "?width=32&height=16", {}), chain,
                          options);
        pipeline.viewer_wants_host(false);
        const auto checker = std::make_shared<Checker>();
        pipeline.add_sink(checker);
        pipeline.start();
        for (int step = 0; step < 60; ++step) {
            switch (below(7)) {
            case 0:
                pipeline.seek(below(kFrames), below(2) == 0);
                break;
            case 1:
                pipeline.edit([&](Chain& edited) {
                    edited.stages()[2].params.set("sigma", 1.0 + static_cast<double>(below(3)) / 4);
                });
                break;
            case 2:
                pipeline.edit([&](Chain& edited) { edited.stages()[2].bypassed = below(2) == 0; });
                break;
            case 3:
                pipeline.pause(true);
                pipeline.step();
                break;
            case 4: {
                const std::uint64_t first = below(kFrames - 100);
                pipeline.set_loop(LoopRange{.first = first, .last = first + 1 + below(99)});
                break;
            }
            case 5: {
                const auto other = std::make_shared<Checker>();
                pipeline.add_sink(other);
                pipeline.remove_sink(other);
                EXPECT_EQ(other->wrong, "");
                break;
            }
            default:
                pipeline.pause(false);
                pipeline.set_loop(std::nullopt);
                pipeline.seek(below(kFrames / 2), below(2) == 0);
            }
            const std::uint64_t enough = checker->count + below(200);
            (void)eventually(
                [&] { return checker->count >= enough || pipeline.paused() || pipeline.finished(); });
        }
        pipeline.set_loop(std::nullopt);
        pipeline.pause(false);
        pipeline.seek(kFrames - 500, true);
        ASSERT_TRUE(eventually([&] { return pipeline.finished() && !pipeline.sought(); }));
        pipeline.stop();
        EXPECT_EQ(checker->wrong, "");
        const StatsSnapshot stats = pipeline.stats();
        EXPECT_EQ(stats.frames.processed, checker->count);
        EXPECT_EQ(stats.frames.acquired,
                  stats.frames.processed + stats.frames.passed_over + stats.drops.total());
        EXPECT_EQ(stats.drops.total(), 0U);
    }
}

} // namespace specklescope::test::small_frames_run_test
