#include "config/text.hpp"

#include <algorithm>
#include <numeric>

namespace specklescope {

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, space);
        text.remove_prefix(std::min(space + 1, text.size()));
        if (!lines.back().empty() && columns(lines.back()) + 1 + columns(word) > width)
            lines.emplace_back();
        else if (!lines.back().empty())
            lines.back() += ' ';
        lines.back() += word;
    }
    return lines;
}

std::string row(std::string_view left, std::string_view right, std::size_t left_width) {
    const std::string safe = one_line(right); // names of files and cameras among it
    constexpr std::size_t kIndent = 2;
    std::string text = std::string(kIndent, ' ') + std::string(left);
    const std::size_t start = kIndent + left_width + 2;
    bool first = columns(left) <= left_width;
    if (!first)
        text += '\n';
    for (const std::string& line : wrap(safe, kHelpWidth - start)) {
        text += std::string(first ? start - columns(text) : start, ' ') + line + "\n";
        first = false;
    }
    return text;
}

namespace {

/// Levenshtein's distance, with a swap of neighbours as one step.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        d[i][0] = i;
    std::iota(d[0].begin(), d[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, std::min<std::size_t>(3, columns(word) / 3)) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t d = distance(word, candidate);
        if (d < best_distance) {
            best_distance = d;
            best = candidate;
        }
    }
    return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string best = nearest(word, candidates);
    return best.empty() ? "" : "; did you mean " + best + "?";
}

std::string count_of(std::size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : std::string(separator)) + word;
    return text;
}

} // namespace specklescope
