// Regions of a running pipeline: set before it starts or between two frames, refused where they have no
// pixel.
#include "analysis/region.hpp"

#include "base/error.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <vector>

namespace specklescope {
namespace {

using test::eventually;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

std::shared_ptr<const RegionOutlines> box(const std::string& name, double x, double y, double size) {
    return make_outlines({{name, RegionShape::rectangle, {{x, y}, {x + size - 1, y + size - 1}}, "", false}});
}

/// The mean over a square of the picture that paint() made.
double painted_mean(std::uint64_t frame, int left, int top, int size) {
    double sum = 0;
    for (int y = top; y < top + size; ++y)
        for (int x = left; x < left + size; ++x)
            sum += test::pixel(frame, x, y);
    return sum / (size * size);
}

TEST(PipelineRegions, TakeEffectBetweenFramesAndEachResultSaysWhich) {
    Pipeline pipeline(test::file_of(kEndless), Chain(), [] {
        PipelineOptions made = test::options();
        made.regions = box("first", 1, 2, 5);
        return made;
    }());
    const auto sink = std::make_shared<test::WatchingSink>();
    std::mutex mutex;
    std::vector<std::string> wrong;
    std::atomic<std::uint64_t> newest{0};
    std::uint64_t last = 0;
    sink->on_push = [&](const Result& result) {
        const std::scoped_lock lock(mutex);
        if (!result.regions || result.regions->statistics.size() != 1) {
            wrong.emplace_back("no regions");
            return;
        }
        const std::uint64_t version = result.regions->placed->version;
        const std::string& name = result.regions->placed->regions[0].name;
        const int i = name == "first" ? 0 : std::stoi(name);
        const double wanted = i == 0 ? painted_mean(result.info.sequence, 1, 2, 5)
                                     : painted_mean(result.info.sequence, i, i / 2, 3);
        if (std::abs(result.regions->statistics[0].mean - wanted) > 1e-9 * wanted)
            wrong.push_back("mean of frame " + std::to_string(result.info.sequence));
        if (version < last || result.info.version < version)
            wrong.push_back("version " + std::to_string(version));
        last = version;
        newest = version;
    };
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return sink->count() > 0; }));
    for (int i = 1; i <= 12; ++i) {
        const std::uint64_t version = pipeline.set_regions(box(std::to_string(i), i, i / 2, 3));
        ASSERT_TRUE(eventually([&] { return newest == version; }));
    }
    test::Listener listener(pipeline);
    const auto before = pipeline.regions();
    pipeline.set_regions(box("far", 24, 0, 3)); // the picture has 24 columns
    ASSERT_TRUE(eventually([&] {
        return listener.heard("Region 'far' has no pixel on the picture of 24×17 that the chain gives") == 1;
    }));
    EXPECT_EQ(pipeline.regions(), before);
    pipeline.stop();
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(wrong.empty()) << wrong.front() << " and " << wrong.size() - 1 << " more";
}

TEST(PipelineRegions, OutsideThePictureAreRefusedAtTheStart) {
    PipelineOptions made = test::options();
    made.regions = box("far", 0, 17, 3);
    Pipeline pipeline(test::file_of(3), Chain(), made);
    EXPECT_THROW(pipeline.start(), UsageError);
    EXPECT_FALSE(pipeline.started());
}

TEST(PipelineRegions, OutsideAPictureOfUnknownSizeEndTheRunWithIt) {
    auto unknown = std::make_unique<test::ScriptedSource>(test::file_info({0, 0, 1, PixelType::u16}),
                                                          [](test::ScriptedSource& self, FramePort& port) {
                                                              if (self.offered == 3)
                                                                  return Source::Status::end;
                                                              self.offer(port, test::kSmall);
                                                              return Source::Status::frame;
                                                          });
    PipelineOptions made = test::options();
    made.regions = box("far", 0, 17, 3);
    Pipeline pipeline(std::move(unknown), Chain(), made);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.status().state == RunState::failed; }));
    EXPECT_NE(pipeline.status().message.find("Region 'far' has no pixel"), std::string::npos);
    pipeline.stop();
    EXPECT_EQ(pipeline.stats().drops.failed, pipeline.stats().acquired);
}

TEST(PipelineRegions, PartlyOutsideAreMeasuredWhereTheyAreAndSaidOnce) {
    PipelineOptions made = test::options();
    made.regions = box("edge", 20, 10, 8);
    Pipeline pipeline(test::file_of(20), Chain(), made);
    const auto sink = std::make_shared<test::WatchingSink>();
    std::atomic<std::uint64_t> pixels{0};
    sink->on_push = [&](const Result& result) { pixels = result.regions->statistics[0].pixels; };
    pipeline.add_sink(sink);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    test::Listener listener(pipeline);
    EXPECT_EQ(listener.heard("Region 'edge' lies partly outside the picture of 24×17: its 28 pixels inside"),
              1)
        << listener.all();
    EXPECT_EQ(pixels, 28U);
    pipeline.stop();
}

} // namespace
} // namespace specklescope
