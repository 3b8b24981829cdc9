// When the system refuses memory to a stage, one message states for what and how much.
#include "pipeline/chain.hpp"
#include "tests/support/no_memory.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace specklescope::test::no_room_test {

#ifdef SPECKLESCOPE_MEMORY_CAN_BE_REFUSED
TEST(NoRoom, ReportsTheRequestedSize) {
    struct Case {
        const char* stage;
        Shape shape;
        const char* sentence; ///< with the number as (\\d+)
        double least, most;   ///< of that number
    };
    constexpr Shape kLarge{8192, 4096, 1, PixelType::u16};
    // Sums, rows and mappings are per thread and smaller than the image (64 MiB); between its passes the
    // recursive Gaussian stores the whole image in f32, 128 MiB, on large pages.
    for (const Case& one :
         {Case{"speckle:radius=15", kLarge,
               "stage speckle: no room for (\\d+) KiB of sums; use a smaller image\\.", 64, 65536},
          Case{"gaussian:sigma=20,method=direct", kLarge,
               "stage gaussian: no room for (\\d+) KiB of rows; use a smaller image\\.", 64, 65536},
          Case{"gaussian:sigma=20,method=recursive", kLarge,
               "stage gaussian: no room for (\\d+) MiB between the passes; use a smaller image or method = "
               "direct\\.",
               128, 132},
          Case{"clahe:tiles=64,bins=4096",
               {2048, 2048, 1, PixelType::u16},
               "stage clahe: no room for (\\d+) KiB of mappings; use fewer tiles or bins\\.",
               64,
               4096 * 256}}) {
        Chain chain;
        chain.add(one.stage);
        const ChainStage& stage = chain.stages().front();
        const std::unique_ptr<HostStage> made = stage.type->make_host(stage.params);
        const std::string said = said_without_memory([&] { made->prepare(one.shape); });
        std::smatch found;
        ASSERT_TRUE(std::regex_match(said, found, std::regex(one.sentence))) << one.stage << ": " << said;
        EXPECT_GE(std::stod(found[1]), one.least) << said;
        EXPECT_LE(std::stod(found[1]), one.most) << said;
    }
}
#endif

} // namespace specklescope::test::no_room_test
