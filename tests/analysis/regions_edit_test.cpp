// Regions of a running pipeline: set before the start or between two frames, refused without a pixel.
#include "analysis/region.hpp"

#include "base/error.hpp"
#include "pipeline/executor.hpp"
#include "recording/traces.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <sstream>
#include <vector>

namespace specklescope::regions_edit_test {

using test::eventually;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

std::shared_ptr<const RegionOutlines> box(const std::string& name, double x, double y, double size) {
    return make_outlines({{name, RegionShape::rectangle, {{x, y}, {x + size - 1, y + size - 1}}, "", false}});
}

/// The mean over a square of the image from paint().
double painted_mean(std::uint64_t frame, int left, int top, int size) {
    double sum = 0;
    for (int y = top; y < top + size; ++y)
        for (int x = left; x < left + size; ++x)
            sum += test::pixel(frame, x, y);
    return sum / (size * size);
}

TEST(PipelineRegions, TakeEffectBetweenFramesAndAreNamedInEachResult) {
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
        return listener.heard("Region 'far' has no pixel in the image of 24×17 that the chain gives") == 1;
    }));
    EXPECT_EQ(pipeline.regions(), before);
    pipeline.stop();
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(wrong.empty()) << wrong.front() << " and " << wrong.size() - 1 << " more";
}

TEST(PipelineRegions, OutsideTheImageAreRefusedAtTheStart) {
    PipelineOptions made = test::options();
    made.regions = box("far", 0, 17, 3);
    Pipeline pipeline(test::file_of(3), Chain(), made);
    EXPECT_THROW(pipeline.start(), UsageError);
    EXPECT_FALSE(pipeline.started());
}

TEST(PipelineRegions, OutsideAnImageOfUnknownSizeEndTheRun) {
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
    EXPECT_EQ(pipeline.stats().drops.failed, pipeline.stats().frames.acquired);
}

TEST(PipelineRegions, PartlyOutsideAreMeasuredInsideAndReportedOnce) {
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
    EXPECT_EQ(listener.heard("Region 'edge' lies partly outside the image of 24×17: its 28 pixels inside"), 1)
        << listener.all();
    EXPECT_EQ(pixels, 28U);
    pipeline.stop();
}

/// The image of 24×17 is checked at the start. Changes of the chain's output are marked afterwards.
TEST(PipelineRegions, AnEditBeforeTheFirstFrameMarksRegionsThatDoNotFit) {
    PipelineOptions made = test::options();
    made.regions = box("right", 16, 3, 4);
    Pipeline pipeline(test::file_of(3), Chain(), made);
    const auto sink = std::make_shared<test::WatchingSink>();
    std::atomic<int> outside{0};
    sink->on_push = [&](const Result& result) {
        const PlacedRegion& region = result.regions->placed->regions[0];
        outside += region.fit == RegionFit::outside && region.pixels == 0 ? 1 : 0;
    };
    pipeline.add_sink(sink);
    pipeline.pause(true);
    pipeline.start();
    pipeline.set_chain(test::chain_of("crop:width=10,height=10"));
    test::Listener listener(pipeline);
    ASSERT_TRUE(eventually([&] { return pipeline.chain()->stages().size() == 1; }));
    pipeline.pause(false);
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    EXPECT_EQ(pipeline.status().state, RunState::ended) << pipeline.status().message;
    EXPECT_EQ(outside, 3);
    EXPECT_EQ(listener.heard("Region 'right' lies wholly outside the image of 10×10"), 1) << listener.all();
    pipeline.stop();
}

ExecutorMaker three_in_turn() {
    return [](std::string*) {
        std::vector<std::unique_ptr<Executor>> members;
        for (int i = 0; i < 3; ++i)
            members.push_back(make_host_executor(1));
        return make_round_robin_executor(std::move(members));
    };
}

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
    std::vector<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.find(part) != std::string::npos)
            found.push_back(line);
    return found;
}

/// Each of several GPUs has placed the regions itself: they are still the same.
TEST(PipelineRegions, OfSeveralGpusAreReportedOnce) {
    const TemporaryFolder folder;
    PipelineOptions made = test::options(12);
    made.regions = box("edge", 20, 10, 8);
    made.executor = three_in_turn();
    Pipeline pipeline(test::file_of(40), Chain(), made);
    pipeline.add_sink(make_traces(folder / "t.csv"));
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    test::Listener listener(pipeline);
    EXPECT_EQ(listener.heard("Region 'edge' lies partly outside"), 1) << listener.all();
    pipeline.stop();
    const std::string text = test::read_file(folder / "t.csv");
    EXPECT_EQ(lines_with(text, "# version 0, region: edge").size(), 1U) << text;
    EXPECT_EQ(lines_with(text, ",edge,").size(), 40U);
}

/// A camera changes its exposure by itself, or by an edit of the source, and the flow depends on it.
TEST(PipelineRegions, TracesRecordAChangeOfTheExposureInPlace) {
    const TemporaryFolder folder;
    auto source = std::make_unique<test::ScriptedSource>(
        test::file_info(), [](test::ScriptedSource& self, FramePort& port) {
            if (self.offered == 9)
                return Source::Status::end;
            Frame frame = port.acquire(test::kSmall);
            test::paint(frame.host(), self.offered);
            frame.info().exposure_ms = self.offered++ < 6 ? 5 : 8;
            frame.info().exposure_origin = ExposureOrigin::camera;
            port.submit(std::move(frame));
            return Source::Status::frame;
        });
    PipelineOptions made = test::options();
    made.regions = box("box", 2, 2, 8);
    Pipeline pipeline(std::move(source), test::chain_of("speckle:output=sfi"), made);
    pipeline.add_sink(make_traces(folder / "t.csv"));
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
    pipeline.stop();
    const std::string text = test::read_file(folder / "t.csv");
    const auto told = lines_with(text, "exposure:");
    ASSERT_EQ(told.size(), 2U) << text;
    EXPECT_EQ(told[1], "# version 0, exposure: 8 ms (camera)");
    EXPECT_LT(text.find("\n5,"), text.find(told[1]));
    EXPECT_GT(text.find("\n6,"), text.find(told[1]));
}

/// A sink that blocks causes dropped frames.
TEST(PipelineRegions, OnlyRowsOfDroppedFramesAreMissing) {
    const TemporaryFolder folder;
    constexpr std::uint64_t kFrames = 300;
    PipelineOptions made = test::options();
    made.regions = box("box", 2, 2, 8);
    Pipeline pipeline(test::camera_of(kFrames), Chain(), made);
    const auto sink = std::make_shared<test::WatchingSink>();
    sink->shut(true);
    pipeline.add_sink(sink);
    pipeline.add_sink(make_traces(folder / "t.csv"));
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired == kFrames; }));
    EXPECT_GT(pipeline.stats().drops.total(), 0U);
    sink->shut(false);
    ASSERT_TRUE(eventually([&] { return sink->count() + pipeline.stats().drops.total() == kFrames; }));
    pipeline.stop();
    const auto rows = lines_with(test::read_file(folder / "t.csv"), ",box,");
    const auto seen = sink->seen();
    ASSERT_EQ(rows.size(), seen.size());
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_TRUE(rows[i].starts_with(std::to_string(seen[i].sequence) + ",")) << rows[i];
    EXPECT_LT(seen.size(), kFrames);
}

} // namespace specklescope::regions_edit_test
