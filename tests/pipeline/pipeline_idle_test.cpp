// No thread spins when there is nothing to do.
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace specklescope::pipeline_idle_test {

using test::chain_of;
using test::eventually;
using test::options;
using Status = Source::Status;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(PipelineLife, NoThreadSpinsWithoutWork) {
    const auto idle_cpu = [](Pipeline& pipeline) {
        const double before = cpu_seconds();
        std::this_thread::sleep_for(std::chrono::seconds(1));
        EXPECT_GT(pipeline.stats().frames.acquired, 0U);
        return cpu_seconds() -
               before; // a spinning thread uses a whole second, or its share of a busy machine
    };
    {
        Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=1"), options());
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.processed > 0; }));
        pipeline.pause(true);
        ASSERT_TRUE(eventually([&] { return pipeline.stats().queue.slots_free == 0; }));
        const double used = idle_cpu(pipeline);
        RecordProperty("paused_file_cpu", std::to_string(used));
        EXPECT_LT(used, 0.2) << "paused file";
    }
    {
        Pipeline pipeline(test::camera_of(5), chain_of("speckle:radius=1"), options());
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.acquired == 5; }));
        const double used = idle_cpu(pipeline);
        RecordProperty("silent_camera_cpu", std::to_string(used));
        EXPECT_LT(used, 0.2) << "camera between frames";
    }
    {
        Pipeline pipeline(test::file_of(5), chain_of("speckle:radius=1"), options());
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return pipeline.finished(); }));
        const double used = idle_cpu(pipeline);
        RecordProperty("ended_file_cpu", std::to_string(used));
        EXPECT_LT(used, 0.2) << "ended file";
    }
}

TEST(PipelineLife, NoThreadSpinsWhileStopWaitsForABlockedSource) {
    std::atomic<bool> blocked{false};
    auto source = std::make_unique<test::ScriptedSource>(
        test::file_info(), [&](test::ScriptedSource& self, FramePort& port) {
            if (self.offered < 3) {
                self.offer(port, test::kSmall);
                return Status::frame;
            }
            blocked = true;
            std::this_thread::sleep_for(std::chrono::seconds(1)); // a driver that does not respond
            return Status::idle;
        });
    Pipeline pipeline(std::move(source), chain_of("speckle:radius=1"), options());
    pipeline.pause(true);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return blocked.load(); }));
    const double before = cpu_seconds();
    pipeline.stop();
    EXPECT_LT(cpu_seconds() - before, 0.2);
}

} // namespace specklescope::pipeline_idle_test
