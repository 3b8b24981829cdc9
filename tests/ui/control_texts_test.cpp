// Texts in controls: complete if they fit, otherwise cut between two letters.
#include "tests/ui/drawn.hpp"
#include "ui/panels/controls.hpp"

#include <random>

namespace specklescope::control_texts_test {

class ControlTexts : public DrawnParts {
protected:
    static float extent(const std::string& text) {
        const ImFont& font = *theme::fonts().normal;
        return font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, text.c_str()).x;
    }
    /// Character by character from the end.
    static std::string cut(std::string text, float width) {
        if (extent(text) <= width)
            return text;
        while (!text.empty() && extent(text + "…") > width) {
            while ((static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U)
                text.pop_back();
            text.pop_back();
        }
        return text.empty() ? text : text + "…";
    }
};

TEST_F(ControlTexts, AreCutBehindTheLastLetterThatFits) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<std::string> letters = {"a", "i", "W", " ", "µ", "é", "²", "→", "Ж", "_", "9", "."};
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (std::size_t length = random() % 60; length > 0; --length)
            text += letters[random() % letters.size()];
        const auto width = static_cast<float>(static_cast<int>(random() % 500) - 20);
        const std::string shown = fitted(*theme::fonts().normal, text, width);
        const std::string wanted = cut(text, width);
        // If the end is at an integer, the two sums may round differently.
        if (shown != wanted) {
            EXPECT_NEAR(extent(shown), extent(wanted), 16) << text << " in " << width;
            EXPECT_LE(extent(shown), width + 0.01F) << text;
        }
    }
    EXPECT_EQ(fitted(*theme::fonts().normal, "recording.tiff", 0), "");
    EXPECT_EQ(fitted(*theme::fonts().normal, "recording.tiff", 1e4F), "recording.tiff");
}

TEST_F(ControlTexts, OfNamesTheEndIsSeen) {
    const ImFont& font = *theme::fonts().normal;
    const std::string name = "2026-11-25_Проба_Maus7_linke_Hemisphäre_zweiter_Versuch.raw";
    for (float width = -10; width < 600; width += 3) {
        const std::string shown = fitted_name(font, name, width);
        EXPECT_TRUE(extent(shown) <= width + 0.01F || shown.empty()) << shown << " in " << width;
        if (shown == name || shown.empty())
            continue;
        const std::size_t cut = shown.find("…");
        ASSERT_NE(cut, std::string::npos) << shown;
        EXPECT_TRUE(name.starts_with(shown.substr(0, cut))) << shown;
        EXPECT_TRUE(name.ends_with(shown.substr(cut + std::string("…").size()))) << shown;
        if (width > 150) {
            EXPECT_TRUE(shown.ends_with("such.raw")) << shown;
        }
        EXPECT_GT(extent(shown), width - 26) << shown << ": as much as has room";
    }
    EXPECT_EQ(fitted_name(font, name, 1e4F), name);
}

TEST_F(ControlTexts, BreakAtBlanksAndNeverWithinANumber) {
    const ImFont& font = *theme::fonts().normal;
    const std::string text =
        "min 0.09665 · max 0.6793, 1.5 µm; in /data/2026.11.25/run.tiff\nat 12.5 s  each";
    std::string flat = text;
    std::replace(flat.begin(), flat.end(), '\n', ' ');
    for (float width = 20; width < 700; width += 7) {
        const std::string lines = wrapped(font, text, width);
        std::size_t begin = 0;
        for (std::size_t end = 0; begin <= lines.size(); begin = end + 1) {
            end = std::min(lines.find('\n', begin), lines.size());
            const std::string line = lines.substr(begin, end - begin);
            EXPECT_TRUE(extent(line) <= width || line.find(' ') == std::string::npos) << line;
            EXPECT_NE((" " + flat + " ").find(" " + line + " "), std::string::npos)
                << "'" << line << "' begins or ends within a word";
        }
    }
    EXPECT_EQ(wrapped(font, text, 1e4F), text);
    EXPECT_EQ(wrapped(font, "", 100), "");
    EXPECT_EQ(wrapped(font, "a\n\nb ", 100), "a\n\nb ");
}

/// Each letter has its own glyph, not the glyph of a missing letter.
TEST_F(ControlTexts, NamesOfFilesAreReadInTheAlphabetsOfEurope) {
    const ImFont& font = *theme::fonts().normal;
    if (font.FindGlyphNoFallback(L'Ω') == nullptr)
        GTEST_SKIP() << "DejaVu Sans is not installed";
    for (const ImWchar letter : {u'Ä', u'Ł', u'ő', u'Ω', u'Ж', u'я', u'є', u'ế'})
        EXPECT_NE(font.FindGlyphNoFallback(letter), nullptr) << static_cast<unsigned>(letter);
}

TEST_F(ControlTexts, OfANameNothingIsHidden) {
    for (const std::string name : {"run##3", "##", "a###b", "# #", "plain"}) {
        const std::string label = label_text(name);
        EXPECT_EQ(label.find("##"), std::string::npos) << name;
        std::string back = label;
        for (std::size_t at = 0; (at = back.find("\u200A")) != std::string::npos;)
            back.erase(at, std::string("\u200A").size());
        EXPECT_EQ(back, name);
    }
}

} // namespace specklescope::control_texts_test
