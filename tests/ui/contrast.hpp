// Contrast of letters on a screenshot, as WCAG 2.1 defines it.
#pragma once

#include "tests/ui/desktop.hpp"

#include <algorithm>
#include <map>

namespace specklescope {

inline double luminance(const std::array<int, 3>& color) {
    const auto linear = [](int value) {
        const double v = value / 255.0;
        return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
}

/// Contrast between the most frequent colour in this part of the screen and the colour furthest from it.
inline double contrast(const Screenshot& screen, const Rect& part) {
    std::map<std::array<int, 3>, int> colors;
    for (int y = static_cast<int>(part.y); y < static_cast<int>(part.y + part.height); ++y)
        for (int x = static_cast<int>(part.x); x < static_cast<int>(part.x + part.width); ++x)
            ++colors[screen.at(x, y)];
    const auto ground = std::max_element(colors.begin(), colors.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    double most = 1;
    for (const auto& [color, count] : colors) {
        const double a = luminance(color) + 0.05, b = luminance(ground->first) + 0.05;
        if (count > 1) // no single pixel of an edge
            most = std::max(most, a > b ? a / b : b / a);
    }
    return most;
}

} // namespace specklescope
