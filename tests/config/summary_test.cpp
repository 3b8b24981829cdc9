// What the summary counts of pixels without a value, and only where there are any.
#include "tests/support/child.hpp"

namespace specklescope {
namespace {

TEST(Summary, TellsPixelsWithoutAValueAndOnlyThose) {
    const TemporaryFolder folder;
    const auto summary = [&](char pixel) {
        std::string noise;
        for (int i = 0; i < 20 * 20; ++i)
            noise += static_cast<char>(pixel != 0 && pixel != 9 ? 20 + i * 7919 % 101 : pixel);
        write_text(folder / "one.raw", noise);
        const ChildResult result = run_program(
            {"run", "raw:one.raw?width=20&height=20&format=gray8", "--stage", "speckle:radius=1,output=sfi"},
            folder.path().string());
        EXPECT_EQ(result.status, 0) << result.all();
        return result.out;
    };
    const std::string said = "400 in the last frame, 400 in the worst, 400 pixels in all";
    const std::string black = summary(0), flat = summary(9), speckled = summary(1);
    EXPECT_NE(black.find("undefined"), std::string::npos) << black;
    EXPECT_NE(black.find(said), std::string::npos) << black;
    EXPECT_EQ(black.find("infinite"), std::string::npos) << black;
    EXPECT_NE(flat.find("infinite"), std::string::npos) << flat;
    EXPECT_NE(flat.find(said), std::string::npos) << flat;
    EXPECT_EQ(flat.find("undefined"), std::string::npos) << flat;
    EXPECT_EQ(speckled.find("undefined"), std::string::npos) << speckled;
    EXPECT_EQ(speckled.find("infinite"), std::string::npos) << speckled;
}

} // namespace
} // namespace specklescope
