// Frames without times: everything that needs seconds requires a rate.
#include "analysis/baseline_image.hpp"
#include "base/error.hpp"
#include "recording/pretrigger/pre_trigger.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace specklescope::test::untimed_test {

TEST(Untimed, OptionsInSecondsRequireARate) {
    for (const TimeOrigin origin : {TimeOrigin::none, TimeOrigin::source, TimeOrigin::parameter}) {
        StreamInfo stream;
        stream.source.name = "film.tif";
        stream.source.time_origin = origin;
        const auto refused = [&](Sink& sink) {
            try {
                sink.open(stream);
                return false;
            } catch (const UsageError& error) {
                EXPECT_NE(std::string(error.what()).find("--rate"), std::string::npos) << error.what();
                return true;
            }
        };
        const bool untimed = origin == TimeOrigin::none;
        PreTrigger kept(1, 1 << 20);
        BaselineCollector of_some_time(5), of_all(std::numeric_limits<double>::infinity());
        EXPECT_EQ(refused(kept), untimed);
        EXPECT_EQ(refused(of_some_time), untimed);
        EXPECT_FALSE(refused(of_all));
    }
}

TEST(Untimed, ABaselineOfAFileWithoutTimesHasNoSeconds) {
    for (const bool timed : {false, true}) {
        BaselineCollector collector(std::numeric_limits<double>::infinity());
        for (int i = 0; i < 3; ++i) {
            const std::shared_ptr<FrameRing> ring =
                std::make_shared<FrameRing>(Shape{4, 3, 1, PixelType::f32}, 1, host_memory());
            Result result;
            result.image = ring->try_acquire();
            const HostView view = result.image.host();
            for (int y = 0; y < view.shape.height; ++y)
                std::fill_n(reinterpret_cast<float*>(view.row(y)), view.shape.width, 1.0F);
            result.info.capture_ns = i * 1'000'000'000;
            result.info.time_origin = timed ? TimeOrigin::source : TimeOrigin::none;
            collector.push(result, true);
        }
        collector.finish();
        ASSERT_TRUE(collector.taken()) << collector.error();
        EXPECT_EQ(collector.taken()->seconds(), timed ? 2 : 0);
        EXPECT_EQ(collector.taken()->text().find(" s") != std::string::npos, timed)
            << collector.taken()->text();
    }
}

} // namespace specklescope::test::untimed_test
