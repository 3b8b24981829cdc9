#include "ui/actions/fuzzy.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace specklescope {

namespace {

constexpr int kLetter = 1, kBegin = 4, kFollows = 3, kLeftOut = 1;
constexpr int kNone = -1000000;

char fold(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
/// Bytes of other than ASCII belong to words.
bool in_word(char c) {
    return static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

int word_score(std::string_view word, std::string_view text) {
    std::vector<int> best(text.size(), kNone), next; // of the letters so far, the last one found at j
    for (std::size_t i = 0; i < word.size(); ++i) {
        next.assign(text.size(), kNone);
        int before =
            kNone; // the best with the last letter further back than the one before, less what lies between
        for (std::size_t j = 0; j < text.size(); ++j) {
            if (fold(text[j]) == fold(word[i])) {
                const bool begins = j == 0 || !in_word(text[j - 1]);
                const int own = kLetter + (begins ? kBegin : 0);
                if (i == 0)
                    next[j] = own;
                else
                    next[j] =
                        own + std::max(j > 0 && best[j - 1] > kNone ? best[j - 1] + kFollows : kNone, before);
                next[j] = std::max(next[j], kNone);
            }
            before = std::max(before, j > 0 ? best[j - 1] : kNone);
            if (before > kNone)
                before -= kLeftOut;
        }
        best = next;
    }
    const int found = best.empty() ? kNone : *std::max_element(best.begin(), best.end());
    return found > kNone / 2 ? found : kNone;
}

} // namespace

std::optional<int> fuzzy_score(std::string_view typed, std::string_view text) {
    int sum = 0;
    while (true) {
        const std::size_t begin = std::min(typed.find_first_not_of(' '), typed.size());
        typed.remove_prefix(begin);
        if (typed.empty())
            return sum;
        const std::size_t end = std::min(typed.find(' '), typed.size());
        const int score = word_score(typed.substr(0, end), text);
        if (score == kNone)
            return std::nullopt;
        sum += score;
        typed.remove_prefix(end);
    }
}

} // namespace specklescope
