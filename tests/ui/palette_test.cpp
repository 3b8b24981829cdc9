// Search by a few letters: the score is the best of all placements, which the test tries one by one.
#include "tests/support/random.hpp"
#include "ui/actions/palette.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace specklescope::palette_test {

/// Every placement of the word, from the letter at `from` on.
std::optional<int> every_way(const std::string& word, const std::string& text) {
    std::optional<int> best;
    std::vector<std::size_t> places;
    const std::function<void(std::size_t)> go = [&](std::size_t from) {
        if (places.size() == word.size()) {
            int sum = 0;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const std::size_t at = places[i];
                sum += 1;
                if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0)
                    sum += 4;
                if (i > 0)
                    sum += at == places[i - 1] + 1 ? 3 : -static_cast<int>(at - places[i - 1] - 1);
            }
            best = std::max(best.value_or(sum), sum);
            return;
        }
        for (std::size_t at = from; at < text.size(); ++at)
            if (std::tolower(text[at]) == std::tolower(word[places.size()])) {
                places.push_back(at);
                go(at + 1);
                places.pop_back();
            }
    };
    go(0);
    return best;
}

TEST(Fuzzy, IsTheBestOfAllWays) {
    auto random = test::test_random(15501);
    int found = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string text, word;
        const std::size_t length = random() % 13, letters = 1 + random() % 4;
        for (std::size_t i = 0; i < length; ++i)
            text += "abAB c"[random() % 6];
        for (std::size_t i = 0; i < letters; ++i)
            word += "abc"[random() % 3];
        const std::optional<int> is = fuzzy_score(word, text), should = every_way(word, text);
        ASSERT_EQ(is, should) << "'" << word << "' in '" << text << "'";
        found += should.has_value() ? 1 : 0;
    }
    EXPECT_GT(found, 500);
    EXPECT_LT(found, 3900);
}

TEST(Fuzzy, WordsFitEachByItself) {
    EXPECT_EQ(fuzzy_score("", "anything"), 0);
    EXPECT_EQ(fuzzy_score("  ", ""), 0);
    EXPECT_FALSE(fuzzy_score("z", ""));
    EXPECT_EQ(fuzzy_score("add clahe", "CLAHE: add"),
              *fuzzy_score("add", "CLAHE: add") + *fuzzy_score("clahe", "CLAHE: add"));
    EXPECT_FALSE(fuzzy_score("add q", "CLAHE: add"));
}

TEST(Palette, TheBestFitComesFirstAndOfEqualsThePossibleOnes) {
    const auto entry = [](const char* text, const char* name, const char* why) {
        return PaletteEntry{"Action", text, name, "", why, {}};
    };
    const std::vector<PaletteEntry> entries = {
        entry("Play slower", "slower", "no film"), entry("Snapshot", "snapshot", ""),
        entry("Show the raw picture", "show_raw", ""), entry("Play faster", "faster", "")};
    const auto texts = [&](const std::string& typed) {
        std::vector<std::string> found;
        for (const PaletteEntry* one : fitting(entries, typed))
            found.push_back(one->text);
        return found;
    };
    EXPECT_EQ(texts("").size(), 4U);
    EXPECT_EQ(texts("snap"), std::vector<std::string>{"Snapshot"});
    EXPECT_EQ(texts("show_raw"), std::vector<std::string>{"Show the raw picture"}) << "by its name in [keys]";
    EXPECT_EQ(texts("play").front(), "Play faster") << "both fit as well, and this one can be done";
    EXPECT_EQ(texts("play").size(), 2U);
    EXPECT_TRUE(texts("xq").empty());
}

} // namespace specklescope::palette_test
