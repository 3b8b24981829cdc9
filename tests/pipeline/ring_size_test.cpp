// Number of slots of a run, and the error without memory for them.
#include "tests/support/no_memory.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

namespace specklescope::ring_size_test {

using test::options;

/// Number of slots for options that do not set it.
int slots_of(const SourceInfo& info) {
    Pipeline pipeline(std::make_unique<test::ScriptedSource>(
                          info, [](test::ScriptedSource&, FramePort&) { return test::nothing(); }),
                      Chain(), options(0));
    pipeline.start();
    return pipeline.stats().queue.slots;
}

TEST(RingSize, AFastCameraHasSlotsForEightyMilliseconds) {
    SourceInfo info = test::camera_info();
    EXPECT_EQ(slots_of(info), 64) << "small frames wait for each other";
    info.rate = 150; // 12 frames: below the minimum
    EXPECT_EQ(slots_of(info), 64);
    info.rate = 1000;
    EXPECT_EQ(slots_of(info), 80);
    info.rate = 1e9; // no real camera: rates above 10 kHz are not believed
    EXPECT_EQ(slots_of(info), 800);
    info.shape = {2048, 2048, 1, PixelType::u16}; // 512 MiB hold 64
    EXPECT_EQ(slots_of(info), 64);
    info.rate = 1000;
    info.shape = test::kSmall;
    info.live = false;
    EXPECT_EQ(slots_of(info), 128) << "small frames of a file run in groups";
    info.shape = {512, 512, 1, PixelType::u8};
    EXPECT_EQ(slots_of(info), 64);
    info.shape = {1392, 1040, 1, PixelType::u16};
    EXPECT_EQ(slots_of(info), 16);
}

#ifdef SPECKLESCOPE_MEMORY_CAN_BE_REFUSED
TEST(RingSize, ARefusedAllocationIsReportedInMiB) {
    EXPECT_EQ(test::said_without_memory([] { host_memory()->allocate(std::size_t{48} << 20); }),
              "No room for 48 MiB of frames; use a smaller image or fewer slots.");
}
#endif

} // namespace specklescope::ring_size_test
