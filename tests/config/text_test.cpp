// Suggestions for mistyped words.
#include "config/text.hpp"

#include <gtest/gtest.h>

namespace specklescope::text_test {

TEST(Nearest, IsAThirdOfTheLettersAwayAtMost) {
    const std::vector<std::string> words = {"gaussian", "speckle", "run"};
    EXPECT_EQ(nearest("gausian", words), "gaussian") << "one left out";
    EXPECT_EQ(nearest("guassian", words), "gaussian") << "two exchanged";
    EXPECT_EQ(nearest("gxussixn", words), "gaussian") << "two of eight";
    EXPECT_EQ(nearest("gxuxsixn", words), "") << "three of eight";
    EXPECT_EQ(nearest("ran", words), "run") << "one of three";
    EXPECT_EQ(nearest("rxx", words), "");
    EXPECT_EQ(nearest("xxxxxckle", {"speckckle"}), "") << "five of nine";
    EXPECT_EQ(nearest("xxxckckle", {"speckckle"}), "speckckle") << "three of nine";
    EXPECT_EQ(nearest("xxxxkckleandmore", {"speckckleandmore"}), "") << "four are too many for any word";
}

} // namespace specklescope::text_test
