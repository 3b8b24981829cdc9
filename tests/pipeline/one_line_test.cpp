// Outside text is safe to print: on one line, without terminal commands.
#include "base/error.hpp"
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <random>

namespace specklescope::one_line_test {

TEST(OneLine, KeepsTextAndDropsCommands) {
    EXPECT_EQ(one_line("µ 1392×1040 é 日本 😀"), "µ 1392×1040 é 日本 😀");
    EXPECT_EQ(one_line("a\nb\r\tc\x1b[31md\x7f"), "a b  c [31md");
    EXPECT_EQ(one_line("a\xc2\x9b"
                       "31mb"),
              "a 31mb")
        << "CSI of the C1 set, as UTF-8";
    EXPECT_EQ(one_line("a\x9b"
                       "31mb"),
              "a\xef\xbf\xbd"
              "31mb")
        << "and as a byte";
    EXPECT_EQ(one_line("gpj\xe2\x80\xae.exe"), "gpj .exe") << "turns the direction";
    EXPECT_EQ(one_line(std::string("a\0b", 3)), "a b");
    EXPECT_EQ(one_line("caf\xe9.png"), "caf\xef\xbf\xbd.png");
    EXPECT_EQ(one_line("\xed\xa0\x80|\xc0\xaf|\xf4\x90\x80\x80|\xe2\x82"),
              one_line("\xff\xff\xff|\xff\xff|\xff\xff\xff\xff|\xff\xff"))
        << "surrogates, longer than needed, beyond the last, cut short: a mark for each byte";
}

TEST(OneLine, NoBytesFormATerminalCommand) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (int i = 0; i < 30; ++i)
            text += static_cast<char>(random() % 3 == 0 ? random() % 0x30 : random());
        const std::string line = one_line(text);
        EXPECT_TRUE(is_utf8(line));
        EXPECT_EQ(one_line(line), line);
        for (const char c : line)
            EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    }
}

TEST(OneLine, ErrorsAreOnOneLineAndComplete) {
    EXPECT_STREQ(RunError(std::string("'a\0b' is\n damaged", 17)).what(), "'a b' is  damaged");
}

} // namespace specklescope::one_line_test
